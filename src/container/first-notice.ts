// The notice that an existing home gets once, at the first start of a version that contains commands.
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const TEXT =
  "New: commands of the agent now run in a container. They can change the folder of the conversation, and not read your keys, " +
  "the home of Hermes or .env files; more is asked for by name (hermes permissions). Publishing, such as git push, asks first. " +
  "docs/security.md has the details; terminal.container: host works as before.";

/** Undefined for a new home, and after the first call. Call before the store of the home is opened. */
export function firstNotice(home: string): string | undefined {
  const folder = join(home, "cache", "container");
  if (existsSync(folder)) return undefined;
  const isOld = existsSync(join(home, "state.db"));
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, "noticed"), "", { mode: 0o600 });
  } catch {
    // A home that cannot be written has other problems, which are reported elsewhere.
    return undefined;
  }
  return isOld ? TEXT : undefined;
}
