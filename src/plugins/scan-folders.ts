// Scans folders for plugins and reads their manifests. Slow, so it is only done when something has changed.
import { readdirSync, readFileSync, type Stats, statSync } from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import type { PluginManifest } from "../core/plugin.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { fileStamp, modifiedTime } from "./file-stamp.ts";
import { readManifest } from "./manifest.ts";
import type { CachedPlugin, CachedRoot } from "./plugin-cache.ts";

const MANIFESTS = ["plugin.yaml", "plugin.yml"];
const ENTRIES = ["index.js", "index.mjs", "index.ts", "plugin.js", "plugin.mjs", "plugin.ts", "dist/index.js"];
/** A folder that changed this recently may change again without a new modification time, so it is scanned again next time. */
const RECENT_MS = 2_000;

function stat(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}

/** The entry file. A path outside the folder is ignored. */
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
    main: typeof pack.main === "string" ? pack.main : mainExport(pack.exports),
    ...(isRecord(inner) ? inner : {}),
  };
}

function mainExport(exports: unknown): string | undefined {
  if (typeof exports === "string") return exports;
  return isRecord(exports) ? mainExport(exports["."] ?? exports.import ?? exports.default) : undefined;
}

interface ManifestFile {
  readonly dir: string;
  readonly file: string;
  readonly info: Stats;
  readonly category?: string | undefined;
}

function findManifest(dir: string): ManifestFile | undefined {
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

/** A folder with a manifest is a plugin; a folder without one is a category with plugins directly below it. */
function findManifests(root: string, watched: string[]): ManifestFile[] {
  const found: ManifestFile[] = [];
  for (const category of folders(root)) {
    const dir = join(root, category);
    const flat = findManifest(dir);
    if (flat) {
      found.push(flat);
      continue;
    }
    watched.push(dir);
    for (const inner of folders(dir)) {
      const nested = findManifest(join(dir, inner));
      if (nested) found.push({ ...nested, category });
      else watched.push(join(dir, inner));
    }
  }
  return found;
}

/** The packages that package.json lists, without their dependencies. */
function findPackages(own: string): ManifestFile[] {
  if (!stat(own)) return [];
  const { dependencies } = (parseJson(readFileSync(own, "utf8")) ?? {}) as { dependencies?: object | undefined };
  return Object.keys(dependencies ?? {}).flatMap((name): ManifestFile[] => {
    const dir = join(dirname(own), "node_modules", name);
    const file = join(dir, "package.json");
    const info = stat(file);
    if (!info) return [];
    const { hermes } = (parseJson(readFileSync(file, "utf8")) ?? {}) as { hermes?: unknown };
    return hermes === undefined ? [] : [{ dir, file, info }];
  });
}

/** A manifest that has not changed since the last scan is not read again. */
async function readPlugin(found: ManifestFile, before: CachedRoot | undefined): Promise<CachedPlugin> {
  const { dir, file, info, category } = found;
  const stamp = fileStamp(info);
  const known = before?.plugins.find((plugin) => plugin.file === file && plugin.stamp === stamp);
  const where = { folder: basename(dir), category };
  const manifest: PluginManifest = known?.manifest ?? readManifest(await parseManifest(file), where);
  const entry = findEntry(dir, manifest.main);
  return { dir, file, stamp, manifest, entry, key: category ? `${category}/${where.folder}` : manifest.name };
}

function stableTime(path: string): number {
  const time = modifiedTime(path);
  return time > Date.now() - RECENT_MS ? 0 : time;
}

/** `root` is a folder of plugins, or the package.json that lists packages. */
export async function scanRoot(root: string, before?: CachedRoot): Promise<CachedRoot> {
  const packages = basename(root) === "package.json";
  const watched = [root, ...(packages ? [join(dirname(root), "node_modules", ".package-lock.json")] : [])];
  const manifests = packages ? findPackages(root) : findManifests(root, watched);
  const plugins = await Promise.all(manifests.map((manifest) => readPlugin(manifest, before)));
  for (const plugin of plugins) if (plugin.entry === null) watched.push(plugin.dir);
  return { folders: watched.map((path) => [path, stableTime(path)] as const), plugins };
}

/** Reads the plugin in a folder; undefined when it has no manifest. */
export async function scanFolder(dir: string): Promise<CachedPlugin | undefined> {
  const manifest = findManifest(dir);
  return manifest && readPlugin(manifest, undefined);
}
