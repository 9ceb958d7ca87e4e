// A plugin as listings show it: what its manifest says, whether it runs, what it brings and what is wrong.
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
  readonly provides: { readonly [sort: string]: readonly string[] };
  readonly loadMs?: number | undefined;
}

/** What the host knows of one that runs. */
export interface LoadedPlugins {
  readonly problem: string | undefined;
  readonly known: Registrations | undefined;
  readonly ms: number | undefined;
}

function noEntry(plugin: FoundPlugin): string | undefined {
  return plugin.manifest.modelProviders.length > 0 ? undefined : "it has no entry file (index.js, index.mjs, index.ts)";
}

export function pluginRow(
  plugin: FoundPlugin,
  where: { home: Home; config: Config },
  running?: LoadedPlugins,
): PluginRow {
  const { manifest } = plugin;
  const problem = running?.problem ?? manifestProblem(plugin) ?? (plugin.entry ? undefined : noEntry(plugin));
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
    ...(problem ? { problem } : {}),
    remarks: manifest.problems,
    missingEnv: manifest.requiresEnv.map(({ name }) => name).filter((name) => !where.home.env[name]),
    ...(running?.known ? { registrations: running.known } : {}),
    provides: manifest.provides,
    ...(running?.ms === undefined ? {} : { loadMs: running.ms }),
  };
}
