// The effective configuration: runtime overrides > environment > config.yaml > defaults.
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkTree } from "./check.ts";
import { envLayer } from "./env-layer.ts";
import type { Env } from "./expand.ts";
import { liftLegacy } from "./legacy.ts";
import { mergeTrees, withAt } from "./path.ts";
import type { Config } from "./schema/config.ts";
import { structureWarnings } from "./structure.ts";
import type { ConfigWarning } from "./warning.ts";
import { type ParsedYaml, parseYaml } from "./yaml-file.ts";

/** What loading needs of a home. */
export interface ConfigHome {
  readonly path: string;
  readonly env: Env;
}

/** Remembers the parsed file until it changes. Held by whoever loads more than once. */
export interface ConfigCache {
  stamp?: string;
  parsed?: ParsedYaml | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly ConfigWarning[];
  /** config.yaml as it is written: not merged, not expanded. Empty when there is none or it is broken. */
  readonly raw: { readonly [key: string]: unknown };
  /** Dotted paths that a variable of the environment set. */
  readonly fromEnvironment: readonly string[];
}

export function configPath(home: { readonly path: string }): string {
  return join(home.path, "config.yaml");
}

async function readFile(path: string, cache: ConfigCache): Promise<ParsedYaml | undefined> {
  const info = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (!info) {
    delete cache.stamp;
    return undefined;
  }
  const stamp = `${info.mtimeNs} ${info.size}`;
  if (cache.stamp !== stamp) {
    cache.parsed = await parseYaml(readFileSync(path, "utf8"));
    cache.stamp = stamp;
  }
  return cache.parsed;
}

async function readOrWarn(path: string, cache: ConfigCache): Promise<{ parsed?: ParsedYaml; problem?: ConfigWarning }> {
  try {
    const parsed = await readFile(path, cache);
    if (!parsed) return {};
    return parsed.problem ? { parsed, problem: parsed.problem } : { parsed };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    const text = `config.yaml cannot be read (${code}); using the defaults`;
    return { problem: { kind: "unreadable", path: "", message: text } };
  }
}

function placed(warning: ConfigWarning, parsed: ParsedYaml | undefined): ConfigWarning {
  if (warning.line !== undefined || warning.path === "" || !parsed) return warning;
  const place = parsed.locate(warning.path.split("."));
  return place ? { ...warning, ...place } : warning;
}

/** Never throws: whatever is wrong with the file becomes a warning, and the defaults stand in. */
export async function loadConfig(options: {
  home: ConfigHome;
  overrides?: { readonly [key: string]: unknown };
  cache?: ConfigCache;
}): Promise<LoadedConfig> {
  const { home, overrides, cache = {} } = options;
  const ignore = ["1", "true", "yes"].includes((home.env.HERMES_IGNORE_USER_CONFIG ?? "").toLowerCase());
  const { parsed, problem } = ignore ? {} : await readOrWarn(configPath(home), cache);
  const raw = parsed?.tree ?? {};
  const { tree, warnings: legacy } = liftLegacy(raw);
  const environment = envLayer(home.env, tree);
  let merged: unknown = tree;
  for (const { path, value } of environment.values) merged = withAt(merged, path, value);
  merged = mergeTrees(merged, overrides);
  const checked = checkTree(merged, home.env);
  const config = checked.value as Config;
  const found = [...legacy, ...checked.warnings, ...structureWarnings(config)].map((each) => placed(each, parsed));
  return {
    config,
    warnings: [...(problem ? [problem] : []), ...found, ...environment.warnings],
    raw,
    fromEnvironment: environment.values.map(({ path }) => path.join(".")),
  };
}
