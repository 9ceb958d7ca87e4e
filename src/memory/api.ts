// What `hermes memory` does: choose an external provider, look at it, switch it off, erase the notes.
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { openSettings } from "../config/api.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { ConfigField, MemoryProvider } from "../core/memory.ts";
import { nearest } from "../lib/nearest.ts";
import { PluginHost } from "../plugins/plugin-host.ts";

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
  /** `ready`, or why the chosen one does not work. */
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
  /** Stores the answers and makes the provider the active one. */
  finish(answers: { readonly [key: string]: string }): Promise<void>;
  close(): Promise<void>;
}

export interface MemoryActions {
  status(): Promise<MemoryStatus>;
  /** Throws UserError for a name that nobody brings. */
  setup(name: string): Promise<MemorySetup>;
  /** False when none was on. */
  off(): Promise<boolean>;
  /** Erases notes; the files that were there. */
  reset(target: "all" | "memory" | "user"): Promise<readonly string[]>;
}

const FILES = { memory: "MEMORY.md", user: "USER.md" } as const;

/** A host that runs the one provider and nothing else. */
async function hostFor(home: Home, provider: string): Promise<PluginHost> {
  const overrides = { memory: { provider }, plugins: { enabled: [] }, context: { engine: "compressor" } };
  const { config } = await openSettings(home).load(overrides);
  const problems: string[] = [];
  const models = () => Promise.reject(new UserError("models are not open here"));
  return PluginHost.open({ home, config, parts: { models, notice: (text) => void problems.push(text) } });
}

async function loadProvider(home: Home, name: string): Promise<{ provider: MemoryProvider; host: PluginHost }> {
  const host = await hostFor(home, name);
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

async function stateOf(home: Home, name: string): Promise<string> {
  if (name === "") return "the built-in notes only";
  try {
    const { provider, host } = await loadProvider(home, name);
    const ready = provider.isAvailable();
    await host.close();
    return ready ? "ready" : "not set up: a required setting is missing";
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function notesOf(home: Home) {
  const { config } = await openSettings(home).load();
  const { memory } = config;
  const limits = { memory: memory.memory_char_limit, user: memory.user_char_limit };
  const enabled = { memory: memory.memory_enabled, user: memory.user_profile_enabled };
  return Promise.all(
    (["memory", "user"] as const).map(async (target) => {
      const text = await readFile(join(home.path, "memories", FILES[target]), "utf8").catch(() => "");
      return { file: FILES[target], enabled: enabled[target], chars: [...text.trim()].length, limit: limits[target] };
    }),
  );
}

async function status(home: Home): Promise<MemoryStatus> {
  const { config } = await openSettings(home).load();
  const provider = config.memory.provider.trim();
  const host = await hostFor(home, provider);
  const rows = host.rows().filter((row) => row.kind === "memory" || row.kind === "exclusive");
  await host.close();
  return {
    provider,
    state: await stateOf(home, provider),
    notes: await notesOf(home),
    providers: rows.map((row) => ({
      name: row.name,
      description: row.description,
      source: row.source,
      active: row.status === "selected",
      missingEnv: row.missingEnv,
    })),
  };
}

async function store(home: Home, provider: MemoryProvider, answers: { readonly [key: string]: string }): Promise<void> {
  const settings = openSettings(home);
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

export function openMemoryActions(home: Home): MemoryActions {
  return {
    status: () => status(home),
    setup: async (name) => {
      const { provider, host } = await loadProvider(home, name);
      const fields = provider.getConfigSchema?.() ?? [];
      return { name, fields, finish: (answers) => store(home, provider, answers), close: () => host.close() };
    },
    off: async () => {
      const settings = openSettings(home);
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
