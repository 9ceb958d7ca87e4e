// Checks the whole search index, for repair: reads everything, so it is never done on open.
import { type Database, immediate } from "../connection/driver.ts";
import { disableIndex, isIndexDamage } from "./health.ts";
import { FTS_TABLES, type FtsTable, indexCondition, readCatalog } from "./layout.ts";
import { fullPlan, maxMessageId, readPlan, writePlan } from "./rebuild.ts";

/** The names of the trees that lines like `Tree 24 page 25 cell 3: …` refer to. */
function treesNamed(db: Database, lines: readonly string[]): string[] {
  const roots = new Set(lines.map((line) => /^Tree (\d+) /.exec(line)?.[1]).filter((root) => root !== undefined));
  const find = db.prepare<{ tbl_name: string }>("SELECT tbl_name FROM sqlite_master WHERE rootpage = ?");
  return [...roots].map((root) => find.get(Number(root))?.tbl_name).filter((name) => name !== undefined);
}

/** FTS5's own integrity check of a table. */
function ownCheck(db: Database, table: FtsTable): string | undefined {
  try {
    immediate(db, () => db.exec(`INSERT INTO ${table}(${table}) VALUES ('integrity-check')`));
    return undefined;
  } catch (error) {
    if (!isIndexDamage(error)) throw error;
    return `${table} is damaged`;
  }
}

/** Messages that should be in the table and are not, and entries of messages that no longer exist. */
function rowProblem(db: Database, table: FtsTable): string | undefined {
  const { layout } = readCatalog(db);
  const condition = indexCondition(layout, table, "messages");
  const missing = db.prepare<{ n: number }>(
    `SELECT count(*) AS n FROM messages WHERE NOT EXISTS (SELECT 1 FROM ${table}_docsize d WHERE d.id = messages.id)
     ${condition ? `AND ${condition}` : ""}`,
  );
  const left = db.prepare<{ n: number }>(
    `SELECT count(*) AS n FROM ${table}_docsize d WHERE NOT EXISTS (SELECT 1 FROM messages m WHERE m.id = d.id)`,
  );
  const counts = [missing.get()?.n ?? 0, left.get()?.n ?? 0];
  if (counts[0] === 0 && counts[1] === 0) return undefined;
  return `${table} lacks ${counts[0]} messages and holds ${counts[1]} that are gone`;
}

/**
 * Finds damage and gaps in the search index and plans the rebuild; the caller runs the steps. `lines` are those of
 * SQLite's own integrity check.
 */
export function examineIndex(db: Database, lines: readonly string[]): string[] {
  const plan = readPlan(db);
  if (plan && plan.recreate.length > 0) return [];
  const named = lines.filter((line) => line.includes("messages_fts"));
  const trees = treesNamed(db, lines).filter((name) => name.startsWith("messages_fts"));
  const failures = [...named, ...trees.map((name) => `${name} is damaged`)];
  if (failures.length === 0)
    for (const table of FTS_TABLES) failures.push(...[ownCheck(db, table)].filter((text) => text !== undefined));
  if (failures.length > 0) {
    disableIndex(db, failures[0]);
    return failures;
  }
  if (plan) return [];
  const gaps = FTS_TABLES.map((table) => rowProblem(db, table)).filter((text) => text !== undefined);
  if (gaps.length > 0) {
    const { layout } = readCatalog(db);
    // Rows whose old text is unknown can only be removed by creating the external-content table again.
    const recreate = layout === "compact" ? FTS_TABLES : [];
    immediate(db, () => writePlan(db, { ...fullPlan(layout, gaps.join("; ")), recreate, upTo: maxMessageId(db) }));
  }
  return gaps;
}
