// Access control: the fixed order of the checks.
import { describe, expect, it } from "vitest";
import type { InboundEvent, Source } from "../../core/chat/platform.ts";
import { type AccessSettings, checkAccess, mayUse } from "./access.ts";

function settings(
  env: { [name: string]: string },
  more: Partial<AccessSettings> & { own?: object } = {},
): AccessSettings {
  return {
    setting: (_, name) => env[name],
    section: () => (more.own ?? {}) as { [key: string]: unknown },
    unauthorizedDm: "pair",
    unauthorizedDmSet: false,
    paired: async () => false,
    ...more,
  };
}

function event(more: Partial<Source> = {}, rest: Partial<InboundEvent> = {}): InboundEvent {
  return {
    account: "b",
    messageId: "1",
    text: "",
    at: 0,
    source: { platform: "telegram", chatId: "5", chatKind: "dm", userId: "7", ...more },
    ...rest,
  };
}

const allowed = { allowed: true };
const pair = { allowed: false, offer: "pair" };
const nothing = { allowed: false, offer: "nothing" };

describe("access", () => {
  it.each([
    ["no lists: offers pairing", event(), settings({}), pair],
    ["no pairing in groups", event({ chatKind: "group" }), settings({}), nothing],
    ["no sender", event({ userId: null }), settings({ TELEGRAM_ALLOW_ALL_USERS: "1" }), nothing],
    ["all users allowed", event(), settings({ TELEGRAM_ALLOW_ALL_USERS: "true" }), allowed],
    [
      "all users allowed on every platform, without lists",
      event(),
      settings({ GATEWAY_ALLOW_ALL_USERS: "true" }),
      allowed,
    ],
    [
      "an allow-list overrides the general setting",
      event(),
      settings({ GATEWAY_ALLOW_ALL_USERS: "true", TELEGRAM_ALLOWED_USERS: "8" }),
      nothing,
    ],
    ["listed", event(), settings({ TELEGRAM_ALLOWED_USERS: "8, 7" }), allowed],
    ["listed for all platforms", event(), settings({ GATEWAY_ALLOWED_USERS: "7" }), allowed],
    ["a wildcard", event(), settings({ TELEGRAM_ALLOWED_USERS: "*" }), allowed],
    ["an id without its @ suffix", event({ userId: "7@host" }), settings({ TELEGRAM_ALLOWED_USERS: "7" }), allowed],
    [
      "an address in another case",
      event({ platform: "email", userId: "ada@mail.test" }),
      settings({ EMAIL_ALLOWED_USERS: "Ada@Mail.Test" }),
      allowed,
    ],
    [
      "a whole domain",
      event({ platform: "email", userId: "ada@mail.test" }),
      settings({ EMAIL_ALLOWED_USERS: "@mail.test" }),
      allowed,
    ],
    [
      "no match by a part of an address",
      event({ platform: "email", userId: "ada@evil.test" }),
      settings({ EMAIL_ALLOWED_USERS: "ada,@mail.test" }),
      nothing,
    ],
    ["group users are not allowed in private chats", event(), settings({ TELEGRAM_GROUP_ALLOWED_USERS: "7" }), nothing],
    ["group users in a group", event({ chatKind: "group" }), settings({ TELEGRAM_GROUP_ALLOWED_USERS: "7" }), allowed],
    [
      "a chat id in the list of group users",
      event({ chatKind: "group", chatId: "-9" }),
      settings({ TELEGRAM_GROUP_ALLOWED_USERS: "-9" }),
      allowed,
    ],
    ["a chat", event({ chatKind: "group", chatId: "-9" }), settings({ TELEGRAM_GROUP_ALLOWED_CHATS: "-9" }), allowed],
    ["paired before lists", event(), settings({ TELEGRAM_ALLOWED_USERS: "8" }, { paired: async () => true }), allowed],
    ["a bot", event({ isBot: true }), settings({ TELEGRAM_ALLOWED_USERS: "7" }), nothing],
    ["a signed webhook", event({ userId: null }, { authenticated: true }), settings({}), allowed],
    ["no reply when configured", event(), settings({}, { own: { unauthorized_dm_behavior: "ignore" } }), nothing],
    [
      "pairing when configured",
      event(),
      settings({ TELEGRAM_ALLOWED_USERS: "8" }, { own: { unauthorized_dm_behavior: "pair" } }),
      pair,
    ],
  ] as const)("%s", async (_, given, with_, expected) => {
    expect(await checkAccess(given, with_)).toEqual(expected);
  });

  it("limits commands only where an admin list is set, and per scope", () => {
    expect(mayUse("model", event(), {})).toBe(true);
    const section = { allow_admin_from: ["1"], user_allowed_commands: ["status"] };
    expect(mayUse("model", event(), section)).toBe(false);
    expect(mayUse("status", event(), section)).toBe(true);
    expect(mayUse("help", event(), section)).toBe(true);
    expect(mayUse("model", event({ userId: "1" }), section)).toBe(true);
    expect(mayUse("model", event({ chatKind: "group" }), section)).toBe(true);
  });
});
