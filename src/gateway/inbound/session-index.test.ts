// sessions.json: a new session is known at once, and on disk after it was awaited.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { Source } from "../../core/chat/platform.ts";
import { SessionIndex } from "./session-index.ts";

let folder: string;
const path = () => join(folder, "sessions.json");
const open = () => SessionIndex.open(path(), Date.now, () => undefined);
const source = (chatId: string): Source => ({ platform: "telegram", chatId, chatKind: "dm", userId: chatId });
const onDisk = () => Object.keys(JSON.parse(readFileSync(path(), "utf8")) as object);

beforeEach(() => {
  folder = tempDir("session-index-");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it("writes every awaited session to disk, also those added during a write", async () => {
  const index = await open();
  const waited: Promise<void>[] = [];
  for (let chat = 0; chat < 300; chat++) {
    const entry = index.start(`key${chat}`, source(String(chat)));
    expect(index.get(`key${chat}`)).toBe(entry);
    waited.push(index.saved(`key${chat}`).then(() => expect(onDisk()).toContain(`key${chat}`)));
    if (chat % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(waited);
  expect(onDisk()).toHaveLength(300);
  // Resolves at once: everything is saved, and the other chat has no session.
  await index.saved("key0");
  await index.saved("nobody");
  await index.close();
});

it("writes when it closes and can be read again", async () => {
  const index = await open();
  await index.renew("a", source("1"));
  index.start("b", source("2"));
  index.touch("a", { last_prompt_tokens: 7 });
  await index.close();
  const again = await open();
  expect(again.get("a")?.last_prompt_tokens).toBe(7);
  expect(again.get("b")?.session_id).toBe(index.get("b")?.session_id);
});

it("writes every change in the unchanged file format", async () => {
  const index = await open();
  await index.renew("a", source("1"));
  await index.renew('b "quoted"\n', source("2"), { display_name: "two\nlines" });
  await index.moved("a", "20260101_000000_other");
  index.touch("a", { resume_pending: true });
  await index.close();
  const text = readFileSync(path(), "utf8");
  const known = Object.fromEntries([...index.entries()].map((entry) => [entry.session_key, entry]));
  expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(known)));
  expect(JSON.parse(text).a).toMatchObject({ session_id: "20260101_000000_other", resume_pending: true });
  expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 1)}\n`);
});

it("rejects when a write fails, and retries later", async () => {
  const index = await open();
  rmSync(folder, { recursive: true, force: true });
  // A file replaces the folder, so writes fail.
  writeFileSync(folder, "");
  await expect(index.renew("a", source("1"))).rejects.toThrow();
  rmSync(folder);
  mkdirSync(folder);
  await index.renew("b", source("2"));
  expect(onDisk().sort()).toEqual(["a", "b"]);
  await index.close();
});
