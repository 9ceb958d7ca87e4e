// A conversation as surfaces use it, and the options to open one.
import type { AgentEvent } from "./event.ts";
import type { Goals } from "./goal.ts";
import type { Human } from "./human.ts";
import type { JobOrigin } from "./job.ts";
import type { ContentPart, JsonObject, Message, ToolMessage } from "./message.ts";
import type { AnswerShape, ModelIdentity, ToolSchema } from "./model/provider.ts";
import type { DenyTool } from "./tool/tool.ts";
import type { Provenance } from "./trust.ts";

export interface SendOptions {
  /** Interrupts the turn. */
  readonly signal?: AbortSignal | undefined;
  /** The input was not written by the owner: another person's message, a webhook. */
  readonly tainted?: boolean | undefined;
  /** For tainted input: where its text came from, as shown to the user. */
  readonly taintOrigin?: string | undefined;
  /** The part of the input that the user typed; the whole input when absent and not tainted. */
  readonly typed?: string | undefined;
  readonly senderId?: string | undefined;
  /** Minimum interval between delta events, in milliseconds; each piece is emitted at once when absent. */
  readonly deltaMs?: number | undefined;
  /** The model is called only after this resolves; when it rejects, the turn fails. */
  readonly after?: Promise<unknown> | undefined;
}

export interface RunToolOptions {
  readonly signal: AbortSignal;
  /** What happened, for the model: "The user ran: ls". */
  readonly label: string;
  onEvent(event: AgentEvent): void;
}

export interface CompactionReport {
  /** False when nothing was gained and nothing changed. */
  readonly shrunk: boolean;
  readonly beforeTokens: number;
  readonly afterTokens: number;
  readonly method: string;
  readonly notice?: string | undefined;
}

/** An exchange that was taken back. */
export interface UndoneExchange {
  /** The text of the user's message, and its other parts: pictures. */
  readonly text: string;
  readonly parts: readonly ContentPart[];
  /** Messages that were taken back. */
  readonly count: number;
}

export interface Conversation {
  /** Changes when the conversation is compacted into a new session. */
  readonly sessionId: string;
  /** The id of the first session; never changes. */
  readonly conversationId: string;
  readonly messages: readonly Message[];
  /** True while a turn runs. */
  readonly running: boolean;
  /** The least trusted text of this conversation, and where it came from. */
  readonly provenance: Provenance;
  /**
   * One turn; only one runs at a time. The last event is always `ended`, exactly once. Leaving the loop early interrupts
   * the turn; what happened is stored nevertheless.
   */
  send(input: string | readonly ContentPart[], options?: SendOptions): AsyncGenerator<AgentEvent, void, undefined>;
  /**
   * Continues a turn that ended with `clientCalls`: stores the results of these calls and calls the model again. The same
   * rules as for `send`.
   */
  continueWith(results: readonly ToolMessage[], options?: SendOptions): AsyncGenerator<AgentEvent, void, undefined>;
  /**
   * Runs a tool for the user, through the gate like a call of the model, while no turn runs. The model reads the result
   * with the next input. Returns the result's text.
   */
  runTool(name: string, args: JsonObject, options: RunToolOptions): Promise<string>;
  /** Guidance for the running turn, added to the next tool result. False when no turn runs or the text is blank. */
  steer(text: string): boolean;
  /** Stops the running turn within half a second, including its tools. False when no turn runs. */
  interrupt(): boolean;
  /** Compacts now; `focus` names what the summary must keep in most detail. */
  compact(focus?: string): Promise<CompactionReport>;
  /** The standing goal; the surface asks it after each turn whether to continue. */
  readonly goal: Goals;
  /**
   * Takes back the last message of the user and everything after it. The messages stay in the store and in the search.
   * Null when there is nothing to take back.
   */
  undo(): Promise<UndoneExchange | null>;
  /** Parts that are added to the next input: pictures of a message that is sent again. */
  attachToNextInput(parts: readonly ContentPart[]): void;
  /**
   * Ends the session as `branched` and copies its messages to a new one, which the caller resumes. The title is the given
   * one, else the next of the session's title. Null when nothing is stored yet.
   */
  branch(title?: string): Promise<{ readonly sessionId: string; readonly title: string } | null>;
  /** Returns the title as stored. Before the first message it is kept and set when the session is created. */
  setTitle(title: string): Promise<string>;
  /** Appends the conversation as one ShareGPT line to a file in `dir`, by `completed`. Returns the file's path. */
  saveTrajectory(dir: string, completed: boolean): Promise<string>;
  /** Interrupts a running turn and waits for background work, with a deadline. `reason` ends the session's row. */
  close(options?: { readonly reason?: string | undefined }): Promise<void>;
}

/** How pictures reach the model: as they are, or described by a vision model. */
export interface Pictures {
  readonly native: boolean;
  /** A description of the picture, or the reason why there is none. `url` is a `data:` URL. */
  describe(
    url: string,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }>;
}

/** A conversation with what surfaces show about it. */
export interface OpenedConversation {
  readonly conversation: Conversation;
  readonly identity: ModelIdentity;
  /** The model's window in tokens. */
  readonly contextLength: number;
  readonly resumed: boolean;
  /** A line about prompt caching, when it is on. */
  readonly caching: string | null;
  /** What the model can do with pictures. */
  readonly pictures: Pictures;
  /** How the model was chosen, degraded settings, warnings: shown to the user before the first prompt. */
  readonly notices: readonly string[];
  /** Those of the notices that name the model used instead of the configured one; scripts print them too. */
  readonly modelNotices: readonly string[];
  /** How many tools the model has. */
  readonly toolCount: number;
  /** Tokens of each part of the fixed prompt. */
  readonly promptParts: readonly { readonly name: string; readonly tokens: number }[];
}

/** What every caller may choose: terminal, gateway, cron, API server, library and subagents. */
export interface ConversationOptions {
  /** Answers approvals and questions. Default: `absentHuman`, so dangerous actions are denied. */
  readonly human?: Human | undefined;
  /** Where the conversation comes from: `cli`, `telegram`, … ; `tool` hides it from lists. */
  readonly source?: string | undefined;
  /** The platform whose default toolsets apply; `cli` when absent. */
  readonly platform?: string | undefined;
  /** Limits memory and session search to this user. */
  readonly userId?: string | undefined;
  /** The sender's id on the platform; stored with the session, and passed to the memory provider. */
  readonly platformUserId?: string | undefined;
  /** A session to resume: its id or that of an ancestor by compaction. */
  readonly resume?: string | undefined;
  /** The id of a new session; generated when absent. */
  readonly sessionId?: string | undefined;
  /** The title of a new session. */
  readonly title?: string | undefined;
  /** The session that delegated to this one. */
  readonly parentSessionId?: string | undefined;
  /** Replaces the whole system prompt. */
  readonly systemPrompt?: string | undefined;
  /** Text of the surface for the model, for example about its users and its format. Part of the system prompt of a new session. */
  readonly instructions?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly toolsets?: readonly string[] | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly maxTurns?: number | undefined;
  /** Most tokens of one model answer; the model's limit when absent. */
  readonly maxOutputTokens?: number | undefined;
  readonly temperature?: number | undefined;
  /** Tools that the caller runs: a call of one ends the turn, and `continueWith` brings its result. They replace tools of the same name. */
  readonly clientTools?: readonly ToolSchema[] | undefined;
  /** With a `toolChoice` only the client's tools are offered. */
  readonly answer?: AnswerShape | undefined;
  /** Ask a model for a title of a new session. Default: yes, except for jobs and subagents. */
  readonly titles?: boolean | undefined;
  readonly cwd?: string | undefined;
  /** No project files, no memory, no skills. */
  readonly ignoreRules?: boolean | undefined;
  readonly passSessionId?: boolean | undefined;
  readonly checkpoints?: boolean | undefined;
  /** The scheduled job that this conversation belongs to. */
  readonly jobId?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Toolsets that are always removed. */
  readonly withoutToolsets?: readonly string[] | undefined;
  /** Removes tools that this platform does not support. */
  readonly withinPlatform?: string | undefined;
  readonly noMemory?: boolean | undefined;
  readonly noProjectFiles?: boolean | undefined;
  /** The chat of this conversation: the default target of jobs that are created here. */
  readonly origin?: JobOrigin | undefined;
  /** Delegation depth; 0 or absent for the user's own conversations. */
  readonly depth?: number | undefined;
  /** Called when the tools are resolved and at every call. */
  readonly denyTool?: DenyTool | undefined;
}
