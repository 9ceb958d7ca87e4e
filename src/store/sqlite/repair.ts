// Checks the whole file and repairs ordinary indexes, the search index and references to missing rows.
import { errorMessage } from "../../lib/error-message.ts";
import { type Database, immediate } from "./connection/driver.ts";
import { examineIndex } from "./index/examine.ts";
import { ensureIndex } from "./index/health.ts";

export interface Findings {
  readonly problems: string[];
  readonly repaired: string[];
}

function integrityLines(db: Database): string[] {
  try {
    const rows = db.prepare<{ integrity_check: string }>("PRAGMA integrity_check").all();
    const lines = rows.flatMap((row) => row.integrity_check.split("\n"));
    return lines.filter((line) => line !== "ok" && !line.startsWith("***"));
  } catch (error) {
    return [errorMessage(error)];
  }
}

function repairIndexes(db: Database, repaired: string[]): void {
  try {
    db.exec("REINDEX");
    repaired.push("The ordinary indexes were rebuilt.");
  } catch (error) {
    repaired.push(`The ordinary indexes could not be rebuilt (${errorMessage(error)}).`);
  }
}

/** Rows that point at sessions which do not exist: links are removed; for messages the session is created again, so that none is lost. */
function repairLinks(db: Database, problems: string[], repaired: string[]): void {
  const lost = db
    .prepare<{ session_id: string; first: number }>(
      `SELECT session_id, MIN(timestamp) AS first FROM messages
       WHERE NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = messages.session_id) GROUP BY session_id`,
    )
    .all();
  for (const { session_id, first } of lost) {
    problems.push(`Messages of session ${session_id} had no session row.`);
    db.prepare(
      `INSERT INTO sessions (id, source, started_at, message_count)
       VALUES (?, 'unknown', ?, (SELECT count(*) FROM messages WHERE session_id = ?))`,
    ).run(session_id, first, session_id);
    repaired.push(`Session ${session_id} was created again for them.`);
  }
  const { changes } = db
    .prepare(
      `UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = sessions.parent_session_id)`,
    )
    .run();
  if (changes === 0) return;
  problems.push(`${changes} sessions named a parent that does not exist.`);
  repaired.push("Those links were removed.");
}

/** Stores a rebuild plan when the search index needs one; the caller runs its steps, then `conclude`. */
export function examine(db: Database): Findings {
  const lines = integrityLines(db);
  const repaired: string[] = [];
  ensureIndex(db);
  const indexProblems = examineIndex(db, lines);
  const problems = [...new Set([...lines, ...indexProblems])];
  if (lines.length > 0 && indexProblems.length === 0) repairIndexes(db, repaired);
  immediate(db, () => repairLinks(db, problems, repaired));
  return { problems, repaired };
}

/** Checks again after the index was rebuilt; pages that belong to nothing any more are removed by VACUUM. */
export function conclude(db: Database, findings: Findings): string {
  let lines = integrityLines(db);
  if (lines.length > 0) {
    try {
      db.pragma("wal_checkpoint(TRUNCATE)");
      db.exec("VACUUM");
      lines = integrityLines(db);
      if (lines.length === 0) findings.repaired.push("The file was rewritten without its damaged pages.");
    } catch (error) {
      findings.problems.push(`The file could not be rewritten (${errorMessage(error)}).`);
    }
  }
  if (lines.length === 0) return "ok";
  findings.problems.push(
    "Some damage is beyond repair in place. Restore a backup, or export what can be read with `hermes sessions export`, move the file aside and import it again.",
  );
  return lines.join("; ");
}

export function indexedRows(db: Database): number {
  return db.prepare<{ n: number }>("SELECT count(*) AS n FROM messages_fts_docsize").get()?.n ?? 0;
}
