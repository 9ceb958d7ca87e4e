// Sessions, messages and the contracts of the store. Times are Unix seconds with a fraction, as on disk.
import type { Content, Json, JsonObject, Message, ToolCall } from "../message.ts";

export interface SessionRow {
  readonly id: string;
  readonly source: string;
  readonly user_id: string | null;
  readonly model: string | null;
  readonly model_config: string | null;
  readonly system_prompt: string | null;
  readonly parent_session_id: string | null;
  readonly started_at: number;
  readonly ended_at: number | null;
  readonly end_reason: string | null;
  readonly message_count: number;
  readonly tool_call_count: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly reasoning_tokens: number;
  readonly billing_provider: string | null;
  readonly billing_base_url: string | null;
  readonly billing_mode: string | null;
  readonly estimated_cost_usd: number | null;
  readonly actual_cost_usd: number | null;
  readonly cost_status: string | null;
  readonly cost_source: string | null;
  readonly pricing_version: string | null;
  readonly title: string | null;
  readonly api_call_count: number;
  readonly handoff_state: string | null;
  readonly handoff_platform: string | null;
  readonly handoff_error: string | null;
}

export interface NewSession {
  readonly id: string;
  readonly source: string;
  readonly model?: string | undefined;
  readonly modelConfig?: JsonObject | undefined;
  readonly systemPrompt?: string | undefined;
  readonly userId?: string | undefined;
  readonly parentSessionId?: string | undefined;
}

/** A row of the session list. `system_prompt` is left out of lists: it is large and not shown there. */
export interface SessionSummary extends Omit<SessionRow, "system_prompt"> {
  readonly preview: string;
  readonly last_active: number;
  /** The first session of the compaction chain, on rows that show the tip of one. */
  readonly _lineage_root_id?: string | undefined;
}

export interface ListOptions {
  readonly source?: string | undefined;
  readonly excludeSources?: readonly string[] | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly includeChildren?: boolean | undefined;
  readonly projectCompressionTips?: boolean | undefined;
  readonly orderByLastActive?: boolean | undefined;
  /** Only this tenant's sessions, where several users share a home. */
  readonly userId?: string | undefined;
}

/** A message to append: any role, content of any JSON shape. */
export interface NewMessage {
  readonly role: string;
  readonly content?: Content | Json | undefined;
  readonly tool_name?: string | null | undefined;
  readonly tool_calls?: readonly ToolCall[] | Json | undefined;
  readonly tool_call_id?: string | null | undefined;
  readonly token_count?: number | null | undefined;
  readonly finish_reason?: string | null | undefined;
  readonly reasoning?: string | null | undefined;
  readonly reasoning_content?: string | null | undefined;
  readonly reasoning_details?: Json | undefined;
  readonly codex_reasoning_items?: Json | undefined;
  readonly codex_message_items?: Json | undefined;
}

/** A stored row, decoded: content parsed when it was structured, tool_calls parsed, other JSON columns raw text. */
export interface MessageRow {
  readonly id: number;
  readonly session_id: string;
  readonly role: string;
  readonly content: Content | Json;
  readonly tool_call_id: string | null;
  readonly tool_calls: readonly Json[] | null;
  readonly tool_name: string | null;
  readonly timestamp: number;
  readonly token_count: number | null;
  readonly finish_reason: string | null;
  readonly reasoning: string | null;
  readonly reasoning_content: string | null;
  readonly reasoning_details: string | null;
  readonly codex_reasoning_items: string | null;
  readonly codex_message_items: string | null;
}

export interface TokenUpdate {
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly reasoningTokens?: number | undefined;
  readonly estimatedCostUsd?: number | undefined;
  readonly actualCostUsd?: number | undefined;
  readonly costStatus?: string | undefined;
  readonly costSource?: string | undefined;
  readonly pricingVersion?: string | undefined;
  readonly billingProvider?: string | undefined;
  readonly billingBaseUrl?: string | undefined;
  readonly billingMode?: string | undefined;
  readonly model?: string | undefined;
  readonly apiCallCount?: number | undefined;
  /** Set the counters instead of adding to them. */
  readonly absolute?: boolean | undefined;
}

export interface SearchOptions {
  readonly sourceFilter?: readonly string[] | undefined;
  readonly excludeSources?: readonly string[] | undefined;
  readonly roleFilter?: readonly string[] | undefined;
  readonly userId?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  /** Only messages of these sessions (for example the ancestors of a conversation). */
  readonly sessionIds?: readonly string[] | undefined;
}

export interface SearchHit {
  readonly id: number;
  readonly session_id: string;
  readonly role: string;
  /** The passage around the match, matches between `>>>` and `<<<`. */
  readonly snippet: string | null;
  readonly timestamp: number;
  readonly tool_name: string | null;
  readonly source: string;
  readonly model: string | null;
  readonly session_started: number;
  /** The message before, the match, the message after: each cut to 200 characters. */
  readonly context: readonly { readonly role: string; readonly content: string }[];
}

export interface SearchAnswer {
  readonly hits: readonly SearchHit[];
  /** Set when an index is damaged and the search was slower. */
  readonly notice?: string | undefined;
}

export interface ExportedSession extends SessionRow {
  readonly last_active?: number | undefined;
  readonly messages: readonly MessageRow[];
}

export interface ModelUsageRow {
  readonly model: string;
  readonly session_count: number;
  readonly total_input: number;
  readonly total_output: number;
  readonly total_cost: number | null;
}

export interface StoreStats {
  readonly sessions: number;
  readonly messages: number;
  readonly bySource: { readonly [source: string]: number };
  readonly fileBytes: number;
  readonly walBytes: number;
  readonly indexLayout: "inline" | "compact";
  readonly byModel: readonly ModelUsageRow[];
  readonly largestByTokens: readonly {
    readonly id: string;
    readonly title: string | null;
    readonly model: string | null;
    readonly total_tokens: number;
    readonly estimated_cost_usd: number | null;
  }[];
}

/** Progress of long work, in steps of `total`; called between small transactions. */
export type OnProgress = (done: number, total: number) => void;

export interface RepairReport {
  readonly integrity: "ok" | string;
  readonly problems: readonly string[];
  readonly repaired: readonly string[];
  readonly indexedRows: number;
}

export interface StoreHealth {
  /** `ok`, `index_damaged` (search degraded, appends fine), `read_only`, `full`. */
  readonly state: "ok" | "index_damaged" | "read_only" | "full";
  readonly notice?: string | undefined;
  /** 0 to 1 while an index is being rebuilt in the background. */
  readonly rebuildProgress?: number | undefined;
}

export interface ImportResult {
  readonly imported: number;
  readonly skipped: number;
  readonly messages: number;
  readonly problems: readonly string[];
}

export interface MessagePage {
  readonly afterId?: number | undefined;
  readonly limit?: number | undefined;
  /** Leaves out messages that were taken back. */
  readonly withoutUndone?: boolean | undefined;
}

/** A stored result of a tool, without its text. */
export interface ToolResultRow {
  readonly id: number;
  readonly session_id: string;
  readonly tool_call_id: string | null;
  readonly tool_name: string | null;
}

/** Appends to sessions and reads them back. A resolved write is on disk. */
export interface SessionLog {
  /** An existing row is left as it is. */
  createSession(session: NewSession): Promise<string>;
  /** Has no effect on a session that has ended already. */
  endSession(id: string, reason: string): Promise<void>;
  reopenSession(id: string): Promise<void>;
  updateSystemPrompt(id: string, text: string): Promise<void>;
  getSession(id: string): Promise<SessionRow | null>;
  updateTokenCounts(id: string, update: TokenUpdate): Promise<void>;
  /**
   * Ends `fromId` and opens the next session with `messages`, in one transaction. After a compaction (the default) the
   * goal moves to the new session; a branch starts without one.
   */
  splitSession(split: {
    fromId: string;
    reason?: "compression" | "branched" | undefined;
    session: NewSession;
    title?: string | undefined;
    messages: readonly NewMessage[];
  }): Promise<number[]>;
  appendMessage(sessionId: string, message: NewMessage): Promise<number>;
  /** All or nothing; ids in order. */
  appendMessages(sessionId: string, messages: readonly NewMessage[]): Promise<number[]>;
  getMessages(sessionId: string, page?: MessagePage): Promise<MessageRow[]>;
  /**
   * Takes back the last `count` messages, which must begin with one of the user: they stay stored and searchable, and
   * `getConversation` leaves them out.
   */
  undoMessages(sessionId: string, count: number): Promise<void>;
  /** Without messages that were taken back. */
  getConversation(sessionId: string, options?: { includeAncestors?: boolean | undefined }): Promise<Message[]>;
  messageCount(sessionId?: string): Promise<number>;
  /** The results of tools in these sessions, without their texts. */
  toolResults(sessionIds: readonly string[]): Promise<ToolResultRow[]>;
  getMeta(key: string): Promise<string | null>;
  setMeta(key: string, value: string): Promise<void>;
}

/** Finds sessions: by id, title, lineage, list and search. */
export interface SessionIndex {
  resolveSessionId(idOrPrefix: string): Promise<string | null>;
  getCompressionTip(id: string): Promise<string>;
  resolveResumeSessionId(id: string): Promise<string>;
  /** The chain of parents, root first, the session itself last; empty for an unknown id. */
  ancestors(id: string): Promise<string[]>;

  setSessionTitle(id: string, title: string | null): Promise<boolean>;
  getSessionTitle(id: string): Promise<string | null>;
  getSessionByTitle(title: string): Promise<SessionRow | null>;
  resolveSessionByTitle(title: string): Promise<string | null>;
  getNextTitleInLineage(base: string): Promise<string>;

  listSessions(options?: ListOptions): Promise<SessionSummary[]>;
  searchSessions(options?: {
    source?: string | undefined;
    limit?: number;
    offset?: number | undefined;
  }): Promise<SessionSummary[]>;
  searchMessages(query: string, options?: SearchOptions): Promise<SearchAnswer>;
}

/** Maintains the store: counts, export and import, deletion, health and repair. */
export interface StoreAdmin {
  sessionCount(source?: string): Promise<number>;
  exportSession(id: string): Promise<ExportedSession | null>;
  /** One session at a time: a big store is never held in memory. */
  exportAll(source?: string): AsyncIterable<ExportedSession>;
  importSession(session: ExportedSession): Promise<ImportResult>;
  deleteSession(id: string, sessionsDir?: string): Promise<boolean>;
  pruneSessions(options?: {
    olderThanDays?: number | undefined;
    source?: string | undefined;
    sessionsDir?: string | undefined;
    onProgress?: OnProgress | undefined;
  }): Promise<number>;
  vacuum(): Promise<void>;
  stats(): Promise<StoreStats>;
  health(): Promise<StoreHealth>;
  repair(onProgress?: OnProgress): Promise<RepairReport>;
  /** Switches the search index between the layout of schema version 11 and the compact one. */
  setIndexLayout(layout: "inline" | "compact", onProgress?: OnProgress): Promise<void>;
  /** Idempotent. Checkpoints and closes; later calls reject. */
  close(): Promise<void>;
}

/**
 * The whole store, for the code that opens it; everything else takes the contract it needs. It is asynchronous because
 * it runs in this process or in a worker thread. Locks are retried inside: a caller sees one only when it lasts for the
 * whole retry budget, and a failure does not affect later calls.
 */
export interface SessionStore extends SessionLog, SessionIndex, StoreAdmin {}
