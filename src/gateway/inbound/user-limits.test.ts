// Limits per user: counted apart, with a clear answer, never for owners.
import { expect, it } from "vitest";
import { UserLimits } from "./user-limits.ts";

const source = (userId: string) => ({ platform: "telegram", chatId: userId, chatKind: "dm" as const, userId });

function open(limits: { turnsPerHour: number; dailyUsd: number }, spent: { [user: string]: number } = {}) {
  const clock = { now: 0 };
  const group = { key: "m", calls: 1, usage: {} as never, unpriced: 0, assumedUsd: 0 };
  const users = new UserLimits({
    limits: (role) => (role === "guest" ? limits : { turnsPerHour: 0, dailyUsd: 0 }),
    ledger: ({ userId }) => ({ report: async () => [{ ...group, usd: spent[userId ?? ""] ?? 0 }] }),
    tenant: ({ userId }) => String(userId),
    now: () => clock.now,
  });
  return { users, clock };
}

it("counts the turns of the last hour for each user apart", async () => {
  const { users, clock } = open({ turnsPerHour: 2, dailyUsd: 0 });
  const ask = (user: string) => users.refusal(source(user), "guest");
  expect([await ask("1"), await ask("1")]).toEqual([undefined, undefined]);
  clock.now = 600_000;
  expect(await ask("1")).toBe("You have reached the limit of 2 messages per hour. Try again in 50 min.");
  expect(await ask("2")).toBeUndefined();
  clock.now = 3_600_001;
  expect(await ask("1")).toBeUndefined();
});

it("stops a user whose own messages have cost the limit, and nobody else", async () => {
  const { users } = open({ turnsPerHour: 0, dailyUsd: 1 }, { "1": 1.234 });
  expect(await users.refusal(source("1"), "guest")).toContain("have cost $1.23; the limit is $1.00 per day");
  expect(await users.refusal(source("2"), "guest")).toBeUndefined();
  expect(await users.refusal(source("1"), "member")).toBeUndefined();
  expect(await users.refusal(source("1"), "owner")).toBeUndefined();
});
