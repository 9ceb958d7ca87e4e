// Opens the home: reads the directory, the profile and the environment once and returns them as data.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { cleanSecrets, decodeEnvFile, parseEnvFile } from "../core/config/env-file.ts";
import { type Home, type Host, RESTORE_JOURNAL } from "../core/home.ts";
import { undoSwitch } from "../lib/file-switch.ts";
import { requireHomeFolder } from "./home-folder.ts";
import { closeHomeToOthers as closeFiles, tightenFiles } from "./home-layout.ts";
import { activeProfile, profileHome, rootHome, takeProfileFlag } from "./profile.ts";

function realHost(): Host {
  return { env: process.env, cwd: process.cwd(), platform: process.platform, homedir: homedir() };
}

/** The machine with another environment, home or folder, for programs that use the library. */
export function hostWith(options: {
  readonly env?: Host["env"] | undefined;
  readonly home?: string | undefined;
  readonly cwd?: string | undefined;
}): Host {
  const host = realHost();
  const env = options.env ?? host.env;
  const cwd = options.cwd ?? host.cwd;
  return {
    ...host,
    env: { ...env, ...(options.home ? { HERMES_HOME: resolve(cwd, options.home) } : {}) },
    cwd,
    homedir: options.env?.HOME ?? host.homedir,
  };
}

function defaultHome(host: Host): string {
  const local = host.env.LOCALAPPDATA;
  if (host.platform === "win32" && local) return join(local, "hermes");
  return join(host.homedir, ".hermes");
}

function choose(host: Host, flag: string | undefined): { path: string; root: string; profile: string } {
  const plain = defaultHome(host);
  const given = host.env.HERMES_HOME?.trim();
  const home = given ? resolve(host.cwd, given.replace(/^~(?=$|[/\\])/, host.homedir)) : plain;
  const root = rootHome(home, plain);
  requireHomeFolder(root);
  if (home !== root) requireHomeFolder(home);
  if (flag !== undefined) return { path: profileHome(root, flag, ""), root, profile: flag };
  if (basename(dirname(home)) === "profiles") return { path: home, root, profile: basename(home) };
  const active = activeProfile(root);
  if (active === undefined) return { path: home, root, profile: "default" };
  return { path: profileHome(root, active, join(root, "active_profile")), root, profile: active };
}

const ENV_ERRORS: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
};

interface EnvFile {
  readonly values: Map<string, string>;
  readonly error?: string | undefined;
}

function readEnvFile(path: string, warnings: string[]): EnvFile {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return { values: new Map() };
    return { values: new Map(), error: `${path} cannot be read: ${ENV_ERRORS[code] ?? message}` };
  }
  const values = parseEnvFile(decodeEnvFile(bytes));
  const cleaned = cleanSecrets(values);
  if (cleaned.length > 0) {
    warnings.push(`${path}: characters that cannot be part of a key were removed from ${cleaned.join(", ")}`);
  }
  return { values };
}

function managerName(word: string): string | null {
  const lower = word.trim().toLowerCase();
  if (["", "0", "false", "no", "off"].includes(lower)) return null;
  if (["true", "1", "yes", "nix", "nixos"].includes(lower)) return "NixOS";
  return lower === "brew" || lower === "homebrew" ? "Homebrew" : word.trim();
}

function managedBy(path: string, env: Host["env"]): string | null {
  const named = managerName(env.HERMES_MANAGED ?? "");
  if (named !== null) return named;
  const marker = join(path, ".managed");
  if (!statSync(marker, { throwIfNoEntry: false })?.isFile()) return null;
  return managerName(readFileSync(marker, "utf8")) ?? "NixOS";
}

/** The source of each environment, so that its `.env` can be read again. */
const sources = new WeakMap<object, { readonly host: Host["env"]; readonly path: string }>();

/** Reads `.env` again, updates the environment of the home, and returns the names that changed. */
export function rereadEnv(home: Home): string[] {
  const source = sources.get(home.env);
  if (!source) return [];
  const env = home.env as { [name: string]: string | undefined };
  const now: { [name: string]: string | undefined } = {
    ...source.host,
    ...Object.fromEntries(readEnvFile(source.path, []).values),
    HERMES_HOME: home.path,
  };
  const changed = [...new Set([...Object.keys(env), ...Object.keys(now)])].filter((name) => env[name] !== now[name]);
  for (const name of changed) {
    if (now[name] === undefined) delete env[name];
    else env[name] = now[name];
  }
  return changed;
}

/** How text may be shown: NO_COLOR and TERM=dumb forbid colours, TERM=dumb and ACCESSIBLE also cursor movement. */
export function displayPreferences(env: Host["env"] = process.env): { noColor: boolean; plain: boolean } {
  const dumb = env.TERM === "dumb";
  const accessible = !["", "0", "false", "no"].includes((env.ACCESSIBLE ?? "").toLowerCase());
  return { noColor: dumb || (env.NO_COLOR ?? "") !== "", plain: dumb || accessible };
}

/** Removes the permissions of other users from the folders and files of the home. Returns what was done. */
export function closeHomeToOthers(home: Home): string {
  return closeFiles(home);
}

/** Files whose modes are checked by every command. */
const SECRET_FILES = [".env", "auth.json", "config.yaml"];

/** Chooses the home and the profile, applies `.env`, and returns the remaining arguments. */
export function openHome(
  argv: readonly string[],
  host: Host = realHost(),
): { home: Home; rest: string[]; warnings: string[] } {
  const { name, rest } = takeProfileFlag(argv);
  const chosen = choose(host, name);
  const warnings: string[] = [];
  if (undoSwitch(chosen.path, RESTORE_JOURNAL))
    warnings.push("an import was interrupted; every file is as it was before. Run `hermes import` again.");
  const file = readEnvFile(join(chosen.path, ".env"), warnings);
  if (file.error !== undefined) warnings.push(file.error);
  const env = {
    ...host.env,
    ...Object.fromEntries(file.values),
    HERMES_HOME: chosen.path,
  };
  sources.set(env, { host: host.env, path: join(chosen.path, ".env") });
  const ownHome = join(chosen.path, "home");
  const manager = managedBy(chosen.path, env);
  tightenFiles({ path: chosen.path, env, managedBy: manager }, SECRET_FILES);
  const home: Home = {
    ...chosen,
    env,
    cwd: host.cwd,
    managedBy: manager,
    childHome: statSync(ownHome, { throwIfNoEntry: false })?.isDirectory() ? ownHome : null,
    envError: file.error,
  };
  return { home, rest, warnings };
}
