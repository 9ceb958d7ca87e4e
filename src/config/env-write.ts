// Writes `.env` of the home: one variable at a time, under a lock, atomically, readable by the owner only.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { decodeEnvFile, isEnvName, withEnvValue, withoutEnvValue } from "../core/config/env-file.ts";
import { UserError } from "../core/failure.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { refuseWhenManaged, type WritableHome } from "./write.ts";

export function envPath(home: { readonly path: string }): string {
  return join(home.path, ".env");
}

/** The API key and the OAuth token of Anthropic exclude each other: setting one clears the other. */
const EXCLUSIVE: { readonly [name: string]: string } = {
  ANTHROPIC_API_KEY: "ANTHROPIC_TOKEN",
  ANTHROPIC_TOKEN: "ANTHROPIC_API_KEY",
};

async function editEnvFile(home: WritableHome, edit: (text: string) => string): Promise<void> {
  refuseWhenManaged(home, "The .env file");
  const path = envPath(home);
  await withFileLock(path, async () => {
    let before = "";
    try {
      before = decodeEnvFile(await readFile(path));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
    const after = edit(before);
    if (after !== before) await atomicWrite(path, after, 0o600);
  });
}

function requireName(name: string): void {
  if (isEnvName(name)) return;
  throw new UserError(`"${name}" is not a name of an environment variable`, {
    hint: "Use letters, digits and _, not starting with a digit.",
    exitCode: 2,
  });
}

export async function setEnvValue(home: WritableHome, name: string, value: string): Promise<void> {
  requireName(name);
  const other = EXCLUSIVE[name];
  await editEnvFile(home, (text) => {
    const set = withEnvValue(text, name, value);
    const otherIsSet = other !== undefined && value !== "" && withoutEnvValue(set, other) !== set;
    return otherIsSet ? withEnvValue(set, other, "") : set;
  });
}

export async function removeEnvValue(home: WritableHome, name: string): Promise<void> {
  requireName(name);
  await editEnvFile(home, (text) => withoutEnvValue(text, name));
}
