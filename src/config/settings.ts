// The settings of a home as surfaces use them: load, look up, change, check, migrate.
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { CONFIG_VERSION, findNode } from "../core/config/config.ts";
import { parseEnvFile } from "../core/config/env-file.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { suggestKey } from "./check.ts";
import { envPath, setEnvValue } from "./env-write.ts";
import { type ConfigCache, configPath, type LoadedConfig, loadConfig } from "./load.ts";
import { isSecretKey, maskSecret, maskTree } from "./mask.ts";
import { getAt, leaves, splitPath } from "./path.ts";
import { type ChangeOutcome, changeSetting, removeSetting } from "./settings-change.ts";
import { type MigrationReport, migrateHome } from "./settings-migrate.ts";
import type { ConfigWarning } from "./warning.ts";
import { readText, refuseWhenManaged } from "./write.ts";

export interface SettingRow {
  readonly path: string;
  /** The effective value; secrets masked. */
  readonly value: unknown;
  /** Who set it. */
  readonly from: "config.yaml" | "environment" | "default";
}

export interface SettingsCheck {
  readonly problems: readonly ConfigWarning[];
  /** Version of the file's layout, and the newest one. */
  readonly version: number;
  readonly newest: number;
}

export interface Settings {
  readonly path: string;
  readonly envPath: string;
  /**
   * The effective configuration, for whoever acts on it. Throws UserError when config.yaml or .env cannot be read, or a
   * setting of security or of the model is wrong: the defaults must not stand in for what the person decided.
   */
  load(overrides?: { readonly [key: string]: unknown }): Promise<LoadedConfig>;
  /** The same for showing and repairing it: never throws, the defaults stand in for what cannot be read. */
  look(): Promise<LoadedConfig>;
  /** The value at a dotted path; secrets masked unless `reveal`. Throws UserError for a path that does not exist. */
  get(path: string, options?: { reveal?: boolean | undefined }): Promise<unknown>;
  /** Sets one key from text, checked first; secrets go to `.env`. Throws UserError and changes nothing when it is wrong. */
  set(path: string, text: string, options?: { force?: boolean | undefined }): Promise<ChangeOutcome>;
  /** Takes one key out of config.yaml or `.env`; no change when it is not there. */
  unset(path: string): Promise<void>;
  /** Every effective value with its origin, secrets masked. */
  rows(): Promise<readonly SettingRow[]>;
  /** Names of secrets that `.env` sets, with masked values. */
  secrets(): Promise<readonly { readonly name: string; readonly value: string }[]>;
  check(): Promise<SettingsCheck>;
  /** Makes sure that config.yaml may be edited and exists, readable by its owner only. */
  prepareEdit(): Promise<void>;
  migrate(): Promise<MigrationReport>;
}

function lookUp(home: Home, loaded: LoadedConfig, path: string, reveal: boolean): unknown {
  const keys = splitPath(path);
  const value = keys.length === 1 && /^[A-Z][A-Z0-9_]+$/.test(path) ? home.env[path] : getAt(loaded.config, keys);
  if (value === undefined) {
    const { node, free } = findNode(keys);
    const exists = node !== undefined || free || /^[A-Z][A-Z0-9_]+$/.test(path);
    const guess = exists ? undefined : suggestKey(keys);
    throw new UserError(
      exists ? `${path} is not set` : `${path} is not a known key${guess ? `; did you mean ${guess}?` : ""}`,
      { hint: "See all keys: hermes config show --all", exitCode: exists ? 1 : 2 },
    );
  }
  return reveal ? value : maskTree(value, keys.at(-1) ?? "");
}

function originOf(path: readonly string[], loaded: LoadedConfig, defaults: LoadedConfig): SettingRow["from"] {
  const value = JSON.stringify(getAt(loaded.config, path));
  if (JSON.stringify(getAt(defaults.config, path)) === value) return "default";
  return loaded.fromEnvironment.includes(path.join(".")) ? "environment" : "config.yaml";
}

async function listRows(loaded: LoadedConfig): Promise<SettingRow[]> {
  const defaults = await loadConfig({ home: { path: "", env: { HERMES_IGNORE_USER_CONFIG: "1" } } });
  return leaves(loaded.config).map(({ path, value }) => ({
    path: path.join("."),
    value: maskTree(value, path.at(-1) ?? ""),
    from: originOf(path, loaded, defaults),
  }));
}

async function listSecrets(home: Home): Promise<{ name: string; value: string }[]> {
  const values = parseEnvFile(await readText(envPath(home)));
  return [...values]
    .filter(([name, value]) => value !== "" && isSecretKey(name))
    .map(([name, value]) => ({ name, value: maskSecret(value) }));
}

async function pluginFolders(home: Home): Promise<string[]> {
  const entries = await readdir(join(home.path, "plugins"), { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** Throws when the configuration must not be acted on. */
export function requireUsable(home: Home, { blocking }: LoadedConfig): void {
  const [first] = blocking;
  const hint = "Nothing was started. Correct it with `hermes config edit`; `hermes config check` says what is left.";
  if (first?.path === "") throw new UserError(`${first.message} (${configPath(home)})`, { hint });
  if (home.envError !== undefined)
    throw new UserError(home.envError, { hint: "Nothing was started. Make it readable." });
  if (!first) return;
  const lines = blocking.map(({ message, line }) => {
    const what = message.replace(/; (?:using [^;]*|left out)$/, "");
    return line === undefined ? what : `${what} (line ${line} of config.yaml)`;
  });
  throw new UserError(
    `the configuration has a mistake that could change what may be done or who answers: ${lines.join("; ")}`,
    { hint },
  );
}

export function openSettings(home: Home): Settings {
  const cache: ConfigCache = {};
  const look: Settings["look"] = () => loadConfig({ home, cache });
  const load: Settings["load"] = async (overrides) => {
    const loaded = await loadConfig({ home, cache, ...(overrides ? { overrides } : {}) });
    requireUsable(home, loaded);
    return loaded;
  };
  return {
    path: configPath(home),
    envPath: envPath(home),
    load,
    look,
    get: async (path, options) => lookUp(home, await look(), path, options?.reveal ?? false),
    set: async (path, text, options) => changeSetting(home, (await look()).raw, { path, text, ...options }),
    unset: async (path) => removeSetting(home, (await look()).raw, path),
    rows: async () => listRows(await look()),
    secrets: () => listSecrets(home),
    check: async () => {
      const { warnings, config } = await look();
      return { problems: warnings, version: config._config_version, newest: CONFIG_VERSION };
    },
    prepareEdit: async () => {
      refuseWhenManaged(home, "The configuration");
      const header = "# Hermes settings. Every key: docs/reference/configuration.md\n";
      if ((await readText(configPath(home))) === "") await atomicWrite(configPath(home), header, 0o600);
    },
    migrate: async () => {
      const report = await migrateHome(home, await pluginFolders(home));
      for (const name of report.blanked) await setEnvValue(home, name, "");
      if (report.steps.length > 0) await mkdir(join(home.path, "logs", "curator"), { recursive: true, mode: 0o700 });
      return report;
    },
  };
}
