// Finds plugins by their manifests in four locations. An index avoids reading them again while nothing has changed.
import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Home } from "../core/home.ts";
import type { PluginManifest } from "../core/plugin.ts";
import { fileStamp, modifiedTime } from "./file-stamp.ts";
import type { CachedPlugin, CachedRoot, PluginCache } from "./plugin-cache.ts";

/** In order of precedence: a plugin of a later source replaces one of an earlier source with the same key. */
export type PluginSource = "bundled" | "home" | "project" | "npm";

export interface FoundPlugin {
  /** The name in the manifest, or `<category>/<folder>` for plugins in a category. */
  readonly key: string;
  readonly source: PluginSource;
  readonly dir: string;
  /** Null when the folder has no entry file that can be run. */
  readonly entry: string | null;
  readonly manifest: PluginManifest;
  /** Changes when the manifest or the entry file does. */
  readonly stamp: string;
}

const TRUE = /^(1|true|yes|on)$/i;
/** A file by which the bundled plugins folder is recognized. */
const BUNDLED_FILE = join("memory", "holographic", "plugin.yaml");
const MAX_LEVELS = 8;

/** The folder of the bundled plugins: `plugins/` beside `src` or `dist`. */
export function bundledRoot(home: Home): string | undefined {
  if (home.env.HERMES_BUNDLED_PLUGINS) return resolve(home.env.HERMES_BUNDLED_PLUGINS);
  let folder = dirname(fileURLToPath(import.meta.url));
  for (let level = 0; level < MAX_LEVELS; level++) {
    const candidate = join(folder, "plugins");
    if (existsSync(join(candidate, BUNDLED_FILE))) return candidate;
    folder = dirname(folder);
  }
  return undefined;
}

function pluginRoots(home: Home): { readonly source: PluginSource; readonly path: string }[] {
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

function toFoundPlugin(source: PluginSource, plugin: CachedPlugin): FoundPlugin {
  const { key, dir, entry, manifest } = plugin;
  const code = entry === null ? undefined : statSync(entry, { throwIfNoEntry: false });
  return { key, source, dir, entry, manifest, stamp: `${plugin.stamp}+${fileStamp(code)}` };
}

/** True while no folder and no manifest has changed. */
function isCurrent(root: CachedRoot): boolean {
  return (
    root.folders.every(([folder, time]) => modifiedTime(folder) === time) &&
    root.plugins.every(({ file, stamp }) => fileStamp(statSync(file, { throwIfNoEntry: false })) === stamp)
  );
}

async function pluginsIn(source: PluginSource, path: string, cache: PluginCache): Promise<FoundPlugin[]> {
  const known = cache.root(path);
  if (known && isCurrent(known)) {
    const found = known.plugins.map((plugin) => toFoundPlugin(source, plugin));
    if (found.every(({ entry, stamp }) => entry === null || !stamp.endsWith("+none"))) return found;
  }
  const { scanRoot } = await import("./scan-folders.ts");
  const scanned = await scanRoot(path, known);
  cache.setRoot(path, scanned);
  return scanned.plugins.map((plugin) => toFoundPlugin(source, plugin));
}

/** All plugins by key. A bundled memory provider cannot be replaced. */
export async function discoverPlugins(home: Home, cache: PluginCache): Promise<Map<string, FoundPlugin>> {
  const found = new Map<string, FoundPlugin>();
  for (const { source, path } of pluginRoots(home)) {
    for (const plugin of await pluginsIn(source, path, cache)) {
      const before = found.get(plugin.key);
      if (before?.source === "bundled" && before.manifest.kind === "memory") continue;
      found.delete(plugin.key);
      found.set(plugin.key, plugin);
    }
  }
  return found;
}

/** Reads the plugin in a folder; undefined when it has no manifest. */
export async function readPluginFolder(dir: string): Promise<FoundPlugin | undefined> {
  const { scanFolder } = await import("./scan-folders.ts");
  const plugin = await scanFolder(dir);
  return plugin && toFoundPlugin("home", plugin);
}
