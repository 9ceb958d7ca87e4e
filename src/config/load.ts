// Loads the effective configuration: overrides > environment > config.yaml > defaults.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import type { ConfigWarning, LoadedConfig } from "../core/settings.ts";
import { mergeTrees, withAt } from "../lib/json/tree-path.ts";
import { checkTree, suggestKey } from "./check.ts";
import { envLayer } from "./env-layer.ts";
import type { Env } from "./expand.ts";
import { convertLegacy } from "./legacy.ts";
import { isBlockingMistake } from "./security-paths.ts";
import { structureWarnings } from "./structure.ts";
import { fileStamp, readCachedTree, type Tree, writeCachedTree } from "./tree-cache.ts";
import type { ParsedYaml } from "./yaml-file.ts";

/** The fields of a home that loading uses. */
export interface ConfigHome {
  readonly path: string;
  readonly env: Env;
}

/** The parsed file. `locate` parses it again when the tree came from the cache. */
interface FileTree extends Pick<ParsedYaml, "tree" | "problem" | "warnings"> {
  locate(path: readonly string[]): Promise<ReturnType<ParsedYaml["locate"]>>;
}

/** Caches the tree of the file until it changes; kept by callers that load more than once. */
export interface ConfigCache {
  stamp?: string | undefined;
  file?: FileTree | undefined;
}

export function configPath(home: { readonly path: string }): string {
  return join(home.path, "config.yaml");
}

async function parse(path: string): Promise<ParsedYaml> {
  const { parseYaml } = await import("./yaml-file.ts");
  return parseYaml(readFileSync(path, "utf8"));
}

function fromTree(path: string, tree: Tree): FileTree {
  let parsed: Promise<ParsedYaml> | undefined;
  return {
    tree,
    problem: undefined,
    warnings: [],
    locate: async (keys) => {
      parsed ??= parse(path);
      return (await parsed).locate(keys);
    },
  };
}

/** Throws for a folder, a pipe or a socket at the path: reading a pipe would block. */
function requireRegularFile(path: string): void {
  const info = statSync(path, { throwIfNoEntry: false });
  if (!info || info.isFile() || info.isCharacterDevice()) return;
  throw Object.assign(new Error("not a file"), { code: info.isDirectory() ? "EISDIR" : "ENOTSUP" });
}

const READ_ERRORS: { readonly [code: string]: string } = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EISDIR: "it is a folder",
  ENOTSUP: "it is not a regular file",
  ENOTDIR: "the home is not a folder",
  ELOOP: "it is a symbolic link that points to itself",
  EIO: "the disk reports an error",
};

async function readFile(home: string, cache: ConfigCache): Promise<FileTree | undefined> {
  const path = configPath({ path: home });
  requireRegularFile(path);
  const stamp = fileStamp(path);
  if (stamp === undefined) {
    delete cache.stamp;
    return undefined;
  }
  if (cache.file && cache.stamp === stamp) return cache.file;
  const kept = readCachedTree(home, stamp);
  if (kept) cache.file = fromTree(path, kept);
  else {
    const parsed = await parse(path);
    cache.file = { ...parsed, locate: async (keys) => parsed.locate(keys) };
    if (!parsed.problem && parsed.warnings.length === 0) await writeCachedTree(home, stamp, parsed.tree);
  }
  cache.stamp = stamp;
  return cache.file;
}

async function readOrWarn(
  home: string,
  cache: ConfigCache,
): Promise<{ file?: FileTree | undefined; problem?: ConfigWarning }> {
  try {
    const file = await readFile(home, cache);
    if (!file) return {};
    return file.problem ? { file, problem: file.problem } : { file };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const text = `config.yaml cannot be read: ${READ_ERRORS[code] ?? code}`;
    return { problem: { kind: "unreadable", path: "", message: text } };
  }
}

async function withPosition(warning: ConfigWarning, file: FileTree | undefined): Promise<ConfigWarning> {
  if (warning.line !== undefined || warning.path === "" || !file) return warning;
  const place = await file.locate(warning.path.split("."));
  return place ? { ...warning, ...place } : warning;
}

function isBlocking(warning: ConfigWarning): boolean {
  if (warning.path === "") return true;
  const meant = warning.kind === "unknown_key" ? suggestKey(warning.path.split(".")) : undefined;
  return isBlockingMistake(warning, meant);
}

/** Never throws: problems with the file become warnings, and defaults are used. See `blocking`. */
export async function loadConfig(options: {
  home: ConfigHome;
  overrides?: { readonly [key: string]: unknown } | undefined;
  cache?: ConfigCache | undefined;
}): Promise<LoadedConfig> {
  const { home, overrides, cache = {} } = options;
  const ignore = ["1", "true", "yes"].includes((home.env.HERMES_IGNORE_USER_CONFIG ?? "").toLowerCase());
  const { file, problem } = ignore ? {} : await readOrWarn(home.path, cache);
  const raw = file?.tree ?? {};
  const { tree, warnings: legacy } = convertLegacy(raw);
  const environment = envLayer(home.env, tree);
  let merged: unknown = tree;
  for (const { path, value } of environment.values) merged = withAt(merged, path, value);
  merged = mergeTrees(merged, overrides);
  const checked = checkTree(merged, home.env);
  const config = checked.value as Config;
  const all = [...legacy, ...checked.warnings, ...structureWarnings(config)];
  const found = await Promise.all(all.map((each) => withPosition(each, file)));
  const warnings = [...(problem ? [problem] : []), ...found, ...(file?.warnings ?? []), ...environment.warnings];
  return {
    config,
    warnings,
    blocking: warnings.filter(isBlocking),
    raw,
    fromEnvironment: environment.values.map(({ path }) => path.join(".")),
  };
}
