// A platform that goes deaf is told of by another one, once, and so is its return.
import { afterEach, expect, it } from "vitest";
import { answered, closeGateways, openGatewayFixture, texts } from "../../../test/kit/gateway-fixture.ts";
import { type FakeDiscord, startFakeDiscord } from "../../../test/servers/fake-discord.ts";
import { OutageAlert } from "./outage-alert.ts";
import type { LinkState } from "./platform-link.ts";

let discord: FakeDiscord | undefined;

afterEach(async () => {
  await closeGateways();
  await discord?.close();
});

it("is paused and resumed by the owner from another platform", async () => {
  const other = await startFakeDiscord();
  discord = other;
  const w = await openGatewayFixture({
    config: 'gateway:\n  owners: ["telegram:1"]\n',
    env: { TELEGRAM_ALLOWED_USERS: "1,2", DISCORD_BOT_TOKEN: other.token, DISCORD_API_ROOT: other.url },
  });
  const stateOf = async (wanted: string) =>
    (await w.gateway.status()).platforms.find(({ name }) => name === wanted)?.state;
  await expect.poll(() => stateOf("discord"), { timeout: 15_000 }).toBe("ok");
  w.telegram.say(2, "/platform pause discord");
  await answered(w, 2);
  expect(texts(w, 2)[0]).toContain("Only the owner");
  w.telegram.say(1, "/platform pause telegram");
  await answered(w, 1);
  expect(texts(w, 1)[0]).toContain("lock you out");
  w.telegram.say(1, "/platform pause discord");
  await answered(w, 1, 2);
  expect(await stateOf("discord")).toBe("stopped");
  w.telegram.say(1, "/platform resume discord");
  await answered(w, 1, 3);
  await expect.poll(() => stateOf("discord"), { timeout: 15_000 }).toBe("ok");
});

it("says on Discord that Telegram is deaf, and that it hears again", async () => {
  const other = await startFakeDiscord();
  discord = other;
  const w = await openGatewayFixture({
    env: {
      TELEGRAM_ALLOWED_USERS: "1",
      DISCORD_BOT_TOKEN: other.token,
      DISCORD_API_ROOT: other.url,
      DISCORD_HOME_CHANNEL: "601",
    },
  });
  const said = () =>
    [...other.messages.values()].filter(({ channel_id: id }) => id === "601").map(({ content }) => String(content));
  const well = async () => (await w.gateway.status()).platforms.filter(({ state }) => state === "ok").length;
  await expect.poll(well, { timeout: 15_000 }).toBe(2);
  w.telegram.fault = "refuse";
  await expect.poll(() => said().join(), { timeout: 20_000 }).toContain("⚠️ Telegram is unreachable");
  w.telegram.fault = "none";
  await expect.poll(() => said().join(), { timeout: 20_000 }).toContain("✓ Telegram hears again.");
  w.telegram.say(1, "hello");
  await answered(w, 1);
  expect(said()).toHaveLength(2);
});

it("tells of it later when nobody can be told at first", async () => {
  const told: string[] = [];
  let reachable = false;
  const state = { name: "telegram", state: "fatal" as const, account: null, provenAt: null, reason: "x", rebuilds: 0 };
  const alarm = new OutageAlert({
    patienceMs: 20,
    state: () => state,
    label: (name) => name,
    tell: async (text) => {
      if (reachable) told.push(text);
      return reachable;
    },
  });
  alarm.changed(state);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(told).toEqual([]);
  reachable = true;
  await expect.poll(() => told.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(told).toHaveLength(1);
  alarm.close();
});

it("tells of trouble that healed while it was told, and of the next", async () => {
  const told: string[] = [];
  const link = { name: "telegram", account: null, provenAt: null, reason: null, rebuilds: 0 };
  let state: LinkState = { ...link, state: "fatal" };
  const alarm = new OutageAlert({
    patienceMs: 20,
    state: () => state,
    label: (name) => name,
    tell: async (text) => {
      if (text.startsWith("⚠️") && told.length === 0) {
        state = { ...link, state: "ok" };
        alarm.changed(state);
      }
      told.push(text.slice(0, 1));
      return true;
    },
  });
  alarm.changed(state);
  await expect.poll(() => told).toEqual(["⚠", "✓"]);
  state = { ...link, state: "fatal" };
  alarm.changed(state);
  await expect.poll(() => told).toEqual(["⚠", "✓", "⚠"]);
  alarm.close();
});
