// A conversation as a surface holds it: send a message, watch events, steer, stop.
import type { AgentEvent } from "./event.ts";
import type { Human } from "./human.ts";
import type { JobOrigin } from "./job.ts";
import type { ContentPart } from "./message.ts";
import type { ModelIdentity } from "./provider.ts";

export interface Conversation {
  /** Changes when the conversation is compacted into a new session. */
  readonly sessionId: string;
  /** Stays for the life of the conversation. */
  readonly conversationId: string;
  /**
   * One turn. The last event is `ended`, whatever happened; abandoning the generator ends the turn too. The model is
   * asked only when `after` has resolved. Pieces of the answer come gathered, no more often than every `deltaMs`.
   */
  send(
    input: string | readonly ContentPart[],
    options: {
      readonly signal: AbortSignal;
      readonly tainted?: boolean | undefined;
      readonly after?: Promise<unknown> | undefined;
      readonly deltaMs?: number | undefined;
    },
  ): AsyncGenerator<AgentEvent>;
  /** Guidance for the running turn; lands on the next tool result. False when no turn runs. */
  steer(text: string): boolean;
  interrupt(): void;
  /** Compacts now; false when nothing was gained. */
  compress(focus?: string): Promise<boolean>;
  /** Appends the conversation as one ShareGPT line to a file in `dir`; completed and failed ones apart. Its path. */
  saveTrajectory(dir: string, completed: boolean): Promise<string>;
  /** Waits for background work with a deadline, ends hooks and memory, releases what the conversation holds. */
  close(): Promise<void>;
}

/** How pictures reach the model: as they are, or described by a model that sees. */
export interface Pictures {
  readonly native: boolean;
  /** The picture in words; the reason when nobody here sees. `url` is a `data:` URL. */
  describe(
    url: string,
    signal: AbortSignal,
  ): Promise<{ readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string }>;
}

/** A conversation with what the person should know about it. */
export interface OpenedConversation {
  readonly conversation: Conversation;
  readonly identity: ModelIdentity;
  /** The model's window in tokens. */
  readonly contextLength: number;
  readonly resumed: boolean;
  /** Prompt caching in words, when it is on. */
  readonly caching: string | null;
  /** What the model can do with pictures. */
  readonly pictures: Pictures;
  /** How the model was chosen, degraded settings, warnings: for the person, before the first prompt. */
  readonly notices: readonly string[];
  /** Those of the notices that say who answers instead of the configured model: scripts are told too. */
  readonly modelNotices: readonly string[];
  /** The fixed prompt by part, in tokens. */
  readonly promptParts: readonly { readonly name: string; readonly tokens: number }[];
}

export interface ConversationOptions {
  readonly human: Human;
  /** Where the conversation comes from: `cli`, `telegram`, … ; `tool` hides it from lists. */
  readonly source?: string | undefined;
  /** Whose default toolset applies; `cli` when absent. */
  readonly platform?: string | undefined;
  readonly userId?: string | undefined;
  /** A session id to go on with. */
  readonly resume?: string | undefined;
  /** The id for a new session; made when absent. */
  readonly sessionId?: string | undefined;
  /** Text of the surface for the model: who is here, how to write. Part of the frozen prompt of a new session. */
  readonly instructions?: string | undefined;
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly toolsets?: readonly string[] | undefined;
  readonly skills?: readonly string[] | undefined;
  readonly maxTurns?: number | undefined;
  readonly cwd?: string | undefined;
  /** No project files, no memory, no skills. */
  readonly ignoreRules?: boolean | undefined;
  readonly passSessionId?: boolean | undefined;
  readonly checkpoints?: boolean | undefined;
  /** The scheduled job that this conversation belongs to. */
  readonly jobId?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** Toolsets that this conversation must not have, whatever else is chosen. */
  readonly withoutToolsets?: readonly string[] | undefined;
  /** Only tools that this platform has too, whatever else is chosen. */
  readonly withinPlatform?: string | undefined;
  readonly noMemory?: boolean | undefined;
  readonly noProjectFiles?: boolean | undefined;
  /** The chat that this conversation is in: where jobs made here deliver to. */
  readonly origin?: JobOrigin | undefined;
}
