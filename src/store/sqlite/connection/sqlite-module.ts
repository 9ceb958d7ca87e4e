// Chooses the SQLite module: the one built into Node where it can do all that the store needs, otherwise the package
// with the same API, which carries its binaries and needs no compiler.
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { UserError } from "../../../core/failure.ts";

/** The part of the API of `node:sqlite` that the driver uses. */
export interface DatabaseSync {
  readonly isOpen: boolean;
  readonly isTransaction: boolean;
  exec(sql: string): void;
  prepare(sql: string): StatementSync;
  enableDefensive(on: boolean): void;
  close(): void;
}

export interface StatementSync {
  all(...params: unknown[]): unknown[];
  get(...params: unknown[]): unknown;
  run(...params: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  iterate(...params: unknown[]): IterableIterator<unknown>;
}

export interface SqliteModule {
  readonly DatabaseSync: new (path: string, options: { readOnly: boolean; timeout: number }) => DatabaseSync;
  backup(source: DatabaseSync, target: string): Promise<number>;
}

const require = createRequire(import.meta.url);

const NUL_TEXT = "SELECT CAST(x'610062' AS TEXT) AS text";

/**
 * True when the module has every call that the driver makes, FTS5 with the trigram tokenizer (missing in Node 22.13 to
 * 22.15), and reads text with a NUL whole (older releases stop there, and stored structured content begins with one).
 * Tested by use and not by version, because distributions build Node with other options.
 */
export function isUsable(module: SqliteModule): boolean {
  if (typeof module.backup !== "function") return false;
  const db = new module.DatabaseSync(":memory:", { readOnly: false, timeout: 0 });
  try {
    db.exec("CREATE VIRTUAL TABLE probe USING fts5(text, tokenize = 'trigram')");
    if (typeof db.isTransaction !== "boolean" || typeof db.enableDefensive !== "function") return false;
    const row = db.prepare(NUL_TEXT).get() as { readonly text: unknown };
    return row.text === "a\u0000b";
  } catch {
    return false;
  } finally {
    db.close();
  }
}

/** Node prints an ExperimentalWarning when the module is loaded; a user cannot do anything about it. */
function withoutExperimentalWarning<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    return load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Undefined before Node 22.13, and where the built-in SQLite lacks something. */
function builtIn(): SqliteModule | undefined {
  try {
    const module = withoutExperimentalWarning(() => require("node:sqlite") as SqliteModule);
    return isUsable(module) ? module : undefined;
  } catch {
    return undefined;
  }
}

/** The binary by its known path: the package's own search for it takes longer than opening a database. */
function prebuiltPath(): string {
  const libc = existsSync("/etc/alpine-release") ? "musl" : "glibc";
  const folder = dirname(require.resolve("@photostructure/sqlite/package.json"));
  return join(folder, "prebuilds", `${process.platform}-${process.arch}`, `@photostructure+sqlite.${libc}.node`);
}

function fromPackage(): SqliteModule {
  try {
    const path = prebuiltPath();
    return (existsSync(path) ? require(path) : require("@photostructure/sqlite")) as SqliteModule;
  } catch (error) {
    throw explainLoadError(error);
  }
}

/** Adds what the user can do; exported for its test. */
export function explainLoadError(error: unknown): UserError {
  const platform = `${process.platform}-${process.arch}`;
  return new UserError(`SQLite could not be loaded (Node ${process.versions.node}, ${platform}).`, {
    hint: "Install Hermes again, or use Node 24.19 or newer, which has SQLite built in.",
    cause: error,
  });
}

let loaded: SqliteModule | undefined;

export function sqliteModule(): SqliteModule {
  loaded ??= builtIn() ?? fromPackage();
  return loaded;
}
