// The program behind every surface: open a conversation, look things up, close.
import type { Config } from "../config/schema/config.ts";
import type { SlashCommand } from "../core/command.ts";
import type { OpenedConversation } from "../core/conversation.ts";
import type { Hooks } from "../core/hook.ts";
import type { Human } from "../core/human.ts";
import type { Deliverer, JobOrigin } from "../core/job.ts";
import type { Platform } from "../core/platform.ts";
import type { SessionStore } from "../core/session.ts";
import type { Skills } from "../core/skill.ts";
import type { UsageLedger } from "../core/usage.ts";
import type { Home } from "./home.ts";
import type { Cron } from "./job-repository.ts";
import type { Registry, ToolState } from "./registry.ts";
import type { ProcessNotice } from "./workspaces.ts";

export interface ConversationOptions {
  readonly human: Human;
  /** Where the conversation comes from: `cli`, `telegram`, … ; `tool` hides it from lists. */
  readonly source?: string;
  /** Whose default toolset applies; `cli` when absent. */
  readonly platform?: string;
  readonly userId?: string;
  /** A session id to go on with. */
  readonly resume?: string;
  /** The id for a new session; made when absent. */
  readonly sessionId?: string;
  /** Text of the surface for the model: who is here, how to write. Part of the frozen prompt of a new session. */
  readonly instructions?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly toolsets?: readonly string[];
  readonly skills?: readonly string[];
  readonly maxTurns?: number;
  readonly cwd?: string;
  /** No project files, no memory, no skills. */
  readonly ignoreRules?: boolean;
  readonly passSessionId?: boolean;
  readonly checkpoints?: boolean;
  /** The scheduled job that this conversation belongs to. */
  readonly jobId?: string;
  readonly baseUrl?: string;
  /** Toolsets that this conversation must not have, whatever else is chosen. */
  readonly withoutToolsets?: readonly string[];
  /** Only tools that this platform has too, whatever else is chosen. */
  readonly withinPlatform?: string;
  readonly noMemory?: boolean;
  readonly noProjectFiles?: boolean;
  /** The chat that this conversation is in: where jobs made here deliver to. */
  readonly origin?: JobOrigin;
}

export interface PreparedInput {
  readonly text: string;
  readonly warnings: readonly string[];
  /** The text includes pages from the web: the turn is tainted. */
  readonly untrusted: boolean;
}

export interface App {
  readonly home: Home;
  readonly config: Config;
  readonly store: SessionStore;
  readonly ledger: UsageLedger;
  readonly registry: Registry;
  /** Hooks of plugins and of the person's own programs. */
  readonly hooks: Hooks;
  /** Problems found while opening, for the person. */
  readonly warnings: readonly string[];
  /** Every slash command: the built-in ones, then those of plugins. Complete once a conversation is open. */
  commands(): Promise<readonly SlashCommand[]>;
  /** One slash command per skill; they come after all others. */
  skillCommands(platform?: string): Promise<readonly SlashCommand[]>;
  /** The skills of this home; their code is loaded at the first call. */
  skills(): Promise<Skills>;
  /** Every tool that a conversation could have, with its availability. */
  tools(): Promise<readonly ToolState[]>;
  openConversation(options: ConversationOptions): Promise<OpenedConversation>;
  /** Expands `@file`, `@diff`, `@url` … in what a person typed at a local surface. */
  prepareInput(text: string, opened: OpenedConversation): Promise<PreparedInput>;
  /** Text for a screen, without the secrets this home knows. */
  redact(text: string): string;
  /** Reads `.env` again when it was changed: keys serve from the next conversation on. True when something is new. */
  refreshEnv(): Promise<boolean>;
  /** `/yolo`: for one session only. */
  setYolo(sessionId: string, on: boolean): Promise<void>;
  /** True while a background process of this conversation runs. */
  hasProcesses(conversationId: string): boolean;
  /** News of background processes, for the surface to show and to pass on to the agent. Returns the way to stop it. */
  onProcessEvent(listener: (notice: ProcessNotice) => void): () => void;
  /** Chat platforms that plugins bring; empty without any. */
  pluginPlatforms(): Promise<readonly Platform[]>;
  /** Scheduled jobs and who runs them; their code is loaded at the first call. */
  cron(): Promise<Cron>;
  /** The gateway's way to chats: results of jobs leave by it from now on. */
  deliverBy(deliverer: Deliverer): void;
  /** Idempotent: ends child processes, flushes, closes the databases. */
  close(): Promise<void>;
}
