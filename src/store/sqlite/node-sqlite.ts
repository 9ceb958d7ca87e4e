// SQLite that is part of Node itself, in the shape that driver.ts wraps. For the Node releases that the addon crashes on.
import { createRequire } from "node:module";
import type { NativeDatabase, NativeOptions } from "./native-database.ts";

interface DatabaseSync {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): { get(): { readonly [column: string]: unknown } | undefined };
  enableDefensive?(on: boolean): void;
  close(): void;
}

interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean; timeout: number }) => DatabaseSync;
  backup(source: DatabaseSync, target: string): Promise<number>;
}

/**
 * From 24.19 on, an object of an addon like better-sqlite3 12 that is collected as garbage ends the process; Node's own
 * SQLite is stable from there on, and keeps text with a NUL in it.
 */
export function usesNodeSqlite(version: string = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 24 || (major === 24 && minor >= 19);
}

export function openNodeSqlite(path: string, options: NativeOptions): NativeDatabase {
  const sqlite = createRequire(import.meta.url)("node:sqlite") as NodeSqlite;
  const db = new sqlite.DatabaseSync(path, { readOnly: options.readonly, timeout: options.timeout });
  const pragma = (text: string) => Object.values(db.prepare(`PRAGMA ${text}`).get() ?? {})[0];
  // As the addon opens it: the catalog is beyond plain statements.
  db.enableDefensive?.(true);
  return {
    readonly: options.readonly,
    exec: (sql) => db.exec(sql),
    prepare: (sql) => db.prepare(sql),
    pragma,
    get inTransaction() {
      return db.isTransaction;
    },
    get open() {
      return db.isOpen;
    },
    unsafeMode: (on) => db.enableDefensive?.(!on),
    backup: (target) => sqlite.backup(db, target),
    close: () => db.close(),
  };
}
