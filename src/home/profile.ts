// Profiles: several homes under one root, chosen by the command line, the environment or a file.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../core/failure.ts";
import { isPathInside } from "../lib/path-inside.ts";

const NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function isProfileName(name: string): boolean {
  return NAME.test(name);
}

/** The profile named on the command line (the last one wins) and the arguments without it. Arguments after `--` are kept. */
export function takeProfileFlag(argv: readonly string[]): { name: string | undefined; rest: string[] } {
  const rest: string[] = [];
  let name: string | undefined;
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word === "--") {
      rest.push(...argv.slice(index));
      break;
    }
    const next = argv[index + 1]?.toLowerCase();
    if (word.startsWith("--profile=")) name = word.slice("--profile=".length).toLowerCase();
    else if ((word === "-p" || word === "--profile") && next !== undefined && NAME.test(next)) {
      name = next;
      index++;
    } else rest.push(word);
  }
  return { name, rest };
}

/** The folder that holds `profiles/` for this home. */
export function rootHome(home: string, defaultHome: string): string {
  if (isPathInside(home, defaultHome)) return defaultHome;
  return basename(dirname(home)) === "profiles" ? dirname(dirname(home)) : home;
}

/** Names of existing profiles, `default` first. */
export function listProfiles(root: string): string[] {
  let names: string[] = [];
  try {
    names = readdirSync(join(root, "profiles"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && NAME.test(entry.name))
      .map((entry) => entry.name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return ["default", ...names.sort()];
}

function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** The home of an existing profile; `from` names its source for the error message. */
export function profileHome(root: string, name: string, from: string): string {
  if (name === "default") return root;
  const path = join(root, "profiles", name);
  const valid = NAME.test(name);
  if (valid && statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  const reason = valid ? "there is no such profile" : "that is not a profile name";
  const undo = from === "" ? "" : ` Use the default profile: hermes -p default, or remove ${from}.`;
  throw new UserError(`profile "${name}"${from === "" ? "" : ` (from ${from})`}: ${reason}`, {
    hint: `${valid ? `Create it: hermes profile create ${name}. ` : ""}Existing profiles: ${listProfiles(root).join(", ")}.${undo}`,
  });
}

/** The profile that `active_profile` names; undefined when the file is absent, empty or names the default. */
export function activeProfile(root: string): string | undefined {
  try {
    const name = readFileSync(join(root, "active_profile"), "utf8").trim().toLowerCase();
    return name === "" || name === "default" ? undefined : name;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
