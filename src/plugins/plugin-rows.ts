// A plugin as a row of a listing: its manifest, its status, its registrations and its problems.
import type { Config } from "../core/config/config.ts";
import type { Home } from "../core/home.ts";
import type { FoundPlugin } from "./discovery.ts";
import type { Registrations } from "./plugin-cache.ts";
import { manifestProblem, type PluginStatus, pluginStatus } from "./plugin-status.ts";

export interface PluginRow {
  readonly key: string;
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  readonly kind: string;
  readonly source: string;
  readonly dir: string;
  readonly status: PluginStatus;
  /** Why it does not work. */
  readonly problem?: string | undefined;
  readonly remarks: readonly string[];
  readonly missingEnv: readonly string[];
  readonly registrations?: Registrations | undefined;
  readonly provides: { readonly [kind: string]: readonly string[] };
  readonly loadMs?: number | undefined;
}

/** The state of a plugin that runs. */
export interface RunningPlugin {
  readonly problem: string | undefined;
  readonly known: Registrations | undefined;
  readonly ms: number | undefined;
}

function missingEntry(plugin: FoundPlugin): string | undefined {
  return plugin.manifest.modelProviders.length > 0 ? undefined : "it has no entry file (index.js, index.mjs, index.ts)";
}

export function pluginRow(
  plugin: FoundPlugin,
  where: { home: Home; config: Config },
  running?: RunningPlugin,
): PluginRow {
  const { manifest } = plugin;
  const problem = running?.problem ?? manifestProblem(plugin) ?? (plugin.entry ? undefined : missingEntry(plugin));
  return {
    key: plugin.key,
    name: manifest.name,
    version: manifest.version,
    description: manifest.description,
    author: manifest.author,
    kind: manifest.kind,
    source: plugin.source,
    dir: plugin.dir,
    status: pluginStatus(plugin, where.config),
    problem,
    remarks: manifest.problems,
    missingEnv: manifest.requiresEnv.map(({ name }) => name).filter((name) => !where.home.env[name]),
    registrations: running?.known,
    provides: manifest.provides,
    loadMs: running?.ms,
  };
}
