// What a conversation is made of: every part is handed in, nothing is reached for.
import type { ContextEngine } from "../core/context.ts";
import type { Gate } from "../core/gate.ts";
import type { Hooks } from "../core/hook.ts";
import type { Human } from "../core/human.ts";
import type { Memory } from "../core/memory.ts";
import type { JsonObject } from "../core/message.ts";
import type { Provider, ReasoningEffort, SideModel } from "../core/provider.ts";
import type { Redactor } from "../core/redactor.ts";
import type { SessionStore } from "../core/session.ts";
import type { Tool, ToolBox } from "../core/tool.ts";
import type { GuardSettings } from "./tools/loop-guard.ts";

/** Milliseconds since the epoch. Tests hand in their own. */
export interface Clock {
  now(): number;
}

export interface AgentSettings {
  /** Where the conversation takes place: `cli`, `telegram`, `cron` … Stored with the session. */
  readonly source: string;
  readonly cwd: string;
  /** The folder that the conversation was opened in; `cwd` follows its shell. */
  readonly workspace?: string | undefined;
  /** Results too large for the window are written below this folder. */
  readonly spillDir: string;
  /** `agent.max_turns`: model calls in one turn. Default 90. */
  readonly maxTurns?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly reasoningEffort?: ReasoningEffort | undefined;
  readonly temperature?: number | undefined;
  readonly userId?: string | undefined;
  readonly jobId?: string | undefined;
  /** Goes into the session row. */
  readonly modelConfig?: JsonObject | undefined;
  /** `compression.enabled`. Default true. */
  readonly compression?: boolean | undefined;
  /** `display.file_mutation_verifier`. Default true. */
  readonly verifyFileChanges?: boolean | undefined;
  /** Default true; children and one-off jobs have no use for titles. */
  readonly titles?: boolean | undefined;
  readonly guard?: Partial<GuardSettings> | undefined;
  /** Deadline of a tool that names none. Default ten minutes. */
  readonly toolTimeoutMs?: number | undefined;
  /** How long a tool that ignores its signal is waited for. Default 250 ms. */
  readonly abandonMs?: number | undefined;
  /** Characters of all results of one turn before the largest spill. Default 200,000. */
  readonly turnResultChars?: number | undefined;
  /** How long `close` waits for background work. Default 5 s. */
  readonly closeMs?: number | undefined;
  /** How deep in delegation this conversation is; 0 for the person's own. */
  readonly depth?: number | undefined;
  /** A reason to refuse a tool in this conversation. Asked at every dispatch, and when the schemas are settled. */
  denyTool?(name: string, tool: Tool | undefined): string | undefined;
}

export interface ConversationParts {
  readonly store: SessionStore;
  readonly provider: Provider;
  readonly engine: ContextEngine;
  readonly toolbox: ToolBox;
  readonly memory: Memory;
  readonly hooks: Hooks;
  readonly human: Human;
  readonly side: SideModel;
  readonly redactor?: Redactor | undefined;
  readonly gate?: Gate | undefined;
  readonly settings: AgentSettings;
  readonly clock?: Clock | undefined;
  /** Told when a compaction took text out of the window: what tools gave before may be asked for again. */
  forgetReads?(conversationId: string): void;
  /** The text for a new session; asked again only when compaction opens a continuation. */
  systemPrompt(): Promise<string>;
}
