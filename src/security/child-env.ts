// Builds the environment of child processes: without secrets, plus the variables that were declared explicitly.
import { holdsSecret, isOrdinaryVariable } from "./child-env-names.ts";
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

/** `MYAPP_*` matches every name with that start. */
function isChosen(name: string, chosen: readonly string[]): boolean {
  return chosen.some((entry) => (entry.endsWith("*") ? name.startsWith(entry.slice(0, -1)) : entry === name));
}

/** Copies the allowed variables; declared and forced names are added by their own rules. */
function filtered(
  env: Environment,
  options: ChildEnvOptions,
  passes: (name: string, value: string) => boolean,
): Record<string, string> {
  const child: Record<string, string> = {};
  const declared = new Set((options.declared ?? []).filter((name) => !isBlocked(name, options)));
  const chosen = options.passthrough ?? [];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (name.startsWith(FORCED)) child[name.slice(FORCED.length)] = value;
    else if (passes(name, value) || declared.has(name) || isChosen(name, chosen)) child[name] ??= value;
  }
  if (options.home) child.HOME = options.home;
  return child;
}

/** For commands that the model chooses: a list of ordinary variables, plus what the user and loaded skills declare. */
export function terminalEnv(env: Environment, options: ChildEnvOptions): Record<string, string> {
  return filtered(env, options, (name, value) => !isBlocked(name, options) && isOrdinaryVariable(name, value));
}

/** For programs that the user configured, such as hooks and quick commands: everything except secrets and Hermes' settings. */
export function configuredEnv(env: Environment, options: ChildEnvOptions): Record<string, string> {
  return filtered(
    env,
    options,
    (name, value) => !isBlocked(name, options) && !isSecretName(name) && !holdsSecret(value),
  );
}

/** For programs of `execute_code`: only the variables that a program needs to start. */
export function codeEnv(env: Environment, options: ChildEnvOptions): Record<string, string> {
  return filtered(env, options, (name, value) => {
    if (isBlocked(name, options) || CODE_SECRET.test(name) || holdsSecret(value)) return false;
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
