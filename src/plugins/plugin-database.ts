// Where a plugin may keep a database: inside the home, and not one of the program's own files.
import { mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { UserError } from "../core/failure.ts";

/** Databases of the program itself. */
const RESERVED = new Set(["state.db", "runtime.db"]);

/** The real path of the file; its folder is created. Throws UserError when the plugin may not open it. */
export function pluginDatabasePath(home: string, path: string): string {
  const wanted = resolve(home, path);
  mkdirSync(dirname(wanted), { recursive: true, mode: 0o700 });
  const real = join(realpathSync(dirname(wanted)), basename(wanted));
  if (!real.startsWith(realpathSync(home) + sep) || RESERVED.has(basename(real)))
    throw new UserError(`a plugin may not open ${path}: only files of its own inside the home`);
  return real;
}
