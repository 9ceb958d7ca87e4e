import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../core/message.ts";
import { applyCacheMarks } from "./cache-marks.ts";

const MARK = { type: "ephemeral" };
const user = (content: JsonObject["content"]): JsonObject => ({ role: "user", content });

describe("cache marks", () => {
  test("system and the last three; four without a system message", () => {
    const rows = [{ role: "system", content: "s" }, ...["a", "b", "c", "d", "e"].map(user)];
    const where = (list: JsonObject[]) => list.map((row) => JSON.stringify(row).includes("cache_control"));
    expect(where(applyCacheMarks(rows, { layout: "native", ttl: "5m" }))).toEqual([
      true,
      false,
      false,
      true,
      true,
      true,
    ]);
    expect(where(applyCacheMarks(rows.slice(1), { layout: "native", ttl: "5m" }))).toEqual([
      false,
      true,
      true,
      true,
      true,
    ]);
  });

  test("placement by content", () => {
    const rows: JsonObject[] = [
      user("text"),
      user([
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ]),
      { role: "assistant", content: null, tool_calls: [] },
      { role: "tool", tool_call_id: "x", content: "r" },
    ];
    const before = JSON.stringify(rows);
    expect(applyCacheMarks(rows, { layout: "native", ttl: "5m" })).toEqual([
      user([{ type: "text", text: "text", cache_control: MARK }]),
      user([
        { type: "text", text: "a" },
        { type: "text", text: "b", cache_control: MARK },
      ]),
      { role: "assistant", content: null, tool_calls: [], cache_control: MARK },
      { role: "tool", tool_call_id: "x", content: "r", cache_control: MARK },
    ]);
    expect(applyCacheMarks(rows, { layout: "envelope", ttl: "1h" })[3]).toEqual(rows[3]);
    expect(JSON.stringify(applyCacheMarks(rows, { layout: "envelope", ttl: "1h" })[0])).toContain('"ttl":"1h"');
    expect(JSON.stringify(rows)).toBe(before);
  });
});
