// Everything that the store can do. The program uses the contracts of core/.
import type { HandoffStore } from "../core/store/handoff.ts";
import type { NewMessage, SessionStore, SessionSummary } from "../core/store/session.ts";
import type { TopicStore } from "../core/store/telegram-topics.ts";

export interface MaintenanceResult {
  readonly skipped: boolean;
  readonly pruned: number;
  readonly vacuumed: boolean;
  readonly error?: string | undefined;
}

export interface TopicBinding {
  readonly chat_id: string;
  readonly thread_id: string;
  readonly user_id: string;
  readonly session_key: string;
  readonly session_id: string;
  readonly managed_mode: string;
  readonly linked_at: number;
  readonly updated_at: number;
}

export interface NewTopicBinding {
  readonly chatId: string;
  readonly threadId: string;
  readonly userId: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly managedMode?: string | undefined;
}

/** Operations that only the tests of v0.14 call, which are run against this store. */
export interface ReferenceOperations {
  ensureSession(session: { id: string; source?: string | undefined; model?: string }): Promise<string>;
  /** The session itself, then everything below it, level by level; empty for an unknown id. */
  descendants(id: string): Promise<string[]>;
  replaceMessages(sessionId: string, messages: readonly NewMessage[]): Promise<void>;
  clearMessages(sessionId: string): Promise<void>;
  pruneEmptyGhostSessions(sessionsDir?: string): Promise<number>;
  finalizeOrphanedCompressionSessions(): Promise<number>;
  maybeAutoPruneAndVacuum(options?: {
    retentionDays?: number | undefined;
    minIntervalHours?: number | undefined;
    vacuum?: boolean | undefined;
    sessionsDir?: string | undefined;
  }): Promise<MaintenanceResult>;
  applyTelegramTopicMigration(): Promise<void>;
  getTelegramTopicBinding(chatId: string, threadId: string): Promise<TopicBinding | null>;
  bindTelegramTopic(binding: NewTopicBinding): Promise<void>;
  isTelegramSessionLinkedToTopic(sessionId: string): Promise<boolean>;
  listUnlinkedTelegramSessionsForUser(chatId: string, userId: string, limit?: number): Promise<SessionSummary[]>;
}

export interface FullStore extends SessionStore, HandoffStore, TopicStore, ReferenceOperations {}
