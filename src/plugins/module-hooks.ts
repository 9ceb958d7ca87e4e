// Node module hooks for plugin files: they resolve `hermes-ts/plugin` and strip the types of TypeScript files.
// Built as a separate file, because Node 20 runs module hooks in their own thread.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "sucrase";

export interface ModuleHookData {
  /** URL of the module that `hermes-ts/plugin` resolves to. */
  readonly api: string;
  /** Folder for stripped TypeScript, by content. */
  readonly cache: string;
}

interface Context {
  readonly parentURL?: string | undefined;
  readonly format?: string | null | undefined;
}

/** Part of the cache key: change it when the output of stripping changes. */
const STRIP_VERSION = "sucrase-3.35-1";
const TYPESCRIPT = /\.(ts|mts)$/;

let data: ModuleHookData = { api: "", cache: "" };

export function initialize(options: ModuleHookData): void {
  data = options;
}

function filePath(url: string): string | undefined {
  return url.startsWith("file:") ? fileURLToPath(url.split("?")[0] ?? url) : undefined;
}

/** `./other.js` in a TypeScript file may mean `other.ts`. */
function typescriptSibling(specifier: string, context: Context): string | undefined {
  if (!context.parentURL || !/^\.{1,2}\/.*\.m?js$/.test(specifier)) return undefined;
  const parent = filePath(context.parentURL);
  if (!parent || !TYPESCRIPT.test(parent)) return undefined;
  const requested = fileURLToPath(new URL(specifier, context.parentURL));
  const sibling = requested.replace(/js$/, "ts");
  return !existsSync(requested) && existsSync(sibling) ? pathToFileURL(sibling).href : undefined;
}

export function resolve<R>(specifier: string, context: Context, next: (specifier: string, context: Context) => R) {
  if (specifier === "hermes-ts/plugin") return { url: data.api, shortCircuit: true };
  return next(typescriptSibling(specifier, context) ?? specifier, context);
}

/** Converts TypeScript to JavaScript. The result is cached by content. */
export function stripTypes(source: string, path: string, cache: string): string {
  const digest = createHash("sha256").update(`${STRIP_VERSION}\n${source}`).digest("hex").slice(0, 32);
  const cached = join(cache, `${digest}.js`);
  if (existsSync(cached)) return readFileSync(cached, "utf8");
  const { code } = transform(source, { transforms: ["typescript"], disableESTransforms: true, filePath: path });
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const draft = `${cached}.${process.pid}.tmp`;
  writeFileSync(draft, code, { mode: 0o600 });
  renameSync(draft, cached);
  return code;
}

export function load<R>(url: string, context: Context, next: (url: string, context: Context) => R) {
  const path = filePath(url);
  if (path && TYPESCRIPT.test(path)) {
    const source = stripTypes(readFileSync(path, "utf8"), path, data.cache);
    return { format: "module", source, shortCircuit: true };
  }
  // Plugins of a project are modules even without a package.json.
  if (path?.endsWith(".js") && /[\\/]\.hermes[\\/]plugins[\\/]/.test(path) && context.format !== "module")
    return { format: "module", source: readFileSync(path, "utf8"), shortCircuit: true };
  return next(url, context);
}
