// Builds the search index in small transactions. The remaining work is stored in the file itself, so that a
// crash, or another process, continues where the last step ended.

import { sqliteCode } from "../../../lib/sqlite-error.ts";
import { type Database, immediate } from "../connection/driver.ts";
import {
  createIndexTable,
  createMissingTriggers,
  FTS_TABLES,
  type FtsTable,
  type IndexLayout,
  indexCondition,
  indexedText,
  TEXT_VIEW,
  triggerNames,
} from "./layout.ts";

/** The key in `state_meta`; absent when the index is complete. */
const PLAN_KEY = "search_index_rebuild";
const ROWS_PER_STEP = 400;

export interface RebuildPlan {
  readonly layout: IndexLayout;
  /** Tables that do not have all rows yet: search must not use them. */
  readonly tables: readonly FtsTable[];
  /** Tables to drop and create again before the rows are inserted. */
  readonly recreate: readonly FtsTable[];
  /** Message ids from `next` to `upTo` are still to be indexed; later rows are indexed by triggers. */
  readonly next: number;
  readonly upTo: number;
  readonly reason: string;
  /** Pages of the tables are damaged: dropping them could free pages that belong to something else. */
  readonly damaged?: boolean | undefined;
}

function isPlan(value: unknown): value is RebuildPlan {
  if (typeof value !== "object" || value === null) return false;
  const plan = value as Partial<RebuildPlan>;
  return (
    (plan.layout === "inline" || plan.layout === "compact") &&
    Array.isArray(plan.tables) &&
    Array.isArray(plan.recreate) &&
    typeof plan.next === "number" &&
    typeof plan.upTo === "number"
  );
}

/** What is left to do, or undefined when the index is complete. An unreadable note means: do everything again. */
export function readPlan(db: Database): RebuildPlan | undefined {
  const row = db.prepare<{ value: string | null }>("SELECT value FROM state_meta WHERE key = ?").get(PLAN_KEY);
  if (!row) return undefined;
  try {
    const plan: unknown = JSON.parse(row.value ?? "");
    if (isPlan(plan)) return plan;
  } catch {
    // Handled below: an unreadable note still means that something was unfinished.
  }
  return { ...fullPlan("inline", "the note about an unfinished rebuild was unreadable"), upTo: maxMessageId(db) };
}

export function writePlan(db: Database, plan: RebuildPlan | undefined): void {
  if (plan) {
    db.prepare("INSERT OR REPLACE INTO state_meta(key, value) VALUES (?, ?)").run(PLAN_KEY, JSON.stringify(plan));
  } else {
    db.prepare("DELETE FROM state_meta WHERE key = ?").run(PLAN_KEY);
  }
}

/** Drop and build both tables. `upTo` is set when the first table is created. */
export function fullPlan(layout: IndexLayout, reason: string, damaged = false): RebuildPlan {
  return { layout, tables: FTS_TABLES, recreate: FTS_TABLES, next: 1, upTo: 0, reason, damaged };
}

export function maxMessageId(db: Database): number {
  return db.prepare<{ id: number | null }>("SELECT max(id) AS id FROM messages").get()?.id ?? 0;
}

/** Runs inside the caller's transaction when there is one. */
export function inTransaction<T>(db: Database, body: () => T): T {
  return db.inTransaction ? body() : immediate(db, body);
}

const SHADOWS = ["data", "idx", "content", "docsize", "config"];

/**
 * Removes a damaged table from the catalog without reading its pages. VACUUM removes the pages, which are then unused. The caller must not be inside a transaction.
 */
function removeFromCatalog(db: Database, table: FtsTable): void {
  const names = [table, ...SHADOWS.map((suffix) => `${table}_${suffix}`), ...triggerNames(table)];
  db.withCatalogWrites(() => {
    immediate(db, () => {
      const marks = names.map(() => "?").join(", ");
      db.prepare(`DELETE FROM sqlite_master WHERE name IN (${marks}) OR tbl_name IN (${marks})`).run(
        ...names,
        ...names,
      );
      const version = Number(db.pragma("schema_version"));
      db.pragma(`schema_version = ${version + 1}`);
    });
  });
}

function dropTable(db: Database, table: FtsTable): void {
  immediate(db, () => {
    for (const name of triggerNames(table)) db.exec(`DROP TRIGGER IF EXISTS ${name}`);
    db.exec(`DROP TABLE IF EXISTS ${table}`);
  });
}

function removeTable(db: Database, table: FtsTable, damaged: boolean): void {
  if (damaged) {
    removeFromCatalog(db, table);
    return;
  }
  try {
    dropTable(db, table);
  } catch (error) {
    const code = sqliteCode(error) ?? "";
    if (!code.startsWith("SQLITE_CORRUPT") && code !== "SQLITE_ERROR") throw error;
    removeFromCatalog(db, table);
  }
}

export interface StepResult {
  readonly done: number;
  readonly total: number;
}

function recreateStep(db: Database, plan: RebuildPlan, table: FtsTable): StepResult {
  removeTable(db, table, plan.damaged ?? false);
  return immediate(db, () => {
    const upTo = Math.max(plan.upTo, maxMessageId(db));
    createIndexTable(db, plan.layout, table);
    const recreate = plan.recreate.filter((name) => name !== table);
    if (recreate.length === 0 && plan.layout === "inline") db.exec(`DROP VIEW IF EXISTS ${TEXT_VIEW}`);
    writePlan(db, { ...plan, recreate, next: 1, upTo });
    return { done: 0, total: upTo };
  });
}

function fillRange(db: Database, plan: RebuildPlan, range: { from: number; to: number }): void {
  for (const table of plan.tables) {
    const condition = indexCondition(plan.layout, table, "messages");
    db.prepare(
      `INSERT INTO ${table}(rowid, content) SELECT id, ${indexedText(plan.layout, "messages")} FROM messages
       WHERE id BETWEEN ? AND ? AND NOT EXISTS (SELECT 1 FROM ${table}_docsize d WHERE d.id = messages.id)
       ${condition ? `AND ${condition}` : ""}`,
    ).run(range.from, range.to);
    if (plan.layout === "inline") {
      db.prepare(
        `DELETE FROM ${table} WHERE rowid IN (SELECT d.id FROM ${table}_docsize d
         WHERE d.id BETWEEN ? AND ? AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = d.id))`,
      ).run(range.from, range.to);
    }
  }
}

function fillStep(db: Database, plan: RebuildPlan, rows: number): StepResult {
  const last = db
    .prepare<{ id: number }>("SELECT id FROM messages WHERE id >= ? AND id <= ? ORDER BY id LIMIT 1 OFFSET ?")
    .get(plan.next, plan.upTo, rows - 1);
  const to = last?.id ?? plan.upTo;
  fillRange(db, plan, { from: plan.next, to });
  const finished = to >= plan.upTo;
  writePlan(db, finished ? undefined : { ...plan, next: to + 1 });
  return { done: to, total: plan.upTo };
}

/**
 * One short transaction of the rebuild. Undefined when there is nothing left. A lock held by another writer is thrown
 * as it is: the next call tries again.
 */
export function rebuildStep(db: Database, rows: number = ROWS_PER_STEP): StepResult | undefined {
  const plan = readPlan(db);
  if (!plan) return undefined;
  const [table] = plan.recreate;
  if (table) return recreateStep(db, plan, table);
  return inTransaction(db, () => {
    // Read again under the lock: another process may have done this step.
    const current = readPlan(db);
    if (!current) return { done: plan.upTo, total: plan.upTo };
    if (current.recreate.length > 0) return { done: 0, total: current.upTo };
    for (const name of current.tables) createMissingTriggers(db, current.layout, name);
    return fillStep(db, current, rows);
  });
}
