// What `hermes memory` does: choose an external provider, show its state, switch it off, erase the notes.
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { ConfigField, MemoryProvider } from "../core/memory.ts";
import type { Settings } from "../core/settings.ts";
import { errorMessage } from "../lib/error-message.ts";
import { nearest } from "../lib/nearest.ts";

export interface ProviderRow {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly active: boolean;
  /** Variables that are still missing. */
  readonly missingEnv: readonly string[];
}

export interface MemoryStatus {
  /** Empty for the built-in notes only. */
  readonly provider: string;
  /** `ready`, or why the chosen provider does not work. */
  readonly state: string;
  readonly notes: readonly {
    readonly file: string;
    readonly enabled: boolean;
    readonly chars: number;
    readonly limit: number;
  }[];
  readonly providers: readonly ProviderRow[];
}

export interface MemorySetup {
  readonly name: string;
  readonly fields: readonly ConfigField[];
  /** Stores the answers and activates the provider. */
  finish(answers: { readonly [key: string]: string }): Promise<void>;
  close(): Promise<void>;
}

export interface MemoryActions {
  status(): Promise<MemoryStatus>;
  /** Throws UserError when no plugin provides it. */
  setup(name: string): Promise<MemorySetup>;
  /** False when no provider was active. */
  off(): Promise<boolean>;
  /** Erases notes and returns the erased files. */
  reset(target: "all" | "memory" | "user"): Promise<readonly string[]>;
}

/** The plugin host, as far as memory providers need it. */
export interface MemoryPluginHost {
  /** Imports plugins whose registrations are not known yet. */
  settle(): Promise<void>;
  memoryProvider(name: string): Promise<MemoryProvider | undefined>;
  rows(): readonly {
    readonly name: string;
    readonly description: string;
    readonly kind: string;
    readonly source: string;
    readonly status: string;
    readonly problem?: string | undefined;
    readonly missingEnv: readonly string[];
  }[];
  close(): Promise<void>;
}

/** What the actions need from the program. */
export interface MemoryActionsDeps {
  readonly home: Home;
  readonly settings: Pick<Settings, "load" | "set">;
  openHost(config: Config): Promise<MemoryPluginHost>;
}

const FILES = { memory: "MEMORY.md", user: "USER.md" } as const;

/** A host that runs only the plugin of this provider. */
async function openProviderHost(deps: MemoryActionsDeps, provider: string): Promise<MemoryPluginHost> {
  const overrides = { memory: { provider }, plugins: { enabled: [] }, context: { engine: "compressor" } };
  const { config } = await deps.settings.load(overrides);
  return deps.openHost(config);
}

async function loadProvider(
  deps: MemoryActionsDeps,
  name: string,
): Promise<{ provider: MemoryProvider; host: MemoryPluginHost }> {
  const host = await openProviderHost(deps, name);
  await host.settle();
  const provider = await host.memoryProvider(name);
  if (provider) return { provider, host };
  const rows = host.rows();
  await host.close();
  const broken = rows.find((row) => row.name === name && row.problem);
  if (broken) throw new UserError(`memory provider ${name} does not work: ${broken.problem}`);
  const names = rows.filter((row) => row.kind === "memory" || row.kind === "exclusive").map((row) => row.name);
  const guess = nearest(name, names);
  throw new UserError(`there is no memory provider "${name}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: `Use one of: ${names.join(", ")}`,
    exitCode: 2,
  });
}

async function providerState(deps: MemoryActionsDeps, name: string): Promise<string> {
  if (name === "") return "the built-in notes only";
  try {
    const { provider, host } = await loadProvider(deps, name);
    const ready = provider.isAvailable();
    await host.close();
    return ready ? "ready" : "not set up: a required setting is missing";
  } catch (error) {
    return errorMessage(error);
  }
}

async function readNotes(home: Home, { memory }: Config) {
  const limits = { memory: memory.memory_char_limit, user: memory.user_char_limit };
  const enabled = { memory: memory.memory_enabled, user: memory.user_profile_enabled };
  return Promise.all(
    (["memory", "user"] as const).map(async (target) => {
      const text = await readFile(join(home.path, "memories", FILES[target]), "utf8").catch(() => "");
      return { file: FILES[target], enabled: enabled[target], chars: [...text.trim()].length, limit: limits[target] };
    }),
  );
}

async function status(deps: MemoryActionsDeps): Promise<MemoryStatus> {
  const { config } = await deps.settings.load();
  const provider = config.memory.provider.trim();
  const host = await openProviderHost(deps, provider);
  const rows = host.rows().filter((row) => row.kind === "memory" || row.kind === "exclusive");
  await host.close();
  return {
    provider,
    state: await providerState(deps, provider),
    notes: await readNotes(deps.home, config),
    providers: rows.map((row) => ({
      name: row.name,
      description: row.description,
      source: row.source,
      active: row.status === "selected",
      missingEnv: row.missingEnv,
    })),
  };
}

async function storeAnswers(
  { home, settings }: MemoryActionsDeps,
  provider: MemoryProvider,
  answers: { readonly [key: string]: string },
): Promise<void> {
  const plain: { [key: string]: string } = {};
  for (const field of provider.getConfigSchema?.() ?? []) {
    const answer = answers[field.key]?.trim();
    if (!answer) continue;
    if (field.choices && !field.choices.includes(answer))
      throw new UserError(`${field.key} must be one of ${field.choices.join(", ")}`, { exitCode: 2 });
    if (field.secret && field.envVar) await settings.set(field.envVar, answer, { force: true });
    else plain[field.key] = answer;
  }
  if (Object.keys(plain).length > 0) {
    if (provider.saveConfig) await provider.saveConfig(plain, home.path);
    else
      for (const [key, value] of Object.entries(plain))
        await settings.set(`plugins.entries.${provider.name}.${key}`, value, { force: true });
  }
  await settings.set("memory.provider", provider.name);
}

export function createMemoryActions(deps: MemoryActionsDeps): MemoryActions {
  const { home, settings } = deps;
  return {
    status: () => status(deps),
    setup: async (name) => {
      const { provider, host } = await loadProvider(deps, name);
      const fields = provider.getConfigSchema?.() ?? [];
      return { name, fields, finish: (answers) => storeAnswers(deps, provider, answers), close: () => host.close() };
    },
    off: async () => {
      const { config } = await settings.load();
      if (config.memory.provider.trim() === "") return false;
      await settings.set("memory.provider", "");
      return true;
    },
    reset: async (target) => {
      const targets = target === "all" ? (["memory", "user"] as const) : [target];
      const files = targets.map((one) => join(home.path, "memories", FILES[one])).filter((file) => existsSync(file));
      for (const file of files) await rm(file);
      if (target === "all") await rm(join(home.path, "memories", ".meta.json"), { force: true });
      return files;
    },
  };
}
