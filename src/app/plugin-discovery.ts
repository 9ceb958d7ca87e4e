// Finds plugins in their four places by their manifests. No plugin code is read here.
import { existsSync, readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { PluginManifest } from "../core/plugin.ts";
import { parseJson } from "../lib/parse-json.ts";
import type { Home } from "./home.ts";
import { PluginCache } from "./plugin-cache.ts";
import { readManifest } from "./plugin-manifest.ts";

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

const MANIFESTS = ["plugin.yaml", "plugin.yml"];
const ENTRIES = ["index.js", "index.mjs", "index.ts", "plugin.js", "plugin.mjs", "plugin.ts", "dist/index.js"];
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

function stampOf(...infos: (Stats | undefined)[]): string {
  return infos.map((info) => (info ? `${Math.round(info.mtimeMs)}-${info.size}` : "none")).join("+");
}

function stat(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** The entry file, inside the folder; a path that leads out of it counts as missing. */
function findEntry(dir: string, main: string | undefined): string | null {
  for (const name of main ? [main] : ENTRIES) {
    const path = resolve(dir, name);
    if (path.startsWith(dir + sep) && stat(path)?.isFile()) return path;
  }
  return null;
}

async function parseManifest(file: string): Promise<unknown> {
  const text = readFileSync(file, "utf8");
  if (file.endsWith(".json")) return packageManifest(parseJson(text), dirname(file));
  const yaml = (await import("yaml")).default;
  try {
    return yaml.parse(text);
  } catch {
    return "broken";
  }
}

/** The `hermes` field of package.json: a map, or the path of a plugin.yaml; name, version and texts come from the package. */
async function packageManifest(raw: unknown, dir: string): Promise<unknown> {
  const pack = (raw ?? {}) as { readonly [key: string]: unknown };
  const field = pack.hermes;
  const inner = typeof field === "string" ? await parseManifest(resolve(dir, field)) : field;
  const author = pack.author as { name?: unknown } | string | undefined;
  return {
    name: typeof pack.name === "string" ? pack.name.replace(/^@[^/]+\//, "") : undefined,
    version: pack.version,
    description: pack.description,
    author: typeof author === "object" ? author?.name : author,
    main: typeof pack.main === "string" ? pack.main : exportOf(pack.exports),
    ...(inner !== null && typeof inner === "object" ? inner : {}),
  };
}

function exportOf(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  if (exports === null || typeof exports !== "object") return undefined;
  const map = exports as { readonly [key: string]: unknown };
  return exportOf(map["."] ?? map.import ?? map.default);
}

interface Place {
  readonly source: PluginSource;
  readonly dir: string;
  readonly file: string;
  /** Of the manifest; asked for once, because start-up pays for every question. */
  readonly info: Stats;
  readonly category?: string;
}

async function readPlugin(place: Place, cache: PluginCache): Promise<FoundPlugin> {
  const { dir, file, source, category, info } = place;
  const kept = cache.manifest(file, stampOf(info));
  let entryInfo = kept?.entry ? stat(kept.entry) : undefined;
  // An entry file that came or went says nothing to the manifest's own time.
  const known = kept?.entry && entryInfo ? kept : undefined;
  const cached = known ?? (await freshManifest(place, stampOf(info)));
  const { manifest, entry } = cached;
  if (!known) {
    cache.keepManifest(file, cached);
    entryInfo = entry ? stat(entry) : undefined;
  }
  return {
    key: category ? `${category}/${basename(dir)}` : manifest.name,
    source,
    dir,
    entry,
    manifest,
    stamp: stampOf(info, entryInfo),
  };
}

async function freshManifest(place: Place, stamp: string) {
  const { dir, file, category } = place;
  const manifest = readManifest(await parseManifest(file), {
    folder: basename(dir),
    ...(category ? { category } : {}),
  });
  return { stamp, manifest, entry: findEntry(dir, manifest.main) };
}

function manifestIn(dir: string): Pick<Place, "dir" | "file" | "info"> | undefined {
  for (const name of MANIFESTS) {
    const file = join(dir, name);
    const info = stat(file);
    if (info?.isFile()) return { dir, file, info };
  }
  return undefined;
}

function folders(root: string): string[] {
  if (!stat(root)?.isDirectory()) return [];
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => !/^[._]|^node_modules$/.test(entry.name) && (entry.isDirectory() || entry.isSymbolicLink()))
    .map((entry) => entry.name)
    .sort();
}

/** A folder with a manifest is a plugin; one without is a category and is searched one level deeper, no further. */
function placesIn(root: string, source: PluginSource): Place[] {
  const places: Place[] = [];
  for (const category of folders(root)) {
    const dir = join(root, category);
    const flat = manifestIn(dir);
    if (flat) {
      places.push({ source, ...flat });
      continue;
    }
    for (const inner of folders(dir)) {
      const nested = manifestIn(join(dir, inner));
      if (nested) places.push({ source, category, ...nested });
    }
  }
  return places;
}

/** Packages that were installed on purpose, not what they depend on: the home's own package.json lists them. */
function packagePlaces(root: string): Place[] {
  const own = join(root, "package.json");
  if (!stat(own)) return [];
  const { dependencies } = (parseJson(readFileSync(own, "utf8")) ?? {}) as { dependencies?: object };
  return Object.keys(dependencies ?? {}).flatMap((name): Place[] => {
    const dir = join(root, "node_modules", name);
    const file = join(dir, "package.json");
    const info = stat(file);
    if (!info) return [];
    const { hermes } = (parseJson(readFileSync(file, "utf8")) ?? {}) as { hermes?: unknown };
    return hermes === undefined ? [] : [{ source: "npm", dir, file, info }];
  });
}

/** Every plugin that can be found, by key. Among memory providers a bundled one keeps its name. */
export async function discoverPlugins(home: Home, cache: PluginCache): Promise<Map<string, FoundPlugin>> {
  const bundled = bundledRoot(home);
  const own = join(home.path, "plugins");
  const project = TRUE.test(home.env.HERMES_ENABLE_PROJECT_PLUGINS ?? "");
  const places = [
    ...(bundled ? placesIn(bundled, "bundled") : []),
    ...placesIn(own, "home"),
    ...(project ? placesIn(join(home.cwd, ".hermes", "plugins"), "project") : []),
    ...packagePlaces(own),
  ];
  const found = new Map<string, FoundPlugin>();
  for (const place of places) {
    const plugin = await readPlugin(place, cache);
    const before = found.get(plugin.key);
    if (before?.source === "bundled" && before.manifest.kind === "memory") continue;
    found.delete(plugin.key);
    found.set(plugin.key, plugin);
  }
  return found;
}

/** One folder as a plugin, wherever it lies; undefined when it has no manifest. */
export async function readPluginFolder(dir: string, home: Home): Promise<FoundPlugin | undefined> {
  const place = manifestIn(dir);
  return place ? readPlugin({ source: "home", ...place }, PluginCache.open(home.path)) : undefined;
}
