// Platforms of plugins: default values and error handling.
import { tmpdir } from "node:os";
import { describe, expect, it } from "vitest";
import { platformContext } from "../../test/kit/platform-context.ts";
import type { InboundEvent, PlatformConnection, PlatformContext } from "../core/chat/platform.ts";
import { UserError } from "../core/failure.ts";
import type { PluginPlatform } from "../core/plugin.ts";
import { completePlatform } from "./plugin-platform.ts";

const idle = {
  send: async () => ({ ok: true, messageId: "1" }),
  health: () => ({ state: "ok" }),
  close: () => undefined,
} as unknown as PlatformConnection;

function fromPlugin(connection: object, more: Partial<PluginPlatform> = {}) {
  const connect = async () => ({ ...idle, ...connection }) as PlatformConnection;
  return completePlatform({ name: "house", connect, ...more }, "a-plugin", { taken: [], sendTimeoutMs: 20 });
}

const createContext = (platform: ReturnType<typeof fromPlugin>, env: { [name: string]: string } = {}) =>
  platformContext(platform, { homePath: tmpdir(), env });

const message = { text: "hi", idempotencyKey: "k" };
const { signal } = new AbortController();
const fail = () => {
  throw new Error("oops");
};

describe("omitted members", () => {
  it("get defaults, with a switch and a list of users", () => {
    const platform = fromPlugin({});
    expect(platform).toMatchObject({ label: "house", maxLength: 4000, toolProgress: "off" });
    expect(platform.settings.map(({ env }) => env)).toEqual(["HOUSE_ENABLED", "HOUSE_ALLOWED_USERS"]);
    expect(platform.enabled(createContext(platform))).toEqual({ ok: false, reason: "set HOUSE_ENABLED=true" });
    expect(platform.enabled(createContext(platform, { HOUSE_ENABLED: "true" }))).toEqual({ ok: true });
  });

  it("are filled in for events; events without an id are rejected", async () => {
    let given: PlatformContext | undefined;
    const connect = async (context: PlatformContext) => {
      given = context;
      return idle;
    };
    const platform = fromPlugin({}, { connect });
    const context = createContext(platform);
    await platform.connect(context);
    const source = { chatId: 5, platform: "telegram", userId: "ada" };
    const bare = { messageId: 7, source } as unknown as InboundEvent;
    await given?.receive(bare);
    expect(context.events[0]).toMatchObject({
      account: "house",
      messageId: "7",
      text: "",
      source: { platform: "house", chatId: "5", chatKind: "dm", userId: "ada" },
    });
    await expect(given?.receive({ ...bare, messageId: "" })).rejects.toThrow("needs messageId");
  });
});

describe("errors of a plugin", () => {
  it("become results of sends", async () => {
    const send = async (how: unknown) => {
      const platform = fromPlugin({ send: how });
      return (await platform.connect(createContext(platform))).send({ chatId: "1" }, message, signal);
    };
    expect(await send(fail)).toEqual({ ok: false, kind: "unknown", reason: "oops" });
    expect(await send(() => undefined)).toMatchObject({
      kind: "unknown",
      reason: expect.stringContaining("no result"),
    });
    const silent = () => new Promise(() => undefined);
    expect(await send(silent)).toMatchObject({ kind: "unknown", reason: expect.stringContaining("did not report") });
  });

  it("make the connection red or are ignored, and never crash", async () => {
    const platform = fromPlugin({ health: fail, close: fail, typing: fail, mark: fail, learnMark: fail });
    const connection = await platform.connect(createContext(platform));
    expect(connection.health()).toMatchObject({ state: "red", reason: "oops" });
    await connection.typing?.({ chatId: "1" });
    expect(connection.mark?.({ chatId: "1" })).toBeNull();
    expect(await connection.learnMark?.({ chatId: "1" }, "k", signal)).toMatchObject({ kind: "unknown" });
    await connection.close();
    expect(connection.edit).toBeUndefined();
  });

  it("do not affect the account or the shutdown of the gateway", async () => {
    const platform = fromPlugin({ health: () => undefined, working: fail, drain: fail });
    const connection = await platform.connect(createContext(platform));
    expect(connection.health()).toMatchObject({ state: "red", provenAt: null });
    expect(connection.working?.()).toBe(0);
    await connection.drain?.();
  });

  it("keep their class: UserError stays a UserError", async () => {
    const foreignError = Object.assign(new Error("bad token"), { name: "UserError", hint: "Change it." });
    const failing = (error: Error) => fromPlugin({}, { connect: () => Promise.reject(error) });
    const wrong = failing(foreignError);
    await expect(wrong.connect(createContext(wrong))).rejects.toBeInstanceOf(UserError);
    const busy = failing(new Error("busy"));
    await expect(busy.connect(createContext(busy))).rejects.not.toBeInstanceOf(UserError);
  });

  it("in names are rejected", () => {
    const connect = async () => idle;
    for (const name of ["telegram", "origin", "House", "a:b", ""])
      expect(() => completePlatform({ name, connect }, "p", { taken: ["telegram"] })).toThrow("name");
    expect(() => completePlatform({ name: "house" } as PluginPlatform, "p", { taken: [] })).toThrow("connect");
  });
});
