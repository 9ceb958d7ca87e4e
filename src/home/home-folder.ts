// The folder that a home is in: looked at once, before anything inside is opened.
import { accessSync, constants, statSync } from "node:fs";
import { UserError } from "../core/failure.ts";

const OWN_FOLDER = "Set HERMES_HOME to a folder of your own.";

/** Throws when there is something in the place of the home that cannot be one. A home that is not there yet is fine. */
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
      throw new UserError(`the home ${path} may not be opened: it belongs to another user, or its mode forbids it`, {
        hint: `Check it with ls -ld ${path}. ${OWN_FOLDER}`,
      });
    throw error;
  }
}
