// Consistent copies of databases while other processes write, and a check of a copy.
import { UserError } from "../../core/failure.ts";
import { openDatabase } from "../sqlite/connection/driver.ts";

/** Through SQLite's online backup; a file that is not a database throws. */
export async function copyDatabase(from: string, to: string): Promise<void> {
  const db = openDatabase(from, { readOnly: true, busyTimeoutMs: 10_000 });
  try {
    await db.backup(to);
  } finally {
    db.close();
  }
}

/** Throws when a page of the file is damaged. The file must not be in use. */
export async function verifyDatabase(path: string): Promise<void> {
  const db = openDatabase(path, { readOnly: true });
  try {
    const rows = db.prepare<{ quick_check: string }>("PRAGMA quick_check(3)").all();
    const problems = rows.map((row) => row.quick_check).filter((line) => line !== "ok");
    if (problems.length > 0) throw new UserError(`it is damaged: ${problems.join("; ")}`);
  } finally {
    db.close();
  }
}
