// Session keys and tenants.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ChatKind, Source } from "../../core/chat/platform.ts";
import { sessionKey, tenantKey } from "./session-key.ts";

const rules = { groupPerUser: true, threadPerUser: false };
const source = (more: Partial<Source>): Source => ({
  platform: "telegram",
  chatId: "5",
  chatKind: "dm",
  userId: "7",
  ...more,
});

describe("session keys", () => {
  it("have the format of sessions.json", () => {
    expect(sessionKey(source({}), rules)).toBe("agent:main:telegram:dm:5");
    expect(sessionKey(source({ threadId: "9" }), rules)).toBe("agent:main:telegram:dm:5:9");
    expect(sessionKey(source({ chatKind: "group" }), rules)).toBe("agent:main:telegram:group:5:7");
    expect(sessionKey(source({ chatKind: "forum", threadId: "9" }), rules)).toBe("agent:main:telegram:forum:5:9");
    expect(sessionKey(source({ chatKind: "group", userIdAlt: "u" }), rules)).toBe("agent:main:telegram:group:5:u");
    expect(sessionKey(source({ chatKind: "group" }), { ...rules, groupPerUser: false })).toBe(
      "agent:main:telegram:group:5",
    );
  });

  it("assign different tenants to different users, whatever their ids", () => {
    const id = fc.string({ minLength: 1, maxLength: 12 });
    const kind = fc.constantFrom<ChatKind>("dm", "group");
    fc.assert(
      fc.property(id, id, kind, kind, (a, b, first, second) => {
        fc.pre(a !== b);
        const one = tenantKey(source({ userId: a, chatKind: first }), rules);
        const two = tenantKey(source({ userId: b, chatKind: second }), rules);
        expect(one).not.toBe(two);
        expect(one).toMatch(/^[\w-]+$/);
      }),
    );
    expect(tenantKey(source({ userId: "1" }), rules)).not.toBe(
      tenantKey(source({ platform: "discord", userId: "1" }), rules),
    );
  });
});
