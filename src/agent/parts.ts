// What a conversation depends on: every part is handed in.
import type { ContextEngine } from "../core/context.ts";
import type { Gate } from "../core/gate.ts";
import type { Hooks } from "../core/hook.ts";
import type { Human } from "../core/human.ts";
import type { Memory } from "../core/memory.ts";
import type { JsonObject, Message } from "../core/message.ts";
import type { AnswerShape, Provider, ReasoningEffort, SideModel } from "../core/model/provider.ts";
import type { Redactor } from "../core/redactor.ts";
import type { AnswerDrafts } from "../core/store/answer-draft.ts";
import type { SessionIndex, SessionLog } from "../core/store/session.ts";
import type { TrustLog } from "../core/store/trust-log.ts";
import type { DenyTool, ProposeChange, ToolBox } from "../core/tool/tool.ts";
import type { Provenance } from "../core/trust.ts";
import type { GuardSettings } from "./tools/loop-guard.ts";

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
  readonly answer?: AnswerShape | undefined;
  /** Ask for the rest of an answer that reached the output limit. Default true. */
  readonly continueCutAnswers?: boolean | undefined;
  readonly userId?: string | undefined;
  readonly jobId?: string | undefined;
  /** Stored in the session row. */
  readonly modelConfig?: JsonObject | undefined;
  /** `compression.enabled`. Default true. */
  readonly compaction?: boolean | undefined;
  /** `display.file_mutation_verifier`. Default true. */
  readonly verifyFileChanges?: boolean | undefined;
  /** Generate a title for the session. Default true. */
  readonly titles?: boolean | undefined;
  /** `goals.max_turns` and `auxiliary.goal_judge.max_tokens`. Default 20 and 4096. */
  readonly goals?: { readonly maxTurns: number; readonly verdictTokens: number } | undefined;
  /** Ask for priority processing where the model has it: `agent.service_tier`. Read at every model call. */
  readonly priority?: boolean | undefined;
  /** Text after the stored system prompt, never stored: `agent.system_prompt`. Read at every model call. */
  readonly persona?: string | undefined;
  /** Sent before the messages of the conversation, never stored: `prefill_messages_file`. */
  readonly prefill?: readonly Message[] | undefined;
  readonly guard?: Partial<GuardSettings> | undefined;
  /** Deadline of a tool that names none. Default ten minutes. */
  readonly toolTimeoutMs?: number | undefined;
  /** How long to wait for a tool that ignores its signal. Default 250 ms. */
  readonly abandonMs?: number | undefined;
  /** Characters of all results of one turn before the largest spill. Default 200,000. */
  readonly turnResultChars?: number | undefined;
  /** How long `close` waits for background work. Default 5 s. */
  readonly closeMs?: number | undefined;
  /** Delegation depth of this conversation; 0 for the user's own. */
  readonly depth?: number | undefined;
  /** Called when the tools are resolved and at every call. */
  readonly denyTool?: DenyTool | undefined;
}

/** Everything that a conversation depends on. */
export interface ConversationParts {
  readonly store: SessionLog & SessionIndex;
  readonly provider: Provider;
  readonly engine: ContextEngine;
  readonly toolbox: ToolBox;
  readonly memory: Memory;
  readonly hooks: Hooks;
  readonly human: Human;
  readonly side: SideModel;
  readonly redactor?: Redactor | undefined;
  /** Where streamed text is kept until its message is stored. */
  readonly drafts?: AnswerDrafts | undefined;
  readonly gate?: Gate | undefined;
  /** Remembers which messages hold text of others; without it a restart forgets that. */
  readonly trust?: TrustLog | undefined;
  /** Keeps lasting changes that need approval while no user is there. */
  readonly propose?: ProposeChange | undefined;
  readonly settings: AgentSettings;
  /** Called after a compaction removed text from the window: tools may have to return it again. */
  forgetReads?(conversationId: string): void;
  /** Called after messages were taken back: tools restore their state from the rest. */
  onUndo?(conversationId: string, messages: readonly Message[]): void;
  /** The text for a new session; called again only when compaction opens a continuation. */
  systemPrompt(): Promise<string>;
  /** The trust of the texts that `systemPrompt` contains, for example of a project's instructions; asked before each turn. */
  promptTrust?(): Promise<Provenance>;
}
