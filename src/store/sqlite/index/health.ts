// Detects a missing or damaged search index, keeps appends working without it, and rebuilds it.

import { errorMessage } from "../../../lib/error-message.ts";
import { sqliteCode } from "../../../lib/sqlite-error.ts";
import { type Database, immediate } from "../connection/driver.ts";
import {
  createIndexTable,
  createMissingTriggers,
  dropTriggers,
  FTS_TABLES,
  type FtsTable,
  type IndexLayout,
  readCatalog,
  readIndexLayout,
} from "./layout.ts";
import {
  fullPlan,
  inTransaction,
  maxMessageId,
  type RebuildPlan,
  readPlan,
  rebuildStep,
  writePlan,
} from "./rebuild.ts";

/** So few rows are indexed while opening; more are left to the background. */
const INDEX_AT_OPEN = 2000;

export interface IndexHealth {
  readonly state: "ok" | "index_damaged";
  readonly layout: IndexLayout;
  readonly notice?: string | undefined;
  /** 0 to 1 while rows are being indexed. */
  readonly progress?: number | undefined;
}

/** Errors that come from the index and not from the messages themselves. */
export function isIndexDamage(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === undefined) return false;
  if (code.startsWith("SQLITE_CORRUPT")) return true;
  const text = error instanceof Error ? error.message : "";
  return code === "SQLITE_ERROR" && /messages_fts|vtable constructor failed|fts5 file format/.test(text);
}

function tableAnswers(db: Database, table: FtsTable): boolean {
  try {
    db.prepare(`SELECT rowid FROM ${table} LIMIT 0`).all();
    db.prepare(`SELECT max(id) AS id FROM ${table}_docsize`).get();
    return true;
  } catch (error) {
    if (isIndexDamage(error)) return false;
    throw error;
  }
}

/** The newest message has no entry: a trigger was missing for a while. */
function isBehind(db: Database): boolean {
  const indexed = db.prepare<{ id: number | null }>("SELECT max(id) AS id FROM messages_fts_docsize").get()?.id ?? 0;
  return indexed < maxMessageId(db);
}

/** What has to be done to this file, judged from its catalog and three key lookups. */
function diagnose(db: Database): RebuildPlan | undefined {
  const { layout, missingTables, missingTriggers } = readCatalog(db);
  const broken = FTS_TABLES.filter((table) => !missingTables.includes(table) && !tableAnswers(db, table));
  // Without its delete or update trigger a table may contain deleted text; it must be rebuilt.
  const stale = FTS_TABLES.filter((table) =>
    missingTriggers.some((name) => name === `${table}_delete` || name === `${table}_update`),
  );
  const recreate = FTS_TABLES.filter((table) => broken.includes(table) || stale.includes(table));
  const behind = missingTriggers.length > 0 || (missingTables.length === 0 && broken.length === 0 && isBehind(db));
  const tables = FTS_TABLES.filter((table) => behind || missingTables.includes(table) || recreate.includes(table));
  if (tables.length === 0) return undefined;
  const reason =
    broken.length > 0
      ? `${broken.join(" and ")} is damaged`
      : missingTables.length > 0
        ? `${missingTables.join(" and ")} is missing`
        : missingTriggers.length > 0
          ? `${missingTriggers.join(", ")} is missing`
          : "some messages are not in the search index";
  return { layout, tables, recreate, next: 1, upTo: maxMessageId(db), reason, damaged: broken.length > 0 };
}

/** Why the index is incomplete; undefined when it is not. Changes nothing. */
export function findIndexProblem(db: Database): string | undefined {
  return readPlan(db)?.reason ?? diagnose(db)?.reason;
}

function createMissing(db: Database, plan: RebuildPlan): void {
  const { missingTables } = readCatalog(db);
  for (const table of plan.tables) {
    if (plan.recreate.includes(table)) continue;
    if (missingTables.includes(table)) createIndexTable(db, plan.layout, table);
    else createMissingTriggers(db, plan.layout, table);
  }
}

/**
 * Called on every open: creates what is missing and stores what must be indexed again. Cheap on a healthy file
 * of any size; a small index is completed at once, a large one by later calls of `rebuildStep`.
 */
export function ensureIndex(db: Database): IndexHealth {
  if (db.readOnly) return checkIndexHealth(db);
  // Judged outside the transaction: after meeting a damaged page inside one, SQLite refuses every further write in it.
  const plan = readPlan(db) ? undefined : diagnose(db);
  if (plan) {
    immediate(db, () => {
      // Another process may have been faster.
      if (readPlan(db)) return;
      createMissing(db, plan);
      writePlan(db, plan.upTo > 0 || plan.recreate.length > 0 ? plan : undefined);
    });
  }
  finishSmallRebuild(db);
  return checkIndexHealth(db);
}

function finishSmallRebuild(db: Database): void {
  const plan = readPlan(db);
  if (!plan || Math.max(plan.upTo, maxMessageId(db)) - plan.next > INDEX_AT_OPEN) return;
  while (rebuildStep(db));
}

/**
 * The index part of the upgrade from an older schema version: version 10 added the trigram table, version 11 indexes
 * tool names and calls. May run inside the caller's transaction; the rows themselves follow in small steps.
 */
export function rebuildIndexForMigration(db: Database, fromVersion: number): void {
  if (fromVersion >= 11) return;
  inTransaction(db, () => {
    dropTriggers(db);
    for (const table of FTS_TABLES) {
      db.exec(`DROP TABLE IF EXISTS ${table}`);
      createIndexTable(db, "inline", table);
    }
    const upTo = maxMessageId(db);
    const plan = {
      ...fullPlan("inline", `the index of schema version ${fromVersion} is being renewed`),
      recreate: [],
      upTo,
    };
    writePlan(db, upTo > 0 ? plan : undefined);
  });
}

/** Disables the index, so that writes do not fail, and marks it for a rebuild. */
export function disableIndex(db: Database, cause: unknown): void {
  const reason = errorMessage(cause);
  immediate(db, () => {
    const { layout } = readCatalog(db);
    dropTriggers(db);
    const damaged = sqliteCode(cause) !== "SQLITE_ERROR";
    writePlan(db, fullPlan(readPlan(db)?.layout ?? layout, reason, damaged));
  });
}

/** Runs a whole write; when it fails because of the index, the index is disabled and the write repeated. */
export function guardIndex<T>(db: Database, write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (db.inTransaction || !isIndexDamage(error)) throw error;
    disableIndex(db, error);
    return write();
  }
}

/** The state of the index in one catalog read and one key lookup. */
export function checkIndexHealth(db: Database): IndexHealth {
  const plan = readPlan(db);
  if (plan) {
    const progress = plan.upTo === 0 ? 0 : Math.min(1, (plan.next - 1) / plan.upTo);
    const percent = Math.floor(progress * 100);
    const notice = `The search index is being rebuilt (${percent} %): ${plan.reason}. Searching works, more slowly.`;
    return { state: "index_damaged", layout: plan.layout, notice, progress };
  }
  const { layout, missingTables, missingTriggers } = readCatalog(db);
  const missing = [...missingTables, ...missingTriggers];
  if (missing.length === 0) return { state: "ok", layout };
  const notice = `The search index lacks ${missing.join(", ")}. Run \`hermes sessions repair\`.`;
  return { state: "index_damaged", layout, notice };
}

/** Tables that search may trust now. */
export function usableTables(db: Database): readonly FtsTable[] {
  const plan = readPlan(db);
  return plan ? FTS_TABLES.filter((table) => !plan.tables.includes(table)) : FTS_TABLES;
}

/** Begins the switch to `layout`; `rebuildStep` does the work. False when the file has that layout already. */
export function beginLayoutSwitch(db: Database, layout: IndexLayout): boolean {
  return immediate(db, () => {
    const plan = readPlan(db);
    const current = plan?.layout ?? readIndexLayout(db);
    if (current === layout) return plan !== undefined;
    dropTriggers(db);
    writePlan(db, fullPlan(layout, `changing to the ${layout} layout`));
    return true;
  });
}
