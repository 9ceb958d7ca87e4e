// A connection that receives nothing is replaced, also when closing the old one hangs.
import { expect, it } from "vitest";
import type { Platform, PlatformConnection, PlatformContext } from "../../core/chat/platform.ts";
import { type LinkState, PlatformLink } from "./platform-link.ts";

const TIMES = { connectMs: 1_000, firstPauseMs: 1, maxPauseMs: 5, watchMs: 2, rebuildMs: 5, closeMs: 20 };

function link(
  connect: (count: number, context: PlatformContext) => PlatformConnection,
  now: () => number = Date.now,
): { link: PlatformLink; states: LinkState[] } {
  let count = 0;
  const states: LinkState[] = [];
  const platform = {
    name: "test",
    label: "Test",
    connect: async (context: PlatformContext) => connect(++count, context),
  } as unknown as Platform;
  const context = { now, log: () => undefined } as unknown as PlatformContext;
  return {
    states,
    link: new PlatformLink({ platform, context, times: TIMES, changed: (state) => void states.push(state) }),
  };
}

function connection(account: string, more: Partial<PlatformConnection>): PlatformConnection {
  return {
    account,
    send: async () => ({ ok: true, messageId: "1" }),
    health: () => ({ state: "ok", provenAt: Date.now() }),
    close: async () => undefined,
    ...more,
  };
}

it.each([
  ["hangs", () => new Promise<void>(() => undefined)],
  ["throws", () => Promise.reject(new Error("not open"))],
  [
    "throws synchronously",
    () => {
      throw new Error("not open");
    },
  ],
] as const)("is replaced when closing the silent one %s", async (_how, close) => {
  const made = link((count) =>
    count === 1
      ? connection("old", { health: () => ({ state: "red", provenAt: null, reason: "silent" }), close })
      : connection("new", {}),
  );
  made.link.start();
  await expect.poll(() => made.link.connection?.account, { timeout: 5_000 }).toBe("new");
  await made.link.stop();
  expect(made.link.state.state).toBe("stopped");
});

it("that reconnects repeatedly without traffic is red and reports the time of the last traffic", async () => {
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const startedAt = now();
  let hasTraffic = false;
  const made = link((count, context) => {
    const signedIn = now();
    if (count < 10) context.lost("another program receives");
    return connection("bot", {
      health: () =>
        hasTraffic ? { state: "ok", provenAt: now() } : { state: count === 1 ? "ok" : "degraded", provenAt: signedIn },
    });
  }, now);
  made.link.start();
  await expect.poll(() => made.link.state.rebuilds, { timeout: 5_000 }).toBe(9);
  expect(made.link.state.provenAt).toBeLessThan(startedAt + 1_000);
  ahead = 61_000;
  expect(made.link.state).toMatchObject({ state: "red", reason: expect.stringContaining("another program") });
  await expect.poll(() => made.states.at(-1)?.state, { timeout: 5_000 }).toBe("red");
  hasTraffic = true;
  await expect.poll(() => made.states.at(-1), { timeout: 5_000 }).toMatchObject({ state: "ok", rebuilds: 0 });
  await made.link.stop();
});
