// Checks the folder of the home before anything inside is opened.
import { accessSync, constants, statSync } from "node:fs";
import { UserError } from "../core/failure.ts";

const OWN_FOLDER = "Set HERMES_HOME to a folder that you own.";

/** Throws when the path is not a folder or cannot be opened. A home that does not exist yet is fine. */
export function requireHomeFolder(path: string): void {
  try {
    const info = statSync(path, { throwIfNoEntry: false });
    if (!info) return;
    if (!info.isDirectory()) throw new UserError(`the home ${path} is not a folder`, { hint: OWN_FOLDER });
    accessSync(path, constants.R_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOTDIR")
      throw new UserError(`the home ${path} is inside something that is not a folder`, { hint: OWN_FOLDER });
    if (code === "EACCES" || code === "EPERM")
      throw new UserError(`the home ${path} cannot be opened: it belongs to another user, or its mode forbids it`, {
        hint: `Check it with ls -ld ${path}. ${OWN_FOLDER}`,
      });
    throw error;
  }
}
