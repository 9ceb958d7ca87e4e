// Builds the benchmark's databases once per run: the same messages under each index layout.
import { copyFileSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Database, immediate, openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { beginLayoutSwitch, ensureIndex } from "../src/store/sqlite/index/health.ts";
import { dropTriggers, FTS_TABLES, type IndexLayout } from "../src/store/sqlite/index/layout.ts";
import { fullPlan, rebuildStep, writePlan } from "../src/store/sqlite/index/rebuild.ts";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { Dice, messageAt } from "./corpus.ts";

export const MESSAGES_PER_SESSION = 500;
const START = 1_760_000_000;
const SOURCES = ["cli", "telegram", "discord", "cron"];

export function sessionName(index: number): string {
  return `session-${String(index).padStart(5, "0")}`;
}

function addSessions(db: Database, count: number): void {
  const insert = db.prepare(
    `INSERT INTO sessions(id, source, user_id, model, system_prompt, started_at, message_count, title)
     VALUES (?, ?, 'user', 'model', ?, ?, ?, ?)`,
  );
  const prompt = "You are a helpful assistant. ".repeat(100);
  for (let i = 0; i < count; i++) {
    const source = SOURCES[i % SOURCES.length] as string;
    insert.run(sessionName(i), source, prompt, START + i * 60, MESSAGES_PER_SESSION, `Title ${i}`);
  }
}

/** In turns of twenty, round-robin over the sessions, as several conversations at once would write. */
function addMessages(db: Database, total: number, sessions: number): void {
  const dice = new Dice(20_260_101);
  const insert = db.prepare(
    "INSERT INTO messages(session_id, role, content, tool_name, tool_calls, timestamp) VALUES (?, ?, ?, ?, ?, ?)",
  );
  for (let from = 0; from < total; from += 5000) {
    immediate(db, () => {
      for (let i = from; i < Math.min(total, from + 5000); i++) {
        const message = messageAt(dice, i);
        const session = sessionName(Math.floor(i / 20) % sessions);
        insert.run(session, message.role, message.content, message.toolName, message.toolCalls, START + i);
      }
    });
  }
}

/** Messages without any search index. */
async function buildBase(path: string, total: number): Promise<void> {
  const store = await SqliteSessionStore.open({ path });
  await store.close();
  const db = openDatabase(path);
  db.pragma("synchronous = OFF");
  immediate(db, () => {
    dropTriggers(db);
    for (const table of FTS_TABLES) db.exec(`DROP TABLE ${table}`);
    addSessions(db, total / MESSAGES_PER_SESSION);
  });
  addMessages(db, total, total / MESSAGES_PER_SESSION);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

function buildIndex(path: string, layout: IndexLayout): void {
  const db = openDatabase(path);
  db.pragma("synchronous = OFF");
  immediate(db, () => writePlan(db, fullPlan("inline", "benchmark")));
  if (layout === "compact") beginLayoutSwitch(db, layout);
  while (rebuildStep(db, 5000));
  ensureIndex(db);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}

export interface BenchFiles {
  readonly base: string;
  readonly byLayout: Readonly<Partial<Record<IndexLayout, string>>>;
}

/** `say` is called with each stage and its duration. */
export async function buildFiles(
  folder: string,
  total: number,
  layouts: readonly IndexLayout[],
  say: (text: string) => void,
): Promise<BenchFiles> {
  const base = join(folder, "base.db");
  let began = Date.now();
  await buildBase(base, total);
  say(`${total} messages written in ${seconds(began)} s (${megabytes(base)} MB without search)`);
  const byLayout: Partial<Record<IndexLayout, string>> = {};
  for (const layout of layouts) {
    began = Date.now();
    mkdirSync(join(folder, layout));
    const path = join(folder, layout, "state.db");
    copyFileSync(base, path);
    buildIndex(path, layout);
    byLayout[layout] = path;
    say(`${layout} index built in ${seconds(began)} s (${megabytes(path)} MB)`);
  }
  return { base, byLayout };
}

function seconds(began: number): string {
  return ((Date.now() - began) / 1000).toFixed(1);
}

export function megabytes(path: string): string {
  return (statSync(path).size / 1e6).toFixed(1);
}
