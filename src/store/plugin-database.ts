// Opens a SQLite file for a plugin: durable writes, and other processes may use the file at the same time.
import { closeSync, openSync } from "node:fs";
import { basename } from "node:path";
import { UserError } from "../core/failure.ts";
import type { PluginDatabase, SqlValue } from "../core/plugin.ts";
import { isLocked } from "../lib/sqlite-error.ts";
import { immediate, openDatabase } from "./sqlite/connection/driver.ts";

const BUSY_MS = 2_000;

/** `path` is absolute; the caller has checked that the plugin may use it. */
export function openPluginDatabase(path: string): PluginDatabase {
  // SQLite would create the file with the umask's mode. Its side files inherit the mode of this one.
  closeSync(openSync(path, "a", 0o600));
  const db = openDatabase(path, { busyTimeoutMs: BUSY_MS });
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  return {
    exec: (sql) => db.exec(sql),
    all: <Row>(sql: string, ...params: SqlValue[]) => db.prepare<Row>(sql).all(...params),
    get: <Row>(sql: string, ...params: SqlValue[]) => db.prepare<Row>(sql).get(...params),
    run: (sql, ...params) => db.prepare(sql).run(...params),
    transaction: (body) => {
      try {
        return immediate(db, body);
      } catch (error) {
        if (isLocked(error)) throw new UserError(`${basename(db.path)} is busy; try again`, { cause: error });
        throw error;
      }
    },
    close: () => {
      if (db.open) db.close();
    },
  };
}
