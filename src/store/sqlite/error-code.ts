// Errors of SQLite by their symbolic code, whichever driver threw them.

const BASE_CODES = [
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY",
  "SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB",
]
  .join(" ")
  .split(" ");
const SQLITE_CONSTRAINT_FOREIGNKEY = 787;

/** SQLite's number as its name; of the extended codes only the one that the store tells apart. */
function nameOfCode(errcode: number): string {
  if (errcode === SQLITE_CONSTRAINT_FOREIGNKEY) return "SQLITE_CONSTRAINT_FOREIGNKEY";
  return `SQLITE_${BASE_CODES[errcode & 0xff] ?? "ERROR"}`;
}

/** The symbolic SQLite code of an error (`SQLITE_BUSY`, `SQLITE_FULL`, …), or undefined for anything else. */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code } = error;
  if (code === "ERR_SQLITE_ERROR" && "errcode" in error) return nameOfCode(Number(error.errcode));
  return typeof code === "string" && code.startsWith("SQLITE_") ? code : undefined;
}

/** Another connection holds the lock: worth another try. */
export function isLocked(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"));
}
