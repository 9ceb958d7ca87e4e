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
      readonly tainted?: boolean;
      readonly after?: Promise<unknown>;
      readonly deltaMs?: number;
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
