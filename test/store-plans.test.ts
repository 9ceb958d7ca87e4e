// No frequent statement of the store scans all messages: the query plan of each is checked on a real file.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Database, openDatabase, type Statement } from "../src/store/sqlite/connection/driver.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { tempDir } from "./kit/temp-dir.ts";

/** A connection that writes down every statement it prepares. */
function recording(statements: Set<string>): typeof openDatabase {
  return (path, options) => {
    const db = openDatabase(path, options);
    const prepare = (sql: string): Statement<unknown> => {
      statements.add(sql);
      return db.prepare(sql);
    };
    return Object.create(db, { prepare: { value: prepare } }) as Database;
  };
}

it("uses an index for everything that grows with the number of messages", async () => {
  const dir = tempDir("hermes-plans-");
  const path = join(dir, "state.db");
  const statements = new Set<string>();
  const store = await SqliteSessionStore.open({ path, open: recording(statements) });
  statements.clear();
  await store.createSession({ id: "a", source: "cli" });
  await store.setSessionTitle("a", "T");
  await store.appendMessages("a", [{ role: "user", content: "hello 备份 world" }]);
  await store.splitSession({
    fromId: "a",
    session: { id: "b", source: "cli" },
    messages: [{ role: "user", content: "x" }],
  });
  await store.getMessages("b", { afterId: 0, limit: 5 });
  await store.getConversation("b", { includeAncestors: true });
  await store.listSessions({ source: "cli", excludeSources: ["tool"], userId: "u" });
  await store.listSessions({ orderByLastActive: true });
  await store.searchSessions({ source: "cli" });
  await store.searchMessages("hello", { sourceFilter: ["cli"], roleFilter: ["user"] });
  await store.searchMessages("hello 备份数据");
  await store.resolveResumeSessionId("a");
  await store.resolveSessionId("a");
  await store.resolveSessionByTitle("T");
  await store.exportSession("a");
  await store.messageCount("a");
  await store.updateTokenCounts("a", { inputTokens: 1 });
  await store.finalizeOrphanedCompressionSessions();
  await store.pruneEmptyGhostSessions();
  await store.pruneSessions();
  await store.deleteSession("b");

  const db = openDatabase(path);
  const scans: string[] = [];
  for (const sql of statements) {
    if (!/^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)/i.test(sql)) continue;
    const marks = sql.match(/\?/g)?.length ?? 0;
    const plan = db.prepare<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`).all(...Array(marks).fill(null));
    for (const { detail } of plan)
      if (/^SCAN (m|messages)\b(?!.*VIRTUAL TABLE)/.test(detail)) scans.push(`${detail}: ${sql}`);
  }
  expect(statements.size).toBeGreaterThan(30);
  expect(scans).toEqual([]);
  db.close();
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});
