// What the built-in slash commands need from the rest of the program; app/ provides it.
import type { Config } from "../core/config/config.ts";
import type { Home } from "../core/home.ts";
import type { McpServerStatus } from "../core/mcp.ts";
import type { ModelIdentity } from "../core/model/provider.ts";
import type { Review } from "../core/review.ts";
import type { SettingRow } from "../core/settings.ts";
import type { CronJobs } from "./cron.ts";
import type { SkillCommandDeps } from "./skills.ts";

/** Settings that a command reads and changes while the program runs. */
export interface LiveSettings {
  readonly path: string;
  /** The values in effect. */
  readonly config: Config;
  /** Checks the value, writes it to config.yaml, and applies it to this process. Throws UserError for a wrong value. */
  save(path: string, value: string | boolean): Promise<void>;
  /** Applies it to this process only. */
  apply(path: string, value: string | boolean): void;
  rows(): Promise<readonly SettingRow[]>;
}

export interface ModelChoice {
  readonly model: string;
  readonly provider?: string | undefined;
}

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number | undefined;
}

export interface ListedModel extends Required<ModelChoice> {
  readonly label: string;
  readonly contextLength?: number | undefined;
  readonly price?: ModelPrice | undefined;
}

export interface ModelAccess {
  list(signal?: AbortSignal): Promise<{ readonly models: readonly ListedModel[]; readonly notes: readonly string[] }>;
  /** Why the model cannot be asked: an unknown provider, a missing key. Null when it can. */
  refuse(choice: ModelChoice): Promise<string | null>;
  /** Listed names that resemble a model that did not answer. */
  similar(choice: ModelChoice): Promise<readonly string[]>;
  /** One small call: the failure, or null. */
  test(choice: ModelChoice, signal: AbortSignal): Promise<{ readonly failure: string | null; readonly ms: number }>;
  /** Writes the choice to config.yaml; returns a warning or null. */
  setDefault(choice: ModelChoice): Promise<string | null>;
  price(identity: ModelIdentity): Promise<ModelPrice | undefined>;
}

export interface CheckpointRow {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly at: number;
  readonly reason: string;
}

export interface CheckpointAccess {
  readonly enabled: boolean;
  list(): Promise<{ readonly project: string; readonly checkpoints: readonly CheckpointRow[] }>;
  /** `id`: a number in the list, where 1 is the newest, or the start of an id. */
  diff(id: string): Promise<{ readonly stat: string; readonly diff: string; readonly cut: boolean }>;
  restore(
    id: string,
    path?: string,
  ): Promise<{ readonly before: string; readonly changed: readonly string[]; readonly removed: readonly string[] }>;
}

export interface ToolsetState {
  readonly name: string;
  readonly description: string;
  readonly on: "yes" | "no" | "partly";
  /** Part of every conversation; cannot be switched. */
  readonly fixed: boolean;
  readonly tools: readonly {
    readonly name: string;
    readonly on: boolean;
    readonly reason: string | null;
    /** Left out of the prompt: the model finds it with search_tools. */
    readonly searched?: boolean | undefined;
  }[];
}

export interface ToolAccess {
  list(platform: string): Promise<readonly ToolsetState[]>;
  /** Switches toolsets from the next session on; returns remarks for the user. */
  switch(platform: string, change: { on: readonly string[]; off: readonly string[] }): Promise<readonly string[]>;
}

export interface PluginAccess {
  list(): Promise<
    readonly {
      readonly name: string;
      readonly version: string;
      readonly description: string;
      readonly status: string;
      readonly remarks: readonly string[];
    }[]
  >;
  /** The line for the user. */
  setEnabled(name: string, on: boolean): Promise<string>;
}

export interface BackgroundProcess {
  readonly id: string;
  readonly command: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
}

export interface ProcessAccess {
  /** Running processes of a conversation. */
  list(conversationId: string): readonly BackgroundProcess[];
  /** Ends them; returns how many there were. */
  stop(conversationId: string): Promise<number>;
}

export interface SnapshotRow {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  /** Seconds since the epoch. */
  readonly at: number;
}

/** Quick backups of the home. */
export interface SnapshotAccess {
  /** Newest first. */
  list(): Promise<readonly SnapshotRow[]>;
  create(label: string): Promise<{ readonly file: string; readonly bytes: number }>;
  /** Removes the oldest ones; returns how many. */
  prune(keep: number): Promise<number>;
}

export interface McpAccess {
  /** Reads the configuration again and connects; resolves when every server is ready or has failed. */
  reload(): Promise<readonly McpServerStatus[]>;
}

export interface CommandDeps {
  readonly home: Pick<Home, "path" | "profile" | "cwd">;
  readonly version: string;
  readonly settings: LiveSettings;
  readonly models: ModelAccess;
  readonly checkpoints: CheckpointAccess;
  readonly tools: ToolAccess;
  readonly plugins: PluginAccess;
  readonly processes: ProcessAccess;
  readonly mcp: McpAccess;
  readonly snapshots: SnapshotAccess;
  readonly jobs: () => Promise<CronJobs>;
  readonly skills: SkillCommandDeps;
  readonly review: () => Promise<Review>;
  /** Reads `.env` again; true when a variable changed. */
  reloadEnv(): Promise<boolean>;
  /** Lines about the chat platforms of this home. */
  platforms(): Promise<readonly string[]>;
  /** Writes a file below the home, readable by the owner only, and returns its path. */
  saveFile(name: string, text: string): Promise<string>;
  /** The text without the secrets of this home. */
  redact(text: string): string;
}
