// Memory beyond the window: the built-in notes and at most one external provider.
import type { JsonObject, Message } from "./message.ts";
import type { ToolSchema } from "./model/provider.ts";

export interface MemoryInit {
  readonly sessionId: string;
  readonly hermesHome: string;
  readonly platform: string;
  readonly userId?: string | undefined;
  readonly agentContext: string;
  readonly agentIdentity: string;
  readonly agentWorkspace: string;
  readonly parentSessionId?: string | undefined;
  readonly sessionTitle?: string | undefined;
  readonly userName?: string | undefined;
  readonly chatId?: string | undefined;
  readonly chatName?: string | undefined;
  readonly chatType?: string | undefined;
  readonly threadId?: string | undefined;
  readonly gatewaySessionKey?: string | undefined;
}

export interface MemoryWrite {
  readonly action: "add" | "replace" | "remove";
  readonly target: "memory" | "user";
  readonly content: string;
  readonly metadata: { readonly [key: string]: string };
}

export interface ConfigField {
  readonly key: string;
  readonly description: string;
  readonly secret?: boolean | undefined;
  readonly required?: boolean | undefined;
  readonly default?: string | undefined;
  readonly choices?: readonly string[] | undefined;
  readonly url?: string | undefined;
  readonly envVar?: string | undefined;
}

/** Every call is isolated: a provider that throws or hangs never breaks a turn. */
export interface MemoryProvider {
  readonly name: string;
  /** Quick, without network. */
  isAvailable(): boolean;
  initialize(init: MemoryInit): Promise<void>;
  systemPromptBlock(): string;
  prefetch(query: string, sessionId: string): Promise<string>;
  queuePrefetch(query: string, sessionId: string): void;
  /** Must not delay the turn: queue and return. */
  syncTurn(user: string, assistant: string, sessionId: string): void;
  getToolSchemas(): readonly ToolSchema[];
  handleToolCall(name: string, args: JsonObject): Promise<string>;
  /** Whether this call stores something: in a tainted turn it then needs approval. Default true. */
  writes?(name: string, args: JsonObject): boolean;
  shutdown(): Promise<void>;
  getConfigSchema?(): readonly ConfigField[];
  saveConfig?(values: { readonly [key: string]: string }, home: string): Promise<void>;
  /** Before every model call of a turn. */
  onTurnStart?(turn: number, text: string): Promise<void>;
  onSessionEnd?(messages: readonly Message[]): Promise<void>;
  onSessionSwitch?(
    newSessionId: string,
    details: {
      readonly parentSessionId?: string | undefined;
      readonly reset: boolean;
      readonly reason?: string | undefined;
    },
  ): Promise<void>;
  /** The returned text becomes part of the summary. */
  onPreCompress?(messages: readonly Message[]): Promise<string>;
  onMemoryWrite?(write: MemoryWrite): Promise<void>;
  onDelegation?(task: string, result: string, childSessionId: string): Promise<void>;
}

/** The memory of a conversation: the notes and the external provider. Nothing here throws. */
export interface Memory {
  /** The block for the system prompt, as of the opening of the session. */
  snapshot(): Promise<string>;
  /** Recalled text for this turn, already fenced, or the empty string. */
  recall(query: string, sessionId: string): Promise<string>;
  /** Called before every model call of a turn. */
  turnStarted(turn: number, text: string): Promise<void>;
  /** Only after a completed turn; returns at once. */
  turnEnded(user: string, assistant: string, sessionId: string): void;
  beforeCompaction(messages: readonly Message[]): Promise<string>;
  sessionSwitched(
    newSessionId: string,
    details: {
      readonly parentSessionId?: string | undefined;
      readonly reset: boolean;
      readonly reason?: string | undefined;
    },
  ): Promise<void>;
  sessionEnded(messages: readonly Message[]): Promise<void>;
  delegated(task: string, result: string, childSessionId: string): Promise<void>;
  /** Tools of the external provider. */
  readonly toolSchemas: readonly ToolSchema[];
  callTool(name: string, args: JsonObject): Promise<string>;
  /** True when the call stores something for later conversations. */
  writes?(name: string, args: JsonObject): boolean;
  close(): Promise<void>;
}
