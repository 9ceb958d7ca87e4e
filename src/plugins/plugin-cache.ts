// The cached manifests of plugins and what they registered in their last run.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HookName } from "../core/hook.ts";
import type { JsonObject } from "../core/message.ts";
import type { ModelProviderRow, PluginManifest } from "../core/plugin.ts";
import type { Overlap } from "../core/tool/tool.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

const FORMAT = 2;

/** What the model and the tool runner need to know about a tool before its code is loaded. */
export interface CachedTool {
  readonly name: string;
  readonly toolset: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly override: boolean;
  /** The tool has an availability check, so its code is needed when a conversation opens. */
  readonly checks: boolean;
  readonly overlap?: Overlap | undefined;
  readonly repeatable?: boolean | undefined;
  /** Null means no limit, because JSON has no Infinity. */
  readonly maxResultChars?: number | null | undefined;
  readonly timeoutMs?: number | undefined;
  readonly mutates?: boolean | undefined;
}

export interface CachedCommand {
  readonly name: string;
  readonly summary: string;
  readonly args?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly whileBusy?: boolean | undefined;
}

/** Everything a plugin registered, as data. */
export interface Registrations {
  readonly tools: readonly CachedTool[];
  readonly hooks: readonly HookName[];
  readonly commands: readonly CachedCommand[];
  readonly cliCommands: readonly { readonly name: string; readonly summary: string }[];
  readonly contextEngines: readonly string[];
  readonly memoryProviders: readonly string[];
  readonly modelProviders: readonly ModelProviderRow[];
  readonly webProviders: readonly string[];
  readonly skills: readonly { readonly name: string; readonly path: string; readonly description: string }[];
  readonly skillRoots: readonly string[];
  /** `browser:name`, `image:name` … */
  readonly providers: readonly string[];
}

/** A plugin as described by its manifest. */
export interface CachedPlugin {
  readonly key: string;
  readonly dir: string;
  readonly file: string;
  /** The stamp of the manifest file. */
  readonly stamp: string;
  readonly manifest: PluginManifest;
  readonly entry: string | null;
}

/** The state of one plugins folder. */
export interface CachedRoot {
  /** Folders in which plugins may appear or disappear, with their modification time. */
  readonly folders: readonly (readonly [path: string, time: number])[];
  readonly plugins: readonly CachedPlugin[];
}

export interface CachedRegistrations {
  /** Identifies the manifest, entry file and settings; when it differs, the code is loaded again. */
  readonly stamp: string;
  readonly registrations: Registrations;
  /** The duration of import and registration. */
  readonly ms: number;
}

export class PluginCache {
  readonly #path: string;
  readonly #roots: Map<string, CachedRoot>;
  readonly #registrations: Map<string, CachedRegistrations>;
  #changed = false;

  private constructor(path: string, roots: object, registrations: object) {
    this.#path = path;
    this.#roots = new Map(Object.entries(roots));
    this.#registrations = new Map(Object.entries(registrations));
  }

  /** An unreadable file is an empty cache. */
  static open(home: string): PluginCache {
    const path = join(home, "cache", "plugins", "index.json");
    try {
      const { format, roots, registrations } = JSON.parse(readFileSync(path, "utf8"));
      if (format === FORMAT) return new PluginCache(path, roots, registrations);
    } catch {
      // Missing or damaged: start with an empty cache.
    }
    return new PluginCache(path, {}, {});
  }

  root(path: string): CachedRoot | undefined {
    return this.#roots.get(path);
  }

  /** Also deletes the registrations of plugins that no longer exist. */
  setRoot(path: string, root: CachedRoot): void {
    const before = this.#roots.get(path);
    if (JSON.stringify(before) === JSON.stringify(root)) return;
    const present = new Set(root.plugins.map(({ dir }) => dir));
    for (const { dir } of before?.plugins ?? []) if (!present.has(dir)) this.#registrations.delete(dir);
    this.#roots.set(path, root);
    this.#changed = true;
  }

  registrations(dir: string, stamp: string): CachedRegistrations | undefined {
    const found = this.#registrations.get(dir);
    return found?.stamp === stamp ? found : undefined;
  }

  setRegistrations(dir: string, entry: CachedRegistrations): void {
    const before = this.#registrations.get(dir);
    const same =
      before?.stamp === entry.stamp && JSON.stringify(before.registrations) === JSON.stringify(entry.registrations);
    if (same) return;
    this.#registrations.set(dir, entry);
    this.#changed = true;
  }

  /** Writes the cache when it has changed. Write errors are ignored. */
  async save(): Promise<void> {
    if (!this.#changed) return;
    this.#changed = false;
    const roots = Object.fromEntries(this.#roots);
    const registrations = Object.fromEntries(this.#registrations);
    await atomicWrite(this.#path, JSON.stringify({ format: FORMAT, roots, registrations })).catch(() => undefined);
  }
}
