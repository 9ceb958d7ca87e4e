// The plugin API: the manifest, what a plugin may register, and API versions.
import type { CommandAnswer, CommandContext } from "./chat/command.ts";
import type { Platform, PlatformCapabilities } from "./chat/platform.ts";
import type { CompressOptions, CompressOutcome, ContextEngine } from "./context.ts";
import type { Intent, Verdict } from "./gate.ts";
import type { HookAnswer, HookName } from "./hook.ts";
import type { MemoryProvider } from "./memory.ts";
import type { Json, JsonObject, Message } from "./message.ts";
import type { Tool, ToolContext, ToolResult } from "./tool/tool.ts";
import type { WebProvider } from "./tool/web.ts";

/** The API version of this program. Nothing is removed within a major version; an older major is supported for two more. */
export const PLUGIN_API_VERSION = "1.0.0";
const SERVED_MAJORS: readonly number[] = [1];

export const PLUGIN_KINDS = [
  "standalone",
  "backend",
  "exclusive",
  "platform",
  "model-provider",
  "memory",
  "context-engine",
  "dashboard",
] as const;
export type PluginKind = (typeof PLUGIN_KINDS)[number];

/** An environment variable of the plugin; it sees no others. */
export interface PluginVariable {
  readonly name: string;
  readonly description?: string | undefined;
  readonly url?: string | undefined;
  readonly secret?: boolean | undefined;
}

/** A row for the model catalog. */
export interface ModelProviderRow {
  readonly name: string;
  readonly label?: string | undefined;
  readonly baseUrl: string;
  /** `chat_completions`, `anthropic_messages` or `codex_responses`. */
  readonly apiMode?: string | undefined;
  readonly keyVar?: string | undefined;
  readonly model?: string | undefined;
  readonly contextLength?: number | undefined;
}

export interface PluginModelProvider extends ModelProviderRow {
  /** Name of the plugin. */
  readonly plugin: string;
}

/** plugin.yaml, checked. */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  readonly kind: PluginKind;
  /** As written: `1`, `"1.0"`, `"^1.0"`. Absent means 1. */
  readonly api: string;
  /** Entry file inside the folder; found by name when absent. */
  readonly main?: string | undefined;
  readonly requiresEnv: readonly PluginVariable[];
  readonly optionalEnv: readonly PluginVariable[];
  /** What the plugin declares, by kind: `tools`, `hooks`, `commands`, `web_providers` … */
  readonly provides: { readonly [sort: string]: readonly string[] };
  /** Catalog rows that need no code. */
  readonly modelProviders: readonly ModelProviderRow[];
  /** Problems of the file, for listings. */
  readonly problems: readonly string[];
}

/** Why a plugin written for `wanted` cannot run here; undefined when it can. */
export function apiProblem(wanted: string): string | undefined {
  // The common case, checked first: start-up may read fifty manifests.
  if (wanted === "1") return undefined;
  const match = /^\s*(?:\^|~|>=\s*|v)?(\d+)(?:\.(\d+|x))?(?:\.(\d+|x))?\s*$/.exec(wanted);
  const newest = `${PLUGIN_API_VERSION.split(".")[0]}.${PLUGIN_API_VERSION.split(".")[1]}`;
  if (!match) return `api "${wanted}" is not a version; write api: ${newest.split(".")[0]}`;
  const major = Number(match[1]);
  const minor = Number(match[2] ?? 0) || 0;
  const [ourMajor = 1, ourMinor = 0] = PLUGIN_API_VERSION.split(".").map(Number);
  if (!SERVED_MAJORS.includes(major)) {
    const hint = major > ourMajor ? "update Hermes" : "update the plugin";
    return `it needs plugin API ${wanted}, and this Hermes serves ${SERVED_MAJORS.map((served) => `${served}.x`).join(", ")}: ${hint}`;
  }
  if (major === ourMajor && minor > ourMinor)
    return `it needs plugin API ${wanted}, and this Hermes serves up to ${newest}: update Hermes`;
  return undefined;
}

/** A context engine of a plugin; missing members get the default behaviour. */
export type PluginContextEngine = Partial<Omit<ContextEngine, "name" | "compress">> & {
  readonly name: string;
  compress(
    messages: readonly Message[],
    options: CompressOptions,
  ): Promise<readonly Message[] | CompressOutcome> | readonly Message[] | CompressOutcome;
};

export interface EngineOptions {
  readonly contextLength: number;
  readonly model: string;
}

/** A memory provider of a plugin; everything but the name has a default that does nothing. */
export type PluginMemoryProvider = Partial<Omit<MemoryProvider, "name">> & { readonly name: string };

/** A chat platform of a plugin: a name and a connection; the rest has defaults. */
export type PluginPlatform = Pick<Platform, "name" | "connect"> &
  Partial<Omit<Platform, "name" | "connect" | "capabilities">> & {
    readonly capabilities?: Partial<PlatformCapabilities> | undefined;
  };

/** A provider of a kind that this program only stores, by name, for other plugins. */
export interface NamedProvider {
  readonly name: string;
  readonly label?: string | undefined;
  isAvailable?(): boolean;
  readonly [more: string]: unknown;
}
export const PROVIDER_KINDS = ["browser", "image", "video", "platform", "dashboard"] as const;
export type ProviderKind = (typeof PROVIDER_KINDS)[number];

export interface PluginSlashCommand {
  readonly name: string;
  readonly summary?: string | undefined;
  readonly args?: string | undefined;
  readonly aliases?: readonly string[] | undefined;
  readonly whileBusy?: boolean | undefined;
  /** A text is shown as it is; null shows nothing. */
  run(args: string, context: CommandContext): Promise<CommandAnswer | string | null> | CommandAnswer | string | null;
}

export interface CliRun {
  readonly argv: readonly string[];
  readonly home: string;
  out(text: string): void;
  err(text: string): void;
}

/** `hermes <name> …`. The arguments after the name are passed on as typed. */
export interface PluginCliCommand {
  readonly name: string;
  readonly summary: string;
  readonly help?: string | undefined;
  /** The exit code; nothing means 0. */
  run(context: CliRun): Promise<number | undefined> | number | undefined;
}

export interface PluginLlmRequest {
  readonly prompt?: string | undefined;
  readonly messages?: readonly Message[] | undefined;
  readonly system?: string | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly timeoutMs?: number | undefined;
  /** Only when `plugins.entries.<name>.llm` allows it. */
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface PluginLlmAnswer {
  readonly text: string;
  readonly provider: string;
  readonly model: string;
  readonly usage: { readonly inputTokens: number; readonly outputTokens: number };
}

/** Model calls of a plugin; each is in the usage ledger under `plugin:<name>`. Rejects with the reason on failure. */
export interface PluginLlm {
  complete(request: PluginLlmRequest): Promise<PluginLlmAnswer>;
  /** The answer parsed as JSON; rejects when it is none. `jsonSchema` is shown to the model. */
  completeStructured(
    request: PluginLlmRequest & { readonly jsonSchema?: JsonObject | undefined },
  ): Promise<PluginLlmAnswer & { readonly parsed: Json }>;
}

export type SqlValue = string | number | bigint | null | Uint8Array;

/** A SQLite file of the plugin, inside the home. Closed by the host. */
export interface PluginDatabase {
  exec(sql: string): void;
  all<Row = { [column: string]: SqlValue }>(sql: string, ...params: SqlValue[]): Row[];
  get<Row = { [column: string]: SqlValue }>(sql: string, ...params: SqlValue[]): Row | undefined;
  run(sql: string, ...params: SqlValue[]): { readonly changes: number; readonly lastInsertRowid: number };
  /** All or nothing; waits for other writers. */
  transaction<T>(body: () => T): T;
  close(): void;
}

export interface PluginLog {
  debug(text: string): void;
  info(text: string): void;
  warn(text: string): void;
  /** Also shown to the user. */
  error(text: string): void;
}

export type HookCallback = (args: JsonObject) => HookAnswer | null | Promise<HookAnswer | null>;

/** A tool in the form of the Python API: `{ name, schema, handler, check_fn }`. */
export interface HandlerTool {
  readonly name: string;
  readonly toolset?: string | undefined;
  readonly description?: string | undefined;
  readonly schema: { readonly description?: string | undefined; readonly parameters?: JsonObject };
  handler(args: JsonObject, context: ToolContext): Promise<string | ToolResult> | string | ToolResult;
  check_fn?(): boolean;
}

/** The argument of `register(ctx)`. What a plugin registers must depend on `config` only. */
export interface PluginContext {
  readonly name: string;
  /** The plugin's own folder, and the home. */
  readonly dir: string;
  readonly home: string;
  /** `plugins.entries.<name>` of config.yaml. */
  readonly config: JsonObject;
  /** The variables that the manifest names, and no others. */
  readonly env: { readonly [name: string]: string | undefined };
  readonly log: PluginLog;
  readonly llm: PluginLlm;
  registerTool(
    tool: (Omit<Tool, "toolset"> & { readonly toolset?: string | undefined }) | HandlerTool,
    options?: { readonly override?: boolean | undefined },
  ): void;
  registerHook(name: HookName, callback: HookCallback, options?: { readonly timeoutMs?: number | undefined }): void;
  registerCommand(command: PluginSlashCommand): void;
  registerCliCommand(command: PluginCliCommand): void;
  /** A function is called for every conversation; an object is shared by all of them. */
  registerContextEngine(
    engine: PluginContextEngine | ((options: EngineOptions) => PluginContextEngine),
    name?: string,
  ): void;
  registerMemoryProvider(provider: PluginMemoryProvider | (() => PluginMemoryProvider), name?: string): void;
  registerModelProvider(row: ModelProviderRow): void;
  registerWebSearchProvider(provider: WebProvider): void;
  /** A SKILL.md of the plugin, called `<plugin>:<name>`. */
  registerSkill(name: string, path: string, description?: string): void;
  /** Adds a folder of skills. */
  registerSkillRoot(path: string): void;
  /** A chat platform of the gateway, with the same rights and duties as the built-in ones. */
  registerPlatform(platform: PluginPlatform): void;
  registerProvider(kind: ProviderKind, provider: NamedProvider): void;
  /** Asks the gate, as built-in tools do before they execute, write or fetch. */
  check(intent: Intent, context: ToolContext): Promise<Verdict>;
  /** Opens a SQLite file. Relative paths are below the home; all paths must be inside it. */
  openDatabase(path: string): PluginDatabase;
  /** Called when the program ends, newest first. */
  onClose(work: () => Promise<void> | void): void;
}

export type PluginRegister = (context: PluginContext) => Promise<void> | void;
