// Migrations of config.yaml and `.env` between versions: pure functions that record every key they move or drop.

import { CONFIG_VERSION } from "../core/config/config.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { getAt, type Tree, withAt } from "../lib/json/tree-path.ts";
import { customProviderEntry } from "./legacy.ts";

export interface MigrationState {
  readonly config: Tree;
  /** Names and values of `.env`. */
  readonly env: { readonly [name: string]: string };
  /** User plugins found in the home; version 21 made them opt-in. */
  readonly installedPlugins: readonly string[];
  readonly moved: readonly { readonly from: string; readonly to: string }[];
  readonly dropped: readonly { readonly path: string; readonly reason: string }[];
}

interface Migration {
  /** Runs for files of a lower version. */
  readonly version: number;
  readonly title: string;
  run(state: MigrationState): MigrationState;
}

const split = (path: string) => path.split(".");

function get(state: MigrationState, path: string): unknown {
  return getAt(state.config, split(path));
}

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

/** True when a value on the path is not a map: then the user's value is kept. */
function isBlocked(state: MigrationState, path: string): boolean {
  const keys = split(path);
  return keys.some((_, depth) => {
    const value = depth === 0 ? undefined : getAt(state.config, keys.slice(0, depth));
    return value !== undefined && value !== null && !isRecord(value);
  });
}

function set(state: MigrationState, path: string, value: unknown): MigrationState {
  if (isBlocked(state, path)) return state;
  return { ...state, config: withAt(state.config, split(path), value) as Tree };
}

function without(tree: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path;
  if (key === undefined || !isRecord(tree) || !Object.hasOwn(tree, key)) return tree;
  const copy: Tree = { ...tree };
  if (rest.length === 0) delete copy[key];
  else copy[key] = without(copy[key], rest);
  return copy;
}

function drop(state: MigrationState, path: string, reason: string): MigrationState {
  const config = without(state.config, split(path)) as Tree;
  return { ...state, config, dropped: [...state.dropped, { path, reason }] };
}

/** Moves a value; when the target is set, the old value is dropped with a reason. */
function move(state: MigrationState, from: string, to: string): MigrationState {
  const value = get(state, from);
  if (value === undefined || isBlocked(state, to)) return state;
  if (isBlank(value)) return drop(state, from, "it was empty");
  if (!isBlank(get(state, to))) return drop(state, from, `${to} is set already`);
  const placed = set(state, to, value);
  const config = without(placed.config, split(from)) as Tree;
  return { ...placed, config, moved: [...state.moved, { from, to }] };
}

function blankEnv(state: MigrationState, name: string, reason: string): MigrationState {
  if (isBlank(state.env[name])) return state;
  return {
    ...state,
    env: { ...state.env, [name]: "" },
    dropped: [...state.dropped, { path: `.env ${name}`, reason }],
  };
}

const WHISPER_SIZES = ["tiny", "base", "small", "medium", "large", "large-v2", "large-v3", "turbo", "large-v3-turbo"];

function toolProgress(state: MigrationState): MigrationState {
  if (get(state, "display.tool_progress") !== undefined) return state;
  const mode = state.env.HERMES_TOOL_PROGRESS_MODE || state.env.HERMES_TOOL_PROGRESS || "";
  const word = { true: "all", "1": "all", yes: "all", on: "all", false: "off", "0": "off", no: "off" }[
    mode.toLowerCase()
  ];
  const value = word ?? (["off", "new", "all", "verbose"].includes(mode.toLowerCase()) ? mode.toLowerCase() : "all");
  return set(state, "display.tool_progress", value);
}

function customProviders(state: MigrationState): MigrationState {
  const entries = state.config.custom_providers;
  if (!Array.isArray(entries)) return state;
  let next = state;
  const kept: unknown[] = [];
  for (const [index, entry] of entries.entries()) {
    const converted = customProviderEntry(entry);
    const from = `custom_providers.${index}`;
    if (!converted || isBlocked(next, `providers.${converted.id}`)) kept.push(entry);
    else if (get(next, `providers.${converted.id}`) !== undefined) {
      next = {
        ...next,
        dropped: [...next.dropped, { path: from, reason: `providers.${converted.id} is set already` }],
      };
    } else {
      next = set(next, `providers.${converted.id}`, converted.value);
      next = { ...next, moved: [...next.moved, { from, to: `providers.${converted.id}` }] };
    }
  }
  if (kept.length > 0) return set(next, "custom_providers", kept);
  return { ...next, config: without(next.config, ["custom_providers"]) as Tree };
}

function sttModel(state: MigrationState): MigrationState {
  const model = get(state, "stt.model");
  if (model === undefined) return state;
  const provider = get(state, "stt.provider");
  const service = typeof provider === "string" && provider !== "" ? provider : "local";
  if (service === "local" && !WHISPER_SIZES.includes(String(model))) {
    return drop(state, "stt.model", "it is not a size of the local Whisper model");
  }
  return move(state, "stt.model", `stt.${service}.model`);
}

function progressOverrides(state: MigrationState): MigrationState {
  const overrides = get(state, "display.tool_progress_overrides");
  if (!isRecord(overrides)) return state;
  let next = state;
  for (const name of Object.keys(overrides)) {
    next = move(next, `display.tool_progress_overrides.${name}`, `display.platforms.${name}.tool_progress`);
  }
  const left = get(next, "display.tool_progress_overrides");
  if (isRecord(left) && Object.keys(left).length > 0) return next;
  return { ...next, config: without(next.config, ["display", "tool_progress_overrides"]) as Tree };
}

function seedPlugins(state: MigrationState): MigrationState {
  if (Array.isArray(get(state, "plugins.enabled"))) return state;
  const disabled = get(state, "plugins.disabled");
  const off = Array.isArray(disabled) ? disabled : [];
  return set(
    state,
    "plugins.enabled",
    state.installedPlugins.filter((name) => !off.includes(name)),
  );
}

function seedCurator(state: MigrationState): MigrationState {
  let next = state;
  const seeds: readonly (readonly [string, unknown])[] = [
    ["curator.enabled", true],
    ["curator.interval_hours", 168],
    ["auxiliary.curator.provider", "auto"],
    ["auxiliary.curator.timeout", 600],
  ];
  for (const [path, value] of seeds) if (get(next, path) === undefined) next = set(next, path, value);
  return next;
}

function seed(path: string, value: unknown) {
  return (state: MigrationState) => (get(state, path) === undefined ? set(state, path, value) : state);
}

export const migrations: readonly Migration[] = [
  { version: 4, title: "tool progress is a setting", run: toolProgress },
  {
    version: 5,
    title: "the time zone is a setting",
    run: (state) => {
      const zone = state.env.HERMES_TIMEZONE;
      return isBlank(get(state, "timezone")) && !isBlank(zone) ? set(state, "timezone", zone) : state;
    },
  },
  {
    version: 9,
    title: "the old Anthropic token is cleared",
    run: (state) => blankEnv(state, "ANTHROPIC_TOKEN", "it belonged to a sign-in that no longer exists"),
  },
  { version: 12, title: "custom_providers becomes providers", run: customProviders },
  {
    version: 13,
    title: "model names are removed from .env",
    run: (state) => {
      const reason = "the model is chosen in config.yaml";
      return blankEnv(blankEnv(state, "LLM_MODEL", reason), "OPENAI_MODEL", reason);
    },
  },
  { version: 14, title: "stt.model moves to its service", run: sttModel },
  { version: 15, title: "interim messages are on", run: seed("display.interim_assistant_messages", true) },
  { version: 16, title: "tool progress by platform", run: progressOverrides },
  {
    version: 17,
    title: "the summariser becomes a side task",
    run: (state) =>
      ["model", "provider", "base_url"].reduce(
        (next, key) => move(next, `compression.summary_${key}`, `auxiliary.compression.${key}`),
        state,
      ),
  },
  { version: 21, title: "plugins are opt-in; installed ones stay enabled", run: seedPlugins },
  { version: 23, title: "the curator has settings", run: seedCurator },
];

/** The version of a file; a file without one counts as current. */
export function readVersion(config: { readonly [key: string]: unknown }): number {
  const version = config._config_version;
  return typeof version === "number" && Number.isInteger(version) ? version : CONFIG_VERSION;
}

/** Runs every step newer than the version of the file and sets the new version. */
export function migrate(start: Pick<MigrationState, "config" | "env" | "installedPlugins">): {
  state: MigrationState;
  steps: readonly string[];
} {
  const from = readVersion(start.config);
  const due = migrations.filter(({ version }) => version > from);
  let state: MigrationState = { ...start, moved: [], dropped: [] };
  for (const step of due) state = step.run(state);
  if (from < CONFIG_VERSION) state = set(state, "_config_version", CONFIG_VERSION);
  return { state, steps: due.map(({ title }) => title) };
}
