// The symbolic code of an error that the SQLite module threw.

const BASE_CODES = [
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY",
  "SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB",
]
  .join(" ")
  .split(" ");
const SQLITE_CONSTRAINT_FOREIGNKEY = 787;

/** The name of an SQLite error number. Of the extended codes only the one that the store needs. */
function codeName(errcode: number): string {
  if (errcode === SQLITE_CONSTRAINT_FOREIGNKEY) return "SQLITE_CONSTRAINT_FOREIGNKEY";
  return `SQLITE_${BASE_CODES[errcode & 0xff] ?? "ERROR"}`;
}

/** By message, because the package omits the number of errors that occur while rows are read. */
const BY_MESSAGE: { readonly [message: string]: string } = {
  "database is locked": "SQLITE_BUSY",
  "database table is locked": "SQLITE_LOCKED",
  "attempt to write a readonly database": "SQLITE_READONLY",
  "disk I/O error": "SQLITE_IOERR",
  "database disk image is malformed": "SQLITE_CORRUPT",
  "database or disk is full": "SQLITE_FULL",
  "unable to open database file": "SQLITE_CANTOPEN",
  "database schema has changed": "SQLITE_SCHEMA",
  "file is not a database": "SQLITE_NOTADB",
};

/** The symbolic SQLite code of an error (`SQLITE_BUSY`, `SQLITE_FULL`, …), or undefined for anything else. */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  if (error.code !== "ERR_SQLITE_ERROR") return undefined;
  if ("errcode" in error && typeof error.errcode === "number") return codeName(error.errcode);
  return BY_MESSAGE[error.message] ?? "SQLITE_ERROR";
}

/** Another connection holds the lock: worth another try. */
export function isLocked(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"));
}
