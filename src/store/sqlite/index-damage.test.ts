// Damages the pages of the search tables in a copy of a real file and checks what a user would notice.
import { closeSync, copyFileSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { SqliteSessionStore } from "../sqlite-session-store.ts";
import { openDatabase } from "./connection/driver.ts";

let folder: string;
let healthy: string;
const ROWS = 400;

beforeAll(async () => {
  folder = tempDir("hermes-damage-");
  healthy = join(folder, "healthy.db");
  const store = await SqliteSessionStore.open({ path: healthy });
  await store.createSession({ id: "s", source: "cli" });
  const messages = Array.from({ length: ROWS }, (_, i) => ({
    role: "user",
    content: `message ${i} about ${i % 2 ? "docker" : "podman"} 数据库备份 ${"filler words ".repeat(20)}`,
  }));
  await store.appendMessages("s", messages);
  await store.close();
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Overwrites every page of one table with bytes that are no page. */
function damagedCopy(name: string, table: string, pattern: "noise" | "zeros" | "flips"): string {
  const path = join(folder, `${name}.db`);
  copyFileSync(healthy, path);
  const db = openDatabase(path);
  const size = Number(db.pragma("page_size"));
  const pages = db.prepare<{ pageno: number }>("SELECT pageno FROM dbstat WHERE name = ?").all(table);
  db.close();
  const file = openSync(path, "r+");
  for (const { pageno } of pages) {
    const start = (pageno - 1) * size;
    if (pattern === "flips") {
      for (let at = 9; at < size; at += 97) writeSync(file, Buffer.from([(at * 31) & 255]), 0, 1, start + at);
    } else {
      const page = Buffer.alloc(size, 0);
      if (pattern === "noise") for (let i = 0; i < size; i++) page[i] = (i * 7919 + pageno) & 255;
      writeSync(file, page, 0, size, start);
    }
  }
  closeSync(file);
  return path;
}

const TABLES = ["data", "idx", "content", "docsize", "config"].flatMap((suffix) => [
  `messages_fts_${suffix}`,
  `messages_fts_trigram_${suffix}`,
]);

describe.each(["noise", "zeros", "flips"] as const)("pages full of %s", (pattern) => {
  test.each(TABLES)("in %s: append, search and repair work", async (table) => {
    const path = damagedCopy(`${table}-${pattern}`, table, pattern);
    const store = await SqliteSessionStore.open({ path });
    const id = await store.appendMessage("s", { role: "user", content: "a new docker note" });
    expect(id).toBe(ROWS + 1);
    const before = await store.searchMessages("docker", { limit: 1000 });
    expect(before.hits.length).toBeGreaterThan(0);
    const report = await store.repair();
    expect(report.integrity).toBe("ok");
    expect((await store.health()).state).toBe("ok");
    const after = await store.searchMessages("docker", { limit: 1000 });
    expect(after.notice).toBeUndefined();
    expect(after.hits).toHaveLength(ROWS / 2 + 1);
    expect((await store.searchMessages("数据库", { limit: 1000 })).hits).toHaveLength(ROWS);
    expect(await store.messageCount("s")).toBe(ROWS + 1);
    await store.close();
    const db = openDatabase(path);
    expect(db.prepare("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    db.exec("INSERT INTO messages_fts(messages_fts) VALUES ('integrity-check')");
    db.exec("INSERT INTO messages_fts_trigram(messages_fts_trigram) VALUES ('integrity-check')");
    db.close();
  });
});
