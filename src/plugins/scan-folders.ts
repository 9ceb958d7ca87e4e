// Looks through folders for plugins and reads their manifests: the slow way, taken when something has changed.
import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { PluginManifest } from "../core/plugin.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { fileStamp, modifiedTime } from "./file-stamp.ts";
import { readManifest } from "./manifest.ts";
import type { CachedPlugin, CachedRoot } from "./plugin-cache.ts";

const MANIFESTS = ["plugin.yaml", "plugin.yml"];
const ENTRIES = ["index.js", "index.mjs", "index.ts", "plugin.js", "plugin.mjs", "plugin.ts", "dist/index.js"];
/** A folder may change once more within the tick of its clock: younger ones are looked at again the next time. */
const SETTLED_MS = 2_000;

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
  readonly dir: string;
  readonly file: string;
  readonly info: Stats;
  readonly category?: string | undefined;
}

function manifestIn(dir: string): Place | undefined {
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
function placesIn(root: string, watched: string[]): Place[] {
  const places: Place[] = [];
  for (const category of folders(root)) {
    const dir = join(root, category);
    const flat = manifestIn(dir);
    if (flat) {
      places.push(flat);
      continue;
    }
    watched.push(dir);
    for (const inner of folders(dir)) {
      const nested = manifestIn(join(dir, inner));
      if (nested) places.push({ ...nested, category });
      else watched.push(join(dir, inner));
    }
  }
  return places;
}

/** Packages that were installed on purpose, not what they depend on: the package.json above them lists them. */
function packagePlaces(own: string): Place[] {
  if (!stat(own)) return [];
  const { dependencies } = (parseJson(readFileSync(own, "utf8")) ?? {}) as { dependencies?: object | undefined };
  return Object.keys(dependencies ?? {}).flatMap((name): Place[] => {
    const dir = join(dirname(own), "node_modules", name);
    const file = join(dir, "package.json");
    const info = stat(file);
    if (!info) return [];
    const { hermes } = (parseJson(readFileSync(file, "utf8")) ?? {}) as { hermes?: unknown };
    return hermes === undefined ? [] : [{ dir, file, info }];
  });
}

/** What is known of the same file in the same state needs no reading. */
async function readPlace(place: Place, before: CachedRoot | undefined): Promise<CachedPlugin> {
  const { dir, file, info, category } = place;
  const stamp = fileStamp(info);
  const kept = before?.plugins.find((plugin) => plugin.file === file && plugin.stamp === stamp);
  const where = { folder: basename(dir), ...(category ? { category } : {}) };
  const manifest: PluginManifest = kept?.manifest ?? readManifest(await parseManifest(file), where);
  const entry = findEntry(dir, manifest.main);
  return { dir, file, stamp, manifest, entry, key: category ? `${category}/${where.folder}` : manifest.name };
}

function settledTime(path: string): number {
  const time = modifiedTime(path);
  return time > Date.now() - SETTLED_MS ? 0 : time;
}

/** `root` is a folder of plugins, or the package.json that lists packages. */
export async function scanRoot(root: string, before?: CachedRoot): Promise<CachedRoot> {
  const packages = basename(root) === "package.json";
  const watched = [root, ...(packages ? [join(dirname(root), "node_modules", ".package-lock.json")] : [])];
  const places = packages ? packagePlaces(root) : placesIn(root, watched);
  const plugins = await Promise.all(places.map((place) => readPlace(place, before)));
  for (const plugin of plugins) if (plugin.entry === null) watched.push(plugin.dir);
  return { folders: watched.map((path) => [path, settledTime(path)] as const), plugins };
}

/** One folder as a plugin, wherever it lies; undefined when it has no manifest. */
export async function scanFolder(dir: string): Promise<CachedPlugin | undefined> {
  const place = manifestIn(dir);
  return place && readPlace(place, undefined);
}
