// The settings of a home, read from config.yaml, `.env` and the environment.
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { isAccepted } from "../core/config/accepted.ts";
import { CONFIG_VERSION, findNode } from "../core/config/config.ts";
import { parseEnvFile } from "../core/config/env-file.ts";
import { isSecretKey, maskSecret, maskTree } from "../core/config/mask.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { LoadedConfig, SettingRow, Settings } from "../core/settings.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { getAt, leaves, splitPath } from "../lib/json/tree-path.ts";
import { suggestKey } from "./check.ts";
import { envPath, setEnvValue } from "./env-write.ts";
import { type ConfigCache, configPath, loadConfig } from "./load.ts";
import { changeSetting, removeSetting } from "./settings-change.ts";
import { migrateHome } from "./settings-migrate.ts";
import { readText, refuseWhenManaged } from "./write.ts";

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

function findSource(path: readonly string[], loaded: LoadedConfig, defaults: LoadedConfig): SettingRow["from"] {
  const value = JSON.stringify(getAt(loaded.config, path));
  if (JSON.stringify(getAt(defaults.config, path)) === value) return "default";
  return loaded.fromEnvironment.includes(path.join(".")) ? "environment" : "config.yaml";
}

function loadDefaults(): Promise<LoadedConfig> {
  return loadConfig({ home: { path: "", env: { HERMES_IGNORE_USER_CONFIG: "1" } } });
}

async function listRows(loaded: LoadedConfig): Promise<SettingRow[]> {
  const defaults = await loadDefaults();
  return leaves(loaded.config).map(({ path, value }) => ({
    path: path.join("."),
    value: maskTree(value, path.at(-1) ?? ""),
    from: findSource(path, loaded, defaults),
  }));
}

/** Hermes Agent v0.14 writes every default into the file: only other values are a choice of the user. */
async function settingsWithoutEffect({ raw }: LoadedConfig): Promise<string[]> {
  const { config: defaults } = await loadDefaults();
  return leaves(raw)
    .filter(({ path, value }) => isAccepted(path) && !isDeepStrictEqual(value, getAt(defaults, path)))
    .map(({ path }) => path.join("."));
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
  const hint =
    "Nothing was started. Correct it with `hermes config edit`; `hermes config check` lists the remaining mistakes.";
  if (first?.path === "") throw new UserError(`${first.message} (${configPath(home)})`, { hint });
  if (home.envError !== undefined)
    throw new UserError(home.envError, { hint: "Nothing was started. Make it readable." });
  if (!first) return;
  const lines = blocking.map(({ message, line }) => {
    const what = message.replace(/; (?:using [^;]*|ignored)$/, "");
    return line === undefined ? what : `${what} (line ${line} of config.yaml)`;
  });
  throw new UserError(
    `the configuration has a mistake that affects security or the choice of the model: ${lines.join("; ")}`,
    { hint },
  );
}

export function openSettings(home: Home): Settings {
  const cache: ConfigCache = {};
  const inspect: Settings["inspect"] = () => loadConfig({ home, cache });
  const load: Settings["load"] = async (overrides) => {
    const loaded = await loadConfig({ home, cache, overrides });
    requireUsable(home, loaded);
    return loaded;
  };
  return {
    path: configPath(home),
    envPath: envPath(home),
    load,
    inspect,
    get: async (path, options) => lookUp(home, await inspect(), path, options?.reveal ?? false),
    set: async (path, text, options) => changeSetting(home, (await inspect()).raw, { path, text, ...options }),
    setEnv: (name, value) => setEnvValue(home, name, value),
    unset: async (path) => removeSetting(home, (await inspect()).raw, path),
    rows: async () => listRows(await inspect()),
    secrets: () => listSecrets(home),
    check: async () => {
      const loaded = await inspect();
      return {
        problems: loaded.warnings,
        withoutEffect: await settingsWithoutEffect(loaded),
        version: loaded.config._config_version,
        newest: CONFIG_VERSION,
      };
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
