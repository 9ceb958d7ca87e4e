// Finds plugins in their four places by their manifests, from an index while nothing has changed. No plugin code is read.
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Home } from "../core/home.ts";
import type { PluginManifest } from "../core/plugin.ts";
import { fileStamp, modifiedTime } from "./file-stamp.ts";
import type { CachedPlugin, CachedRoot, PluginCache } from "./plugin-cache.ts";

/** In order of precedence: a later place wins over an earlier one with the same key. */
export type PluginSource = "bundled" | "home" | "project" | "npm";

export interface FoundPlugin {
  /** The manifest's name, or `<category>/<folder>` for plugins that lie in a category. */
  readonly key: string;
  readonly source: PluginSource;
  readonly dir: string;
  /** Null when the folder has no entry file that we can run. */
  readonly entry: string | null;
  readonly manifest: PluginManifest;
  /** Changes when the manifest or the entry file does. */
  readonly stamp: string;
}

const TRUE = /^(1|true|yes|on)$/i;
/** A file that only our own plugins folder has. */
const LANDMARK = join("memory", "holographic", "plugin.yaml");
const MAX_CLIMB = 8;

/** The plugins that come with the program: `plugins/` beside `src` or `dist`. */
export function bundledRoot(home: Home): string | undefined {
  if (home.env.HERMES_BUNDLED_PLUGINS) return resolve(home.env.HERMES_BUNDLED_PLUGINS);
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let climbed = 0; climbed < MAX_CLIMB; climbed++) {
    const candidate = join(folder, "plugins");
    if (existsSync(join(candidate, LANDMARK))) return candidate;
    folder = dirname(folder);
  }
  return undefined;
}

function roots(home: Home): { readonly source: PluginSource; readonly path: string }[] {
  const bundled = bundledRoot(home);
  const own = join(home.path, "plugins");
  const project = TRUE.test(home.env.HERMES_ENABLE_PROJECT_PLUGINS ?? "");
  return [
    ...(bundled ? [{ source: "bundled", path: bundled } as const] : []),
    { source: "home", path: own },
    ...(project ? [{ source: "project", path: join(home.cwd, ".hermes", "plugins") } as const] : []),
    { source: "npm", path: join(own, "package.json") },
  ];
}

function foundAs(source: PluginSource, plugin: CachedPlugin): FoundPlugin {
  const { key, dir, entry, manifest } = plugin;
  const code = entry === null ? undefined : statSync(entry, { throwIfNoEntry: false });
  return { key, source, dir, entry, manifest, stamp: `${plugin.stamp}+${fileStamp(code)}` };
}

/** True while no folder got or lost a name and no manifest changed. */
function holds(root: CachedRoot): boolean {
  return (
    root.folders.every(([folder, time]) => modifiedTime(folder) === time) &&
    root.plugins.every(({ file, stamp }) => fileStamp(statSync(file, { throwIfNoEntry: false })) === stamp)
  );
}

async function pluginsIn(source: PluginSource, path: string, cache: PluginCache): Promise<FoundPlugin[]> {
  const known = cache.root(path);
  if (known && holds(known)) {
    const found = known.plugins.map((plugin) => foundAs(source, plugin));
    if (found.every(({ entry, stamp }) => entry === null || !stamp.endsWith("+none"))) return found;
  }
  const { scanRoot } = await import("./scan-folders.ts");
  const fresh = await scanRoot(path, known);
  cache.setRoot(path, fresh);
  return fresh.plugins.map((plugin) => foundAs(source, plugin));
}

/** Every plugin that can be found, by key. Among memory providers a bundled one keeps its name. */
export async function discoverPlugins(home: Home, cache: PluginCache): Promise<Map<string, FoundPlugin>> {
  const found = new Map<string, FoundPlugin>();
  for (const { source, path } of roots(home)) {
    for (const plugin of await pluginsIn(source, path, cache)) {
      const before = found.get(plugin.key);
      if (before?.source === "bundled" && before.manifest.kind === "memory") continue;
      found.delete(plugin.key);
      found.set(plugin.key, plugin);
    }
  }
  return found;
}

/** One folder as a plugin, wherever it lies; undefined when it has no manifest. */
export async function readPluginFolder(dir: string): Promise<FoundPlugin | undefined> {
  const { scanFolder } = await import("./scan-folders.ts");
  const plugin = await scanFolder(dir);
  return plugin && foundAs("home", plugin);
}
