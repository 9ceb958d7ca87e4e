// Imports the entry file of a plugin. `hermes-ts/plugin` resolves from any folder, and TypeScript files are supported.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { UserError } from "../core/failure.ts";
import type { PluginRegister } from "../core/plugin.ts";
import { importModule } from "../lib/import-module.ts";
import type { FoundPlugin } from "./discovery.ts";
import type { ModuleHookData } from "./module-hooks.ts";

/** A file of the build: beside the program, above a chunk, or in `dist` of a checkout. */
function builtFile(name: string): string | undefined {
  const candidates = [`./${name}`, `../${name}`, `../../dist/${name}`];
  return candidates.map((path) => fileURLToPath(new URL(path, import.meta.url))).find((file) => existsSync(file));
}

function ensureFile(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, path);
}

/**
 * Installs a package `hermes-ts` above the plugins of the home, so that they can import it without module hooks, which
 * are slow to start.
 */
function ensureApiPackage(home: string, api: string): void {
  const root = join(home, "plugins");
  const shim = join(root, "node_modules", "hermes-ts");
  const types = join(dirname(api), "types", "plugin.js");
  const manifest = {
    name: "hermes-ts",
    version: "0.0.0",
    type: "module",
    exports: { "./plugin": { types: "./plugin.d.ts", default: "./plugin.js" } },
  };
  ensureFile(join(shim, "plugin.js"), `export * from ${JSON.stringify(pathToFileURL(api).href)};\n`);
  ensureFile(join(shim, "plugin.d.ts"), `export * from ${JSON.stringify(types)};\n`);
  ensureFile(join(shim, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  // Makes `index.js` an ES module for plugins without a package.json.
  const own = join(root, "package.json");
  if (!existsSync(own)) ensureFile(own, `${JSON.stringify({ private: true, type: "module" }, null, 2)}\n`);
}

interface NodeModule {
  register(file: string, options: { data: ModuleHookData }): void;
  /** Since Node 22.15; runs in the same thread, which is faster. */
  registerHooks?(hooks: { resolve: unknown; load: unknown }): void;
}

let hooked: Promise<void> | undefined;

async function installHooks(home: string, api: string): Promise<void> {
  const file = builtFile("plugin-module-hooks.js");
  if (!file) throw new UserError("TypeScript plugins need a built program", { hint: "Run: npm run build" });
  const data = { api: pathToFileURL(api).href, cache: join(home, "cache", "plugins", "typescript") };
  const node = createRequire(import.meta.url)("node:module") as NodeModule;
  const url = pathToFileURL(file).href;
  if (!node.registerHooks) return node.register(url, { data });
  const hooks = (await importModule(url)) as typeof import("./module-hooks.ts");
  hooks.initialize(data);
  node.registerHooks({ resolve: hooks.resolve, load: hooks.load });
}

/** True when module hooks are needed: for TypeScript, and for project folders, which must not be written to. */
function needsHooks(plugin: FoundPlugin, entry: string): boolean {
  if (/\.m?ts$/.test(entry)) return true;
  return plugin.source === "project";
}

/** The `register` function of the plugin. Throws UserError when there is none. */
export async function importPlugin(plugin: FoundPlugin, home: string): Promise<PluginRegister> {
  const { entry, dir } = plugin;
  if (!entry) {
    const python = existsSync(join(dir, "__init__.py"));
    throw new UserError(
      python
        ? "it is written in Python; only JavaScript and TypeScript plugins are supported"
        : "it has no entry file: add index.js, or name one with main: in plugin.yaml",
    );
  }
  const api = builtFile("plugin.js");
  if (api && needsHooks(plugin, entry)) {
    hooked ??= installHooks(home, api);
    await hooked;
  } else if (api && plugin.source !== "bundled") ensureApiPackage(home, api);
  const module = (await importModule(pathToFileURL(entry).href)) as { [name: string]: unknown };
  const register =
    module.register ?? (module.default as { register?: unknown } | undefined)?.register ?? module.default;
  if (typeof register !== "function") throw new UserError("it exports no function named register");
  return register as PluginRegister;
}
