// Explains errors of the system and of SQLite: one sentence and what the user can do.
import { accessSync, constants } from "node:fs";
import { UserError } from "../core/failure.ts";
import { sqliteCode } from "../lib/sqlite-error.ts";

const DISK_FULL_HINT = "Free some space and try again. Nothing that was saved before is affected.";
const READ_ONLY_HINT =
  "Make it writable, or set HERMES_HOME to a folder on another disk. Commands that only read still work.";
const OWNER_HINT = "Check its owner and mode (ls -ld), or set HERMES_HOME to a folder that you own.";
const OTHER_PATH_HINT = "Move it away, or set HERMES_HOME to another folder.";

type Explanation = readonly [message: (place: string) => string, hint: string];

const SYSTEM: { readonly [code: string]: Explanation } = {
  EACCES: [(place) => `${place}: permission denied`, OWNER_HINT],
  EPERM: [(place) => `${place}: this is not permitted`, OWNER_HINT],
  EROFS: [(place) => `${place} cannot be written: the file system is read-only`, READ_ONLY_HINT],
  ENOSPC: [(place) => `${place} cannot be written: the disk is full`, DISK_FULL_HINT],
  EDQUOT: [(place) => `${place} cannot be written: your disk quota is used up`, DISK_FULL_HINT],
  EFBIG: [(place) => `${place} cannot be written: the file would be too large`, DISK_FULL_HINT],
  ENOTDIR: [(place) => `${place}: a file exists where a folder is expected`, OTHER_PATH_HINT],
  EISDIR: [(place) => `${place} is a folder, but a file is expected there`, OTHER_PATH_HINT],
  EEXIST: [(place) => `${place} already exists`, OTHER_PATH_HINT],
  ENOENT: [(place) => `${place} does not exist`, "Check the path."],
  ELOOP: [(place) => `${place} is a symbolic link that points to itself`, "Correct or remove the link."],
  ENAMETOOLONG: [(place) => `${place}: the name is too long`, "Use a shorter path."],
  EIO: [(place) => `${place}: the disk reports an error`, "Check the disk; copy what is important first."],
  EBUSY: [(place) => `${place} is in use`, "Try again when the other program has ended."],
  EMFILE: [(place) => `${place}: too many files are open`, "Raise the limit (ulimit -n) and try again."],
  ENFILE: [(place) => `${place}: too many files are open on this machine`, "Close other programs and try again."],
  ENXIO: [(place) => `${place} is not a regular file`, OTHER_PATH_HINT],
  ESTALE: [(place) => `${place}: the network file system no longer has it`, "Mount it again and try again."],
};

const SQLITE: { readonly [code: string]: Explanation } = {
  SQLITE_FULL: [(place) => `${place} cannot be written: the disk is full`, DISK_FULL_HINT],
  SQLITE_IOERR: [
    (place) => `${place}: writing failed or the disk reports an error`,
    "Check that the disk is not full (df) and not damaged, then try again.",
  ],
  SQLITE_READONLY: [(place) => `${place} is read-only; nothing can be saved`, READ_ONLY_HINT],
  SQLITE_CANTOPEN: [(place) => `a database in ${place} cannot be opened or created`, OWNER_HINT],
  SQLITE_PERM: [(place) => `a database in ${place}: permission denied`, OWNER_HINT],
  SQLITE_NOTADB: [
    (place) => `a file in ${place} has the name of a database but is not one`,
    "Restore it from a backup, or move it aside to start with an empty one.",
  ],
  SQLITE_CORRUPT: [
    (place) => `a database in ${place} is damaged`,
    "Try `hermes sessions repair`, restore it from a backup, or move it aside.",
  ],
  SQLITE_BUSY: [(place) => `a database in ${place} is in use by another process`, "Try again in a moment."],
  SQLITE_LOCKED: [(place) => `a database in ${place} is in use by another process`, "Try again in a moment."],
};

function explained(explanation: Explanation, place: string, cause: unknown): UserError {
  const [message, hint] = explanation;
  return new UserError(message(place), { hint, cause });
}

/** SQLite only reports that it cannot open a file; checking the folder shows the reason. */
function writeProblem(code: string, home: string): Explanation | undefined {
  if (code !== "SQLITE_CANTOPEN") return undefined;
  try {
    accessSync(home, constants.W_OK);
    return undefined;
  } catch (error) {
    return SYSTEM[(error as NodeJS.ErrnoException).code ?? ""];
  }
}

/** Undefined for errors that are bugs of the program. */
export function explainSystemError(error: unknown, home: string): UserError | undefined {
  if (error instanceof UserError) return error;
  if (!(error instanceof Error)) return undefined;
  const sqlite = sqliteCode(error);
  if (sqlite !== undefined) {
    const base = Object.keys(SQLITE).find((code) => sqlite === code || sqlite.startsWith(`${code}_`));
    const known = base === undefined ? undefined : (writeProblem(base, home) ?? SQLITE[base]);
    return known && explained(known, home, error);
  }
  if (error.name === "LockTimeout")
    return new UserError(error.message, { hint: "Try again when the other Hermes process has ended.", cause: error });
  const { code, path, syscall } = error as NodeJS.ErrnoException;
  const known = code === undefined || syscall === undefined ? undefined : SYSTEM[code];
  if (known) return explained(known, typeof path === "string" ? path : home, error);
  // The driver checks the folder of a database itself.
  if (error instanceof TypeError && error.message.startsWith("Cannot open database because the directory"))
    return new UserError(`a database in ${home} cannot be created: its folder does not exist`, { hint: OWNER_HINT });
  return error.cause === undefined ? undefined : explainSystemError(error.cause, home);
}
