// What is known about plugins without running them: their manifests, and what they registered the last time.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HookName } from "../core/hook.ts";
import type { JsonObject } from "../core/message.ts";
import type { ModelProviderRow, PluginManifest } from "../core/plugin.ts";
import type { Overlap } from "../core/tool.ts";
import { atomicWrite } from "../lib/atomic-write.ts";

const FORMAT = 1;

/** A tool as the model sees it, and what the runner must know before its code is there. */
export interface KnownTool {
  readonly name: string;
  readonly toolset: string;
  readonly description: string;
  readonly parameters: JsonObject;
  readonly override: boolean;
  /** It has a say in whether it is available: then its code is needed when a conversation opens. */
  readonly checks: boolean;
  readonly overlap?: Overlap;
  readonly repeatable?: boolean;
  /** Null stands for no limit: JSON has no Infinity. */
  readonly maxResultChars?: number | null;
  readonly timeoutMs?: number;
  readonly mutates?: boolean;
}

export interface KnownCommand {
  readonly name: string;
  readonly summary: string;
  readonly args?: string;
  readonly aliases?: readonly string[];
  readonly whileBusy?: boolean;
}

/** Everything a plugin registered, as data. */
export interface Registrations {
  readonly tools: readonly KnownTool[];
  readonly hooks: readonly HookName[];
  readonly commands: readonly KnownCommand[];
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

export interface CachedManifest {
  readonly stamp: string;
  readonly manifest: PluginManifest;
  readonly entry: string | null;
}

export interface CachedRegistrations {
  /** Manifest, entry file and settings at the time; anything else means: ask the code again. */
  readonly stamp: string;
  readonly registrations: Registrations;
  /** How long importing and registering took. */
  readonly ms: number;
}

export class PluginCache {
  readonly #path: string;
  readonly #manifests: Map<string, CachedManifest>;
  readonly #registrations: Map<string, CachedRegistrations>;
  #changed = false;

  private constructor(path: string, manifests: object, registrations: object) {
    this.#path = path;
    this.#manifests = new Map(Object.entries(manifests));
    this.#registrations = new Map(Object.entries(registrations));
  }

  /** An unreadable file is an empty cache. */
  static open(home: string): PluginCache {
    const path = join(home, "cache", "plugins", "index.json");
    try {
      const { format, manifests, registrations } = JSON.parse(readFileSync(path, "utf8"));
      if (format === FORMAT) return new PluginCache(path, manifests, registrations);
    } catch {
      return new PluginCache(path, {}, {});
    }
    return new PluginCache(path, {}, {});
  }

  manifest(file: string, stamp: string): CachedManifest | undefined {
    const found = this.#manifests.get(file);
    return found?.stamp === stamp ? found : undefined;
  }

  keepManifest(file: string, entry: CachedManifest): void {
    this.#manifests.set(file, entry);
    this.#changed = true;
  }

  registrations(dir: string, stamp: string): CachedRegistrations | undefined {
    const found = this.#registrations.get(dir);
    return found?.stamp === stamp ? found : undefined;
  }

  keepRegistrations(dir: string, entry: CachedRegistrations): void {
    const before = this.#registrations.get(dir);
    const same =
      before?.stamp === entry.stamp && JSON.stringify(before.registrations) === JSON.stringify(entry.registrations);
    if (same) return;
    this.#registrations.set(dir, entry);
    this.#changed = true;
  }

  /** Writes only when something was learned. A cache that cannot be written is not a problem. */
  async save(): Promise<void> {
    if (!this.#changed) return;
    this.#changed = false;
    const manifests = Object.fromEntries(this.#manifests);
    const registrations = Object.fromEntries(this.#registrations);
    await atomicWrite(this.#path, JSON.stringify({ format: FORMAT, manifests, registrations })).catch(() => undefined);
  }
}
