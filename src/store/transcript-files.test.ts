// Deleting a session removes all its transcript files and none of other sessions.
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { removeTranscriptFiles } from "./transcript-files.ts";

let dir: string;
beforeEach(() => {
  dir = tempDir("hermes-transcripts-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

it("removes every file of the named sessions and no other", async () => {
  const removed = ["a_1.json", "a_1.jsonl", "session_a_1.json", "request_dump_a_1_20260101.json", "session_b.json"];
  const kept = [
    "a.json",
    "a_10.jsonl",
    "request_dump_a_10_2.json",
    "session_a.json",
    "session_x_a_1.json",
    "sessions.json",
  ];
  for (const name of [...removed, ...kept]) writeFileSync(join(dir, name), "{}");
  await removeTranscriptFiles(dir, ["a_1", "session_b"]);
  expect(readdirSync(dir).sort()).toEqual(kept.sort());
  await removeTranscriptFiles(join(dir, "missing"), ["a"]);
});
