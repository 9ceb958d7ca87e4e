// plugin.yaml (or the `hermes` field of a package) → a checked manifest. Oddities are noted, never fatal.
import {
  type ModelProviderRow,
  PLUGIN_KINDS,
  type PluginKind,
  type PluginManifest,
  type PluginVariable,
} from "../core/plugin.ts";

type Tree = { readonly [key: string]: unknown };

/** What a folder that is called this, and a manifest that says nothing, mean. */
const KIND_OF_CATEGORY: { readonly [folder: string]: PluginKind } = {
  memory: "memory",
  context_engine: "context-engine",
  "context-engine": "context-engine",
  "model-providers": "model-provider",
  platforms: "platform",
  web: "backend",
  browser: "backend",
  image_gen: "backend",
  video_gen: "backend",
};

function isTree(value: unknown): value is Tree {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

function words(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return list.map((item) => (isTree(item) ? text(item.name) : text(item))).filter((word) => word !== "");
}

function variables(value: unknown): PluginVariable[] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((item): PluginVariable[] => {
    const tree: Tree = isTree(item) ? item : { name: item };
    const name = text(tree.name);
    if (!/^[A-Za-z_]\w*$/.test(name)) return [];
    const description = text(tree.description) || text(tree.prompt);
    const url = text(tree.url);
    const secret = tree.secret ?? tree.password;
    return [
      {
        name,
        ...(description ? { description } : {}),
        ...(url ? { url } : {}),
        ...(typeof secret === "boolean" ? { secret } : {}),
      },
    ];
  });
}

function modelRow(tree: Tree): ModelProviderRow | undefined {
  const name = text(tree.name);
  const baseUrl = text(tree.base_url) || text(tree.baseUrl);
  if (name === "" || baseUrl === "") return undefined;
  const label = text(tree.label) || text(tree.display_name);
  const apiMode = text(tree.api_mode) || text(tree.apiMode);
  const keyVar = text(tree.key_var) || text(tree.keyVar) || (words(tree.env_vars)[0] ?? "");
  const model = text(tree.default_model) || text(tree.model);
  const contextLength = Number(tree.context_length ?? tree.contextLength);
  return {
    name,
    baseUrl,
    ...(label ? { label } : {}),
    ...(apiMode ? { apiMode } : {}),
    ...(keyVar ? { keyVar } : {}),
    ...(model ? { model } : {}),
    ...(contextLength > 0 ? { contextLength } : {}),
  };
}

function kindOf(tree: Tree, category: string | undefined, problems: string[]): PluginKind {
  const said = text(tree.kind).replaceAll("_", "-");
  const byFolder = category === undefined ? undefined : KIND_OF_CATEGORY[category];
  if (said === "") return byFolder ?? "standalone";
  if (said === "exclusive" && byFolder) return byFolder;
  const known = PLUGIN_KINDS.find((kind) => kind === said || `${kind}-provider` === said);
  if (known) return known;
  problems.push(`kind "${said}" is not known; treated as standalone`);
  return "standalone";
}

function providesOf(tree: Tree): PluginManifest["provides"] {
  const provides: { [sort: string]: readonly string[] } = {};
  for (const [key, value] of Object.entries(tree)) {
    const sort = key === "hooks" ? "hooks" : key.startsWith("provides_") ? key.slice("provides_".length) : undefined;
    if (sort === undefined) continue;
    provides[sort] = [...new Set([...(provides[sort] ?? []), ...words(value)])];
  }
  return provides;
}

/** A safe name: it becomes part of paths and keys. */
function nameOf(said: string, fallback: string, problems: string[]): string {
  if (/^[A-Za-z0-9][\w.-]*$/.test(said)) return said;
  if (said !== "") problems.push(`name "${said}" has characters that are not allowed; "${fallback}" is used`);
  return fallback;
}

export interface ManifestPlace {
  /** Name of the folder or package, used when the manifest has none. */
  readonly folder: string;
  /** The folder above, when the plugin lies in one. */
  readonly category?: string | undefined;
}

export function readManifest(raw: unknown, place: ManifestPlace): PluginManifest {
  const problems: string[] = [];
  if (!isTree(raw)) problems.push("the manifest is not a map");
  const tree = isTree(raw) ? raw : {};
  const level = tree.manifest_version;
  if (level !== undefined && level !== 1) problems.push(`manifest_version ${String(level)} is newer than 1`);
  const rows = Array.isArray(tree.provides_model_providers) ? tree.provides_model_providers.filter(isTree) : [];
  const main = text(tree.main) || text(tree.entry);
  return {
    name: nameOf(text(tree.name), place.folder, problems),
    version: text(tree.version) || "0.0.0",
    description: text(tree.description),
    author: text(tree.author),
    kind: kindOf(tree, place.category, problems),
    api: text(tree.api) || "1",
    ...(main ? { main } : {}),
    requiresEnv: variables(tree.requires_env),
    optionalEnv: variables(tree.optional_env),
    provides: providesOf(tree),
    modelProviders: rows.map(modelRow).filter((row) => row !== undefined),
    problems,
  };
}
