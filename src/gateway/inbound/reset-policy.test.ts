// The reset policy: when a chat starts a new session automatically.
import { describe, expect, it } from "vitest";
import { resetReason } from "./reset-policy.ts";

const at = (text: string) => new Date(text).getTime();
const policy = (mode: "both" | "idle" | "daily" | "none") => ({ mode, idleMinutes: 60, atHour: 4 });

describe("resetReason", () => {
  it.each([
    ["idle", "2026-03-01T10:00", "2026-03-01T11:01", "idle"],
    ["idle", "2026-03-01T10:00", "2026-03-01T10:59", null],
    ["daily", "2026-03-01T23:00", "2026-03-02T03:59", null],
    ["daily", "2026-03-02T03:59", "2026-03-02T04:00", "daily"],
    ["daily", "2026-03-02T04:00", "2026-03-03T03:00", null],
    ["both", "2026-03-02T03:50", "2026-03-02T04:10", "daily"],
    ["none", "2020-01-01T00:00", "2026-03-02T04:10", null],
  ] as const)("%s: %s → %s", (mode, last, now, expected) => {
    expect(resetReason(at(last), policy(mode), at(now))).toBe(expected);
  });
});
