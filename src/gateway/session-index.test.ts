// sessions.json keeps what another program wrote into it, and a new session starts with its counters at nothing.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Source } from "../core/platform.ts";
import { SessionIndex } from "./session-index.ts";

let dir: string;
let path: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hermes-index-"));
  path = join(dir, "sessions.json");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it("a new session of a chat has its own counters; other fields and other chats stay", async () => {
  const old = {
    session_key: "k",
    session_id: "old",
    updated_at: "2026-01-01T10:00:00",
    input_tokens: 500,
    total_tokens: 700,
    estimated_cost_usd: 1.5,
    cost_status: "estimated",
    added_later: { by: "another version" },
  };
  const other = { session_key: "o", session_id: "other", input_tokens: 3, origin: { guild_id: "g" } };
  writeFileSync(path, JSON.stringify({ k: old, o: other }));
  const index = await SessionIndex.open(path, Date.now, () => undefined);
  const source: Source = { platform: "telegram", chatId: "5", chatKind: "dm", userId: "42" };
  await index.renew("k", source);
  await index.close();
  const { k, o } = JSON.parse(readFileSync(path, "utf8"));
  expect(k).toMatchObject({
    input_tokens: 0,
    output_tokens: 0,
    total_tokens: 0,
    estimated_cost_usd: 0,
    cost_status: "unknown",
    added_later: { by: "another version" },
  });
  expect(k.session_id).not.toBe("old");
  expect(o).toEqual(other);
});
