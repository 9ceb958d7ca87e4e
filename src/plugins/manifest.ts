// Reads a manifest from plugin.yaml or the `hermes` field of package.json. Invalid values are reported, not thrown.
import {
  type ModelProviderRow,
  PLUGIN_KINDS,
  type PluginKind,
  type PluginManifest,
  type PluginVariable,
} from "../core/plugin.ts";
import { isRecord } from "../lib/json/is-record.ts";

type Tree = { readonly [key: string]: unknown };

/** The kind of plugins in these category folders whose manifest names none. */
const CATEGORY_KINDS: { readonly [folder: string]: PluginKind } = {
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

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number" ? String(value).trim() : "";
}

function readNames(value: unknown): string[] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  return list.map((item) => (isRecord(item) ? text(item.name) : text(item))).filter((name) => name !== "");
}

function readVariables(value: unknown): PluginVariable[] {
  const list = Array.isArray(value) ? value : [];
  return list.flatMap((item): PluginVariable[] => {
    const tree: Tree = isRecord(item) ? item : { name: item };
    const name = text(tree.name);
    if (!/^[A-Za-z_]\w*$/.test(name)) return [];
    const secret = tree.secret ?? tree.password;
    return [
      {
        name,
        description: text(tree.description) || text(tree.prompt) || undefined,
        url: text(tree.url) || undefined,
        secret: typeof secret === "boolean" ? secret : undefined,
      },
    ];
  });
}

function readModelProvider(tree: Tree): ModelProviderRow | undefined {
  const name = text(tree.name);
  const baseUrl = text(tree.base_url) || text(tree.baseUrl);
  if (name === "" || baseUrl === "") return undefined;
  const contextLength = Number(tree.context_length ?? tree.contextLength);
  return {
    name,
    baseUrl,
    label: text(tree.label) || text(tree.display_name) || undefined,
    apiMode: text(tree.api_mode) || text(tree.apiMode) || undefined,
    keyVar: text(tree.key_var) || text(tree.keyVar) || readNames(tree.env_vars)[0],
    model: text(tree.default_model) || text(tree.model) || undefined,
    contextLength: contextLength > 0 ? contextLength : undefined,
  };
}

function readKind(tree: Tree, category: string | undefined, problems: string[]): PluginKind {
  const kindText = text(tree.kind).replaceAll("_", "-");
  const byFolder = category === undefined ? undefined : CATEGORY_KINDS[category];
  if (kindText === "") return byFolder ?? "standalone";
  if (kindText === "exclusive" && byFolder) return byFolder;
  const known = PLUGIN_KINDS.find((kind) => kind === kindText || `${kind}-provider` === kindText);
  if (known) return known;
  problems.push(`kind "${kindText}" is not known; treated as standalone`);
  return "standalone";
}

function readProvides(tree: Tree): PluginManifest["provides"] {
  const provides: { [kind: string]: readonly string[] } = {};
  for (const [key, value] of Object.entries(tree)) {
    const kind = key === "hooks" ? "hooks" : key.startsWith("provides_") ? key.slice("provides_".length) : undefined;
    if (kind === undefined) continue;
    provides[kind] = [...new Set([...(provides[kind] ?? []), ...readNames(value)])];
  }
  return provides;
}

/** The name must be safe, because it becomes part of paths and keys. */
function readName(name: string, fallback: string, problems: string[]): string {
  if (/^[A-Za-z0-9][\w.-]*$/.test(name)) return name;
  if (name !== "") problems.push(`name "${name}" has characters that are not allowed; "${fallback}" is used`);
  return fallback;
}

export interface ManifestLocation {
  /** Name of the folder or package, used when the manifest has none. */
  readonly folder: string;
  /** The name of the category folder, when the plugin is in one. */
  readonly category?: string | undefined;
}

export function readManifest(raw: unknown, location: ManifestLocation): PluginManifest {
  const problems: string[] = [];
  if (!isRecord(raw)) problems.push("the manifest is not a map");
  const tree = isRecord(raw) ? raw : {};
  const level = tree.manifest_version;
  if (level !== undefined && level !== 1) problems.push(`manifest_version ${String(level)} is newer than 1`);
  const rows = Array.isArray(tree.provides_model_providers) ? tree.provides_model_providers.filter(isRecord) : [];
  const main = text(tree.main) || text(tree.entry);
  return {
    name: readName(text(tree.name), location.folder, problems),
    version: text(tree.version) || "0.0.0",
    description: text(tree.description),
    author: text(tree.author),
    kind: readKind(tree, location.category, problems),
    api: text(tree.api) || "1",
    main: main || undefined,
    requiresEnv: readVariables(tree.requires_env),
    optionalEnv: readVariables(tree.optional_env),
    provides: readProvides(tree),
    modelProviders: rows.map(readModelProvider).filter((row) => row !== undefined),
    problems,
  };
}
