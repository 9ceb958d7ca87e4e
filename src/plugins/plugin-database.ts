// A SQLite file for a plugin: inside the home, durable, shared politely with other processes.
import { closeSync, mkdirSync, openSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { UserError } from "../core/failure.ts";
import type { PluginDatabase } from "../core/plugin.ts";
import { isLocked } from "../lib/sqlite-error.ts";
import { immediate, openDatabase } from "../store/sqlite/connection/driver.ts";

const BUSY_MS = 2_000;
/** Files with an owner and a schema of their own. */
const TAKEN = new Set(["state.db", "runtime.db"]);

function placeOf(home: string, path: string): string {
  const wanted = resolve(home, path);
  mkdirSync(dirname(wanted), { recursive: true, mode: 0o700 });
  const real = join(realpathSync(dirname(wanted)), basename(wanted));
  if (!real.startsWith(realpathSync(home) + sep) || TAKEN.has(basename(real)))
    throw new UserError(`a plugin may not open ${path}: its files are its own and inside the home`);
  return real;
}

export function openPluginDatabase(home: string, path: string): PluginDatabase {
  const place = placeOf(home, path);
  // SQLite would make it by the umask; its side files take over the mode.
  closeSync(openSync(place, "a", 0o600));
  const db = openDatabase(place, { busyTimeoutMs: BUSY_MS });
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = FULL");
  return {
    exec: (sql) => db.exec(sql),
    all: <Row>(sql: string, ...params: Parameters<PluginDatabase["all"]>[1][]) => db.prepare<Row>(sql).all(...params),
    get: <Row>(sql: string, ...params: Parameters<PluginDatabase["all"]>[1][]) => db.prepare<Row>(sql).get(...params),
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
