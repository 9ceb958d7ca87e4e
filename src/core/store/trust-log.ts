// The stored trust of messages, in runtime.db: which message holds text of which origin.
import type { Provenance, Trust } from "../trust.ts";

export interface TrustRow {
  readonly sessionId: string;
  /** The row of the message; null while it is not stored yet. */
  readonly messageId: number | null;
  /** For a tool result: the id of its call, which copies of the message keep. */
  readonly callId?: string | undefined;
  readonly trust: Trust;
  readonly origin?: string | undefined;
}

export interface TrustLog {
  /** Resolves when the rows are on disk. */
  record(rows: readonly TrustRow[]): Promise<void>;
  /**
   * The least trusted text of the session and of those it was compacted or branched from. Results without a row, for
   * example those that v0.14 wrote, are classified by the name of their tool.
   */
  read(sessionId: string): Promise<Provenance>;
}
