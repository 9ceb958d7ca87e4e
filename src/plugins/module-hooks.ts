// Node's module hooks for plugin files: where `hermes-ts/plugin` is, and TypeScript with its types taken out.
// Built as a file of its own, because Node 20 runs module hooks in a thread beside the program.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "sucrase";

export interface ModuleHookData {
  /** URL of what plugins import from us. */
  readonly api: string;
  /** Folder for stripped TypeScript, by content. */
  readonly cache: string;
}

interface Context {
  readonly parentURL?: string | undefined;
  readonly format?: string | null | undefined;
}

/** Part of the cache's key: raise it when the way of stripping changes. */
const STRIPPER = "sucrase-3.35-1";
const TYPESCRIPT = /\.(ts|mts)$/;

let data: ModuleHookData = { api: "", cache: "" };

export function initialize(given: ModuleHookData): void {
  data = given;
}

function pathOf(url: string): string | undefined {
  return url.startsWith("file:") ? fileURLToPath(url.split("?")[0] ?? url) : undefined;
}

/** Authors who write `./other.js` for `other.ts` are understood. */
function typescriptSibling(specifier: string, context: Context): string | undefined {
  if (!context.parentURL || !/^\.{1,2}\/.*\.m?js$/.test(specifier)) return undefined;
  const parent = pathOf(context.parentURL);
  if (!parent || !TYPESCRIPT.test(parent)) return undefined;
  const asked = fileURLToPath(new URL(specifier, context.parentURL));
  const twin = asked.replace(/js$/, "ts");
  return !existsSync(asked) && existsSync(twin) ? pathToFileURL(twin).href : undefined;
}

export function resolve<R>(specifier: string, context: Context, next: (specifier: string, context: Context) => R) {
  if (specifier === "hermes-ts/plugin") return { url: data.api, shortCircuit: true };
  return next(typescriptSibling(specifier, context) ?? specifier, context);
}

/** JavaScript from TypeScript; the same text is stripped once and kept. */
export function stripTypes(source: string, path: string, cache: string): string {
  const digest = createHash("sha256").update(`${STRIPPER}\n${source}`).digest("hex").slice(0, 32);
  const kept = join(cache, `${digest}.js`);
  if (existsSync(kept)) return readFileSync(kept, "utf8");
  const { code } = transform(source, { transforms: ["typescript"], disableESTransforms: true, filePath: path });
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const draft = `${kept}.${process.pid}.tmp`;
  writeFileSync(draft, code, { mode: 0o600 });
  renameSync(draft, kept);
  return code;
}

export function load<R>(url: string, context: Context, next: (url: string, context: Context) => R) {
  const path = pathOf(url);
  if (path && TYPESCRIPT.test(path)) {
    const source = stripTypes(readFileSync(path, "utf8"), path, data.cache);
    return { format: "module", source, shortCircuit: true };
  }
  // A project's plugins need no package.json of their own to be modules.
  if (path?.endsWith(".js") && /[\\/]\.hermes[\\/]plugins[\\/]/.test(path) && context.format !== "module")
    return { format: "module", source: readFileSync(path, "utf8"), shortCircuit: true };
  return next(url, context);
}
