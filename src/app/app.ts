// The program behind every surface: open a conversation, look things up, close.

import type { SlashCommand } from "../core/command.ts";
import type { Config } from "../core/config/config.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import type { HandoffStore } from "../core/handoff.ts";
import type { Home } from "../core/home.ts";
import type { Hooks } from "../core/hook.ts";
import type { Deliverer } from "../core/job.ts";
import type { Platform } from "../core/platform.ts";
import type { SessionStore } from "../core/session.ts";
import type { Skills } from "../core/skill.ts";
import type { TopicStore } from "../core/telegram-topics.ts";
import type { Registry, ToolState } from "../core/tool-registry.ts";
import type { UsageLedger } from "../core/usage.ts";
import type { Cron } from "../cron/job-repository.ts";
import type { ProcessNotice } from "../tools/terminal/workspaces.ts";

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
