// The context engine: decides when a conversation is compacted and what replaces the older part.
import type { JsonObject, Message } from "./message.ts";
import type { ToolSchema } from "./model/provider.ts";

/** The beginning of a summary: messages with a summary are recognised by it, not by the sentence after it. */
export const SUMMARY_TAG = "[CONTEXT COMPACTION";

export interface EngineUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly totalTokens: number;
}

export interface EngineStatus {
  readonly lastPromptTokens: number;
  readonly thresholdTokens: number;
  readonly contextLength: number;
  readonly compressionCount: number;
  readonly usagePercent: number;
}

export interface CompressOptions {
  readonly currentTokens?: number | undefined;
  readonly focusTopic?: string | undefined;
  /** Text of memory providers that the summary must contain (`onPreCompress`). */
  readonly carry?: string | undefined;
  readonly sessionId: string;
  readonly signal?: AbortSignal | undefined;
}

export interface CompressOutcome {
  /** A valid sequence: pairs intact, roles in order. The same array when nothing was saved. */
  readonly messages: readonly Message[];
  /** The method used: `none`, `prune`, `summary`, `chunked_summary`, `extract` … */
  readonly method: string;
  readonly modelCalls: number;
  /** A notice for the user when the result is worse than usual. */
  readonly notice?: string | undefined;
}

export interface EngineToolContext {
  readonly sessionId: string;
  readonly messages: readonly Message[];
}

/** At most one is active, chosen by `context.engine`. Every optional method has a do-nothing default. */
export interface ContextEngine {
  readonly name: string;
  readonly lastPromptTokens: number;
  readonly lastCompletionTokens: number;
  readonly lastTotalTokens: number;
  readonly thresholdTokens: number;
  readonly contextLength: number;
  readonly compressionCount: number;
  updateFromResponse(usage: EngineUsage): void;
  shouldCompress(promptTokens?: number): boolean;
  compress(messages: readonly Message[], options: CompressOptions): Promise<CompressOutcome>;
  shouldCompressPreflight?(messages: readonly Message[]): boolean;
  hasContentToCompress?(messages: readonly Message[]): boolean;
  onSessionStart?(
    sessionId: string,
    details: { readonly boundaryReason?: string | undefined; readonly oldSessionId?: string },
  ): Promise<void>;
  onSessionEnd?(sessionId: string, messages: readonly Message[]): Promise<void>;
  onSessionReset?(): void;
  updateModel?(model: string, contextLength: number): void;
  getToolSchemas?(): readonly ToolSchema[];
  /** Returns JSON text. */
  handleToolCall?(name: string, args: JsonObject, context: EngineToolContext): Promise<string>;
  getStatus?(): EngineStatus;
}
