// Builds the environment of child processes: without secrets, plus the variables that were declared explicitly.
import { isSecretName } from "./secret-names.ts";

export type Environment = { readonly [name: string]: string | undefined };

export interface ChildEnvOptions {
  /** Names that are never passed on: keys, base URLs and settings of providers, tools and platforms. */
  readonly blocked: ReadonlySet<string>;
  /** Declared by a loaded skill; refused when blocked. */
  readonly declared?: readonly string[] | undefined;
  /** `terminal.env_passthrough`: set by the user, overrides `blocked`. */
  readonly passthrough?: readonly string[] | undefined;
  /** HOME of the profile, when the profile has one. */
  readonly home?: string | null | undefined;
}

const FORCED = "_HERMES_FORCE_";
const ALWAYS_BLOCKED = new Set([
  "SUDO_PASSWORD",
  "GITHUB_TOKEN",
  "GH_TOKEN",
  "MODAL_TOKEN_ID",
  "MODAL_TOKEN_SECRET",
  "DAYTONA_API_KEY",
  "VERCEL_TOKEN",
]);
const CODE_PREFIXES = [
  "PATH",
  "HOME",
  "USER",
  "LANG",
  "LC_",
  "TERM",
  "TMPDIR",
  "TMP",
  "TEMP",
  "SHELL",
  "LOGNAME",
  "XDG_",
  "PYTHONPATH",
  "VIRTUAL_ENV",
  "CONDA",
  "HERMES_",
];
const WINDOWS = [
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "APPDATA",
  "LOCALAPPDATA",
  "USERPROFILE",
  "PROGRAMDATA",
  "PROGRAMFILES",
];
const CODE_SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|PASSWD|AUTH/i;

function isBlocked(name: string, options: ChildEnvOptions): boolean {
  return options.blocked.has(name) || ALWAYS_BLOCKED.has(name) || name.startsWith(FORCED);
}

/** Copies the allowed variables; declared and forced names are added by their own rules. */
function filtered(
  env: Environment,
  options: ChildEnvOptions,
  passes: (name: string) => boolean,
): Record<string, string> {
  const child: Record<string, string> = {};
  const declared = new Set((options.declared ?? []).filter((name) => !isBlocked(name, options)));
  const chosen = new Set(options.passthrough ?? []);
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (name.startsWith(FORCED)) child[name.slice(FORCED.length)] = value;
    else if (passes(name) || declared.has(name) || chosen.has(name)) child[name] ??= value;
  }
  if (options.home) child.HOME = options.home;
  return child;
}

/** For terminal commands, foreground and background: everything except secrets, which are recognised by list and by name. */
export function terminalEnv(env: Environment, options: ChildEnvOptions): Record<string, string> {
  return filtered(env, options, (name) => !isBlocked(name, options) && !isSecretName(name));
}

/** For programs of `execute_code`: only the variables that a program needs to start. */
export function codeEnv(env: Environment, options: ChildEnvOptions): Record<string, string> {
  return filtered(env, options, (name) => {
    if (isBlocked(name, options) || CODE_SECRET.test(name)) return false;
    return CODE_PREFIXES.some((prefix) => name.startsWith(prefix)) || WINDOWS.includes(name.toUpperCase());
  });
}

/** For containers, which inherit nothing: only explicit values and forwarded names; these override the block list. */
export function containerEnv(
  env: Environment,
  explicit: { readonly values: { readonly [name: string]: string }; readonly forward: readonly string[] },
): Record<string, string> {
  const child: Record<string, string> = {};
  for (const name of explicit.forward) {
    const value = env[name];
    if (value !== undefined) child[name] = value;
  }
  return { ...child, ...explicit.values };
}
