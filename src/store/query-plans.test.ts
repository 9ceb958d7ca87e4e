// Runs every operation of the store, then asks SQLite how it would answer each statement that was prepared: none may
// read a whole table, except those that are listed with the reason why they must.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { createCjkIndex } from "./runtime/cjk-index.ts";
import { createUsageLedger } from "./runtime/usage-ledger.ts";
import { openRuntimeDb } from "./runtime-db.ts";
import { type Database, openDatabase } from "./sqlite/connection/driver.ts";
import { SqliteSessionStore } from "./sqlite-session-store.ts";

let folder: string;
const prepared = new Set<string>();

beforeAll(() => {
  folder = tempDir("hermes-plans-");
});

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

function recording(db: Database): Database {
  return new Proxy(db, {
    get(target, property) {
      if (property === "prepare") {
        return (sql: string) => {
          prepared.add(sql);
          return target.prepare(sql);
        };
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Statements that read all sessions, or count everything, on purpose. None reads the messages themselves. */
const DELIBERATE: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  {
    pattern: /WITH RECURSIVE chain|ORDER BY (?:activity|last_active) DESC/,
    reason: "last activity is in no index of version 11: one index probe for each session, none for each message",
  },
  { pattern: /^SELECT count\(\*\) AS n FROM (?:sessions|messages)$/, reason: "counting, over the smallest index" },
  { pattern: /handoff_state = 'pending'/, reason: "version 11 has no index on it; sessions only" },
  { pattern: /GROUP BY (?:source|model)|ORDER BY total_tokens DESC/, reason: "statistics, asked for by a person" },
];

async function useEverything(): Promise<void> {
  const path = join(folder, "state.db");
  const store = await SqliteSessionStore.open({
    path,
    runtimePath: join(folder, "runtime.db"),
    open: (file, options) => recording(openDatabase(file, options)),
  });
  for (let i = 0; i < 30; i++) {
    await store.createSession({ id: `s${i}`, source: i % 2 ? "cli" : "telegram", userId: "u", model: "m" });
    const messages = Array.from({ length: 20 }, (_, n) => ({
      role: "user",
      content: `message ${n} docker 备份 数据库`,
    }));
    await store.appendMessages(`s${i}`, messages);
  }
  await useSessions(store);
  await useSearch(store);
  await store.close();
}

async function useSessions(store: SqliteSessionStore): Promise<void> {
  await store.appendMessage("s0", { role: "assistant", content: [{ type: "text", text: "hi" }] });
  await store.endSession("s0", "compression");
  await store.splitSession({
    fromId: "s1",
    session: { id: "child", source: "cli", parentSessionId: "s1" },
    title: "T",
    messages: [],
  });
  await store.reopenSession("s0");
  await store.updateSystemPrompt("s0", "p");
  await store.getSession("s0");
  await store.updateTokenCounts("s0", { inputTokens: 1, model: "m" });
  await store.updateTokenCounts("s0", { inputTokens: 1, absolute: true });
  await store.resolveSessionId("s1");
  await store.resolveSessionId("s2");
  await store.getCompressionTip("s1");
  await store.resolveResumeSessionId("child");
  await store.ancestors("child");
  await store.descendants("s1");
  await store.setSessionTitle("s2", "A title");
  await store.getSessionTitle("s2");
  await store.getSessionByTitle("A title");
  await store.resolveSessionByTitle("A title");
  await store.getNextTitleInLineage("A title");
  for (const orderByLastActive of [false, true]) {
    for (const filter of [
      {},
      { source: "cli" },
      { excludeSources: ["tool"] },
      { userId: "u" },
      { includeChildren: true },
    ]) {
      await store.listSessions({ ...filter, orderByLastActive });
    }
  }
  await store.searchSessions();
  await store.searchSessions({ source: "cli" });
  await store.sessionCount();
  await store.sessionCount("cli");
  await store.replaceMessages("s3", [{ role: "user", content: "x" }]);
  await store.clearMessages("s4");
  await store.getMessages("s5");
  await store.getMessages("s5", { afterId: 3, limit: 5 });
  await store.getConversation("child", { includeAncestors: true });
  await store.getConversation("s5");
  await store.messageCount();
  await store.messageCount("s5");
  await store.requestHandoff("s6", "telegram");
  await store.claimHandoff("s6");
  await store.completeHandoff("s6");
  await store.failHandoff("s6", "no");
  await store.getHandoffState("s6");
  await store.listPendingHandoffs();
  const exported = await store.exportSession("s5");
  if (exported) await store.importSession({ ...exported, id: "copy" });
  for await (const one of store.exportAll()) expect(one.id).not.toBe("");
  for await (const one of store.exportAll("cli")) expect(one.source).toBe("cli");
  await store.deleteSession("s7");
  await store.pruneSessions({ olderThanDays: 1 });
  await store.pruneEmptyGhostSessions();
  await store.finalizeOrphanedCompressionSessions();
  await store.getMeta("k");
  await store.setMeta("k", "v");
  await store.maybeAutoPruneAndVacuum();
  await store.stats();
  await store.health();
  await store.applyTelegramTopicMigration();
  await store.enableTelegramTopicMode({ chatId: "c", userId: "u" });
  await store.bindTelegramTopic({ chatId: "c", threadId: "t", userId: "u", sessionKey: "k", sessionId: "s8" });
  await store.getTelegramTopicBinding("c", "t");
  await store.isTelegramTopicModeEnabled("c", "u");
  await store.isTelegramSessionLinkedToTopic("s8");
  await store.listUnlinkedTelegramSessionsForUser("c", "u");
  await store.disableTelegramTopicMode("c");
}

async function useSearch(store: SqliteSessionStore): Promise<void> {
  const filters = [
    {},
    { sourceFilter: ["cli"], excludeSources: ["tool"], roleFilter: ["user"], userId: "u", sessionIds: ["s5"] },
  ];
  for (const filter of filters) {
    for (const query of ["docker", "größe", "备份", "数据库", "docker 备份", "docker OR 备份 NOT 数据库"]) {
      await store.searchMessages(query, filter);
      await store.searchMessages(query, { ...filter, offset: 5 });
    }
  }
  await store.setIndexLayout("compact");
  await store.searchMessages("docker OR 数据库");
  await store.setIndexLayout("inline");
}

interface PlanRow {
  readonly detail: string;
}

function explain(db: Database, sql: string): string[] {
  const statement = db.prepare<PlanRow>(`EXPLAIN QUERY PLAN ${sql}`);
  for (let count = 0; count < 100; count++) {
    try {
      return statement.all(...Array.from({ length: count }, () => null)).map((row) => row.detail);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  throw new Error(`cannot explain: ${sql}`);
}

/** Lines that read a whole base table, or a whole index without stopping at a limit. */
function scans(db: Database, sql: string): string[] {
  const plan = explain(db, sql);
  const tables = new Set(["messages", "sessions", "state_meta", "usage_ledger"]);
  for (const match of sql.matchAll(/\b(?:FROM|JOIN)\s+(?:messages|sessions|usage_ledger)\s+(?:AS\s+)?(\w+)/gi)) {
    if (match[1] && !/^(where|order|group|cross|join|on|limit|set)$/i.test(match[1])) tables.add(match[1]);
  }
  const sorts = plan.some((line) => line.includes("TEMP B-TREE FOR ORDER BY"));
  const stopsEarly = /\bLIMIT\b/i.test(sql) && !sorts;
  return plan.filter((line) => {
    const name = /^SCAN (\w+)/.exec(line)?.[1];
    if (name === undefined || !tables.has(name) || line.includes("VIRTUAL TABLE")) return false;
    return !(stopsEarly && line.includes("USING"));
  });
}

test("no statement of the store reads a whole table without a reason", async () => {
  await useEverything();
  const db = openDatabase(join(folder, "state.db"));
  const found: string[] = [];
  for (const sql of prepared) {
    if (!/^\s*(?:SELECT|WITH|UPDATE|DELETE|INSERT)\b/i.test(sql) || /sqlite_master|dbstat/.test(sql)) continue;
    if (DELIBERATE.some(({ pattern }) => pattern.test(sql))) continue;
    for (const line of scans(db, sql)) found.push(`${line}\n    ${sql.replace(/\s+/g, " ").slice(0, 300)}`);
  }
  db.close();
  expect(prepared.size).toBeGreaterThan(60);
  expect(found.join("\n")).toBe("");
});

test("the ledger and the side index answer from their indexes", async () => {
  const runtime = openRuntimeDb(join(folder, "other-runtime.db"));
  const ledger = createUsageLedger(() => runtime);
  expect(await ledger.spent({ since: 1, sessionId: "s", jobId: "j" })).toBe(0);
  for (const where of ["at >= 1", "session_id = 's' AND at >= 1", "job_id = 'j' AND at >= 1"]) {
    const plan = explain(runtime, `SELECT SUM(usd) FROM usage_ledger WHERE ${where}`);
    expect(plan.join()).toMatch(/SEARCH usage_ledger USING COVERING INDEX/);
  }
  const state = openDatabase(join(folder, "state.db"));
  createCjkIndex(runtime, state).catchUp(1000);
  state.close();
  runtime.close();
});
