// A connection that goes deaf is replaced, also when the old one does not let go.
import { expect, it } from "vitest";
import type { Platform, PlatformConnection, PlatformContext } from "../core/platform.ts";
import { type LinkState, PlatformLink } from "./platform-link.ts";

const TIMES = { connectMs: 1_000, firstPauseMs: 1, maxPauseMs: 5, watchMs: 2, rebuildMs: 5, closeMs: 20 };

function link(connect: (count: number) => PlatformConnection): { link: PlatformLink; states: LinkState[] } {
  let count = 0;
  const states: LinkState[] = [];
  const platform = {
    name: "test",
    label: "Test",
    connect: async () => connect(++count),
  } as unknown as Platform;
  const context = { now: Date.now, log: () => undefined } as unknown as PlatformContext;
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
    "throws at once",
    () => {
      throw new Error("not open");
    },
  ],
] as const)("is built anew when closing the deaf one %s", async (_how, close) => {
  const made = link((count) =>
    count === 1
      ? connection("old", { health: () => ({ state: "red", provenAt: null, reason: "deaf" }), close })
      : connection("new", {}),
  );
  made.link.start();
  await expect.poll(() => made.link.connection?.account, { timeout: 5_000 }).toBe("new");
  await made.link.stop();
  expect(made.link.state.state).toBe("stopped");
});
