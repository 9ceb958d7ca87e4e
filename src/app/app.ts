// The program as surfaces use it.

import type { CommandSurface, SlashCommand } from "../core/chat/command.ts";
import type { Platform } from "../core/chat/platform.ts";
import type { ProcessNotice } from "../core/chat/process-notice.ts";
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import type { Home } from "../core/home.ts";
import type { Hooks } from "../core/hook.ts";
import type { Deliverer } from "../core/job.ts";
import type { Review } from "../core/review.ts";
import type { Skills } from "../core/skill.ts";
import type { HandoffStore } from "../core/store/handoff.ts";
import type { SessionStore } from "../core/store/session.ts";
import type { TopicStore } from "../core/store/telegram-topics.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import type { Registry, ToolState } from "../core/tool/tool-registry.ts";
import type { Cron } from "../cron/job-repository.ts";

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
  readonly handoffs: HandoffStore;
  readonly topics: TopicStore;
  readonly ledger: UsageLedger;
  readonly registry: Registry;
  /** Hooks of plugins and shell hooks. */
  readonly hooks: Hooks;
  /** Problems found while opening, for the user. */
  readonly warnings: readonly string[];
  /**
   * Every slash command of a surface, the terminal by default: the built-in ones, then those of plugins. Complete once a
   * conversation is open.
   */
  commands(surface?: CommandSurface): Promise<readonly SlashCommand[]>;
  /** One slash command per skill; they have the lowest precedence. */
  skillCommands(platform?: string): Promise<readonly SlashCommand[]>;
  /** The skills of this home; their code is loaded at the first call. */
  skills(): Promise<Skills>;
  /** Lasting changes that wait for the user's decision. */
  review(): Promise<Review>;
  /** Every tool that a conversation could have, with its availability. */
  tools(): Promise<readonly ToolState[]>;
  openConversation(options: ConversationOptions): Promise<OpenedConversation>;
  /** Expands `@file`, `@diff`, `@url` … in the input of a local surface. */
  prepareInput(text: string, opened: OpenedConversation): Promise<PreparedInput>;
  /** The text without the secrets of this home. */
  redact(text: string): string;
  /**
   * Reads `.env` and config.yaml again when they were changed; new values take effect with the next conversation. A broken
   * config.yaml keeps the old values, and `problem` says why.
   */
  refreshSettings(): Promise<{ readonly changed: boolean; readonly problem?: string | undefined }>;
  /** `/yolo`: for one session only. */
  setYolo(sessionId: string, on: boolean): Promise<void>;
  /** True while a background process of this conversation runs. */
  hasProcesses(conversationId: string): boolean;
  /** Subscribes to events of background processes. Returns the function that unsubscribes. */
  onProcessEvent(listener: (notice: ProcessNotice) => void): () => void;
  /** Chat platforms of plugins. */
  pluginPlatforms(): Promise<readonly Platform[]>;
  /** Scheduled jobs and their scheduler; loaded at the first call. */
  cron(): Promise<Cron>;
  /** Results of jobs are delivered by this one from now on. */
  deliverBy(deliverer: Deliverer): void;
  /** Idempotent: ends child processes, flushes, closes the databases. */
  close(): Promise<void>;
}
