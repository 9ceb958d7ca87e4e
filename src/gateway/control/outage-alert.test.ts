// The outage of a platform and its recovery are reported once on another platform.
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
  const stateOf = async (platform: string) =>
    (await w.gateway.status()).platforms.find(({ name }) => name === platform)?.state;
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

it("reports on Discord that Telegram is unreachable, and its recovery", async () => {
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
  const alerts = () =>
    [...other.messages.values()].filter(({ channel_id: id }) => id === "601").map(({ content }) => String(content));
  const connectedCount = async () => (await w.gateway.status()).platforms.filter(({ state }) => state === "ok").length;
  await expect.poll(connectedCount, { timeout: 15_000 }).toBe(2);
  w.telegram.fault = "refuse";
  await expect.poll(() => alerts().join(), { timeout: 20_000 }).toContain("⚠️ Telegram is unreachable");
  w.telegram.fault = "none";
  await expect.poll(() => alerts().join(), { timeout: 20_000 }).toContain("✓ Telegram is reachable again.");
  w.telegram.say(1, "hello");
  await answered(w, 1);
  expect(alerts()).toHaveLength(2);
});

it("reports an outage later when no other platform is connected at first", async () => {
  const sent: string[] = [];
  let reachable = false;
  const state = { name: "telegram", state: "fatal" as const, account: null, provenAt: null, reason: "x", rebuilds: 0 };
  const alert = new OutageAlert({
    alertDelayMs: 20,
    state: () => state,
    label: (name) => name,
    send: async (text) => {
      if (reachable) sent.push(text);
      return reachable;
    },
  });
  alert.changed(state);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(sent).toEqual([]);
  reachable = true;
  await expect.poll(() => sent.length).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(sent).toHaveLength(1);
  alert.close();
});

it("reports a recovery that happened during the alert, and the next outage", async () => {
  const sent: string[] = [];
  const link = { name: "telegram", account: null, provenAt: null, reason: null, rebuilds: 0 };
  let state: LinkState = { ...link, state: "fatal" };
  const alert = new OutageAlert({
    alertDelayMs: 20,
    state: () => state,
    label: (name) => name,
    send: async (text) => {
      if (text.startsWith("⚠️") && sent.length === 0) {
        state = { ...link, state: "ok" };
        alert.changed(state);
      }
      sent.push(text.slice(0, 1));
      return true;
    },
  });
  alert.changed(state);
  await expect.poll(() => sent).toEqual(["⚠", "✓"]);
  state = { ...link, state: "fatal" };
  alert.changed(state);
  await expect.poll(() => sent).toEqual(["⚠", "✓", "⚠"]);
  alert.close();
});
