// Migrates a file of any earlier version to version 11, in one transaction; an up-to-date file is only read.

import { sqliteCode } from "../../../lib/sqlite-error.ts";
import { rebuildIndexForMigration } from "../index/health.ts";
import {
  BASE_INDEXES,
  createBaseSchema,
  missingColumns,
  reconcileColumns,
  SCHEMA_VERSION,
  TABLES,
  TITLE_INDEX,
} from "../schema.ts";
import { type Database, immediate } from "./driver.ts";

function indexName(sql: string): string {
  return /EXISTS (\w+)/.exec(sql)?.[1] ?? "";
}

const OBJECTS = [...TABLES.map((table) => table.name), ...[...BASE_INDEXES, TITLE_INDEX].map(indexName)];

function storedVersion(db: Database): number | undefined {
  return db.prepare<{ version: number }>("SELECT version FROM schema_version LIMIT 1").get()?.version;
}

/** True when nothing has to be written: every object and column is there, and the version is 11 or later. */
export function isCurrent(db: Database): boolean {
  const present = new Set(
    db
      .prepare<{ name: string }>("SELECT name FROM sqlite_master")
      .all()
      .map((row) => row.name),
  );
  if (!OBJECTS.every((name) => present.has(name))) return false;
  return missingColumns(db).length === 0 && (storedVersion(db) ?? 0) >= SCHEMA_VERSION;
}

/** Files from before the unique index may hold a title twice: later ones get a number, so that none is lost. */
function numberDuplicateTitles(db: Database, notice: (text: string) => void): void {
  const taken = db.prepare("SELECT 1 FROM sessions WHERE title = ?");
  const rows = db
    .prepare<{ id: string; title: string }>(
      `SELECT id, title FROM sessions s WHERE title IS NOT NULL AND EXISTS (
         SELECT 1 FROM sessions o WHERE o.title = s.title AND (o.started_at, o.id) < (s.started_at, s.id))
       ORDER BY started_at, id`,
    )
    .all();
  for (const { id, title } of rows) {
    let number = 2;
    while (taken.get(`${title} #${number}`)) number++;
    db.prepare("UPDATE sessions SET title = ? WHERE id = ?").run(`${title} #${number}`, id);
    notice(`Two sessions were called "${title}"; session ${id} is now "${title} #${number}".`);
  }
}

function ensureTitleIndex(db: Database, notice: (text: string) => void): void {
  try {
    db.exec(TITLE_INDEX);
  } catch (error) {
    if (!sqliteCode(error)?.startsWith("SQLITE_CONSTRAINT")) throw error;
    numberDuplicateTitles(db, notice);
    db.exec(TITLE_INDEX);
  }
}

function writeVersion(db: Database): void {
  const version = storedVersion(db);
  if (version === undefined) {
    db.prepare("INSERT INTO schema_version (version) VALUES (?)").run(SCHEMA_VERSION);
  } else if (version < SCHEMA_VERSION) {
    rebuildIndexForMigration(db, version);
    db.prepare("UPDATE schema_version SET version = ?").run(SCHEMA_VERSION);
  }
}

/** A version from a later release is accepted and left as it is. */
export function migrate(db: Database, notice: (text: string) => void): void {
  if (isCurrent(db)) return;
  immediate(db, () => {
    createBaseSchema(db);
    for (const refused of reconcileColumns(db)) notice(`A column could not be added: ${refused}.`);
    writeVersion(db);
    ensureTitleIndex(db, notice);
  });
}
