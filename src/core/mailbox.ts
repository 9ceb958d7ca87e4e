// The durable inbox and outbox of the gateway: what arrived and is not done, what must be sent and is not.
import type { Button, Destination, InboundEvent, MediaKind } from "./platform.ts";

/** How an inbound event ended. */
export type InboxOutcome =
  | "answered"
  | "silent"
  | "command"
  | "press"
  | "answer"
  | "steered"
  | "merged"
  | "interrupted"
  | "unauthorised"
  | "dropped"
  | "failed";

export interface InboxRow {
  readonly id: number;
  readonly platform: string;
  readonly event: InboundEvent;
  readonly state: "received" | "running" | "done";
  /** The session of the turn that was begun for it, and the newest stored message before that turn. */
  readonly sessionId: string | null;
  readonly logAfter: number | null;
  /** How many times a turn was begun. */
  readonly attempts: number;
  readonly receivedAt: number;
  /** Other rows that are part of this message; they end with it. Never on disk. */
  readonly absorbed?: readonly number[] | undefined;
}

export type OutboxPayload =
  | {
      readonly type: "text";
      readonly text: string;
      readonly buttons?: readonly (readonly Button[])[] | undefined;
      readonly replyTo?: string | undefined;
      readonly silent?: boolean | undefined;
    }
  | {
      readonly type: "file";
      readonly kind: MediaKind;
      readonly path: string;
      readonly name: string;
      readonly caption?: string | undefined;
      readonly replyTo?: string | undefined;
    }
  /** The last words of a message that is on the screen already. */
  | {
      readonly type: "edit";
      readonly messageId: string;
      readonly text: string;
      readonly buttons?: readonly (readonly Button[])[] | undefined;
    };

export interface NewOutgoing {
  /** Unique for ever: the same key is sent once, however often it is asked for. */
  readonly key: string;
  readonly platform: string;
  readonly to: Destination;
  readonly payload: OutboxPayload;
  /** Worth nothing after a crash: acknowledgements, progress, questions of a turn that died. */
  readonly ephemeral?: boolean | undefined;
}

export interface OutboxRow extends NewOutgoing {
  readonly id: number;
  /** `sending` means that a request may have left; seen after a crash, its end is unknown. */
  readonly state: "queued" | "sending" | "sent" | "failed";
  readonly attempts: number;
  readonly mark: string | null;
  readonly messageId: string | null;
  readonly error: string | null;
  /** Unix milliseconds. */
  readonly createdAt: number;
}

export interface MailboxCounts {
  /** Events that wait for their turn or are in one. */
  readonly inbox: number;
  readonly outbox: number;
  /** Messages that could not be delivered in the last day. */
  readonly failed: number;
  /** Unix milliseconds of the oldest event that is not done. */
  readonly oldestInbox: number | null;
}

/**
 * A resolved write is on disk; `begin`, `sent` and `setMemory`, which can be found out again, are only safe from the end
 * of the process until the next of the others. Calls that arrive together share one transaction.
 */
export interface Mailbox {
  /** Keeps what is new, in order; events whose key is known are left out of the answer. */
  accept(platform: string, events: readonly InboundEvent[]): Promise<InboxRow[]>;
  /** Everything that is not done, oldest first: read once at start. */
  pending(): Promise<{ readonly inbox: readonly InboxRow[]; readonly outbox: readonly OutboxRow[] }>;
  /** A turn begins for these events. */
  begin(ids: readonly number[], place: { readonly sessionId: string; readonly logAfter: number }): Promise<void>;
  /**
   * The events are done and their answers are to be sent, in one step. With `sending` the first answer is stored as on
   * its way already: `sending(id, mark)` is not called for it.
   */
  finish(
    ids: readonly number[],
    outcome: InboxOutcome,
    outgoing?: readonly NewOutgoing[],
    sending?: { readonly mark: string | null },
  ): Promise<readonly OutboxRow[]>;
  /** Rows for keys that are new. */
  enqueue(outgoing: readonly NewOutgoing[]): Promise<readonly OutboxRow[]>;
  sending(id: number, mark: string | null): Promise<void>;
  sent(id: number, messageId: string): Promise<void>;
  /** Nothing was delivered: it waits for another attempt. */
  postponed(id: number, reason: string): Promise<void>;
  failed(id: number, reason: string): Promise<void>;
  /** The row of a key, whatever its state. */
  findOutgoing(key: string): Promise<OutboxRow | null>;
  /** Ids of messages that the platform is known to have: received ones and sent ones, since then. */
  knownMessages(platform: string, since: number): Promise<readonly string[]>;
  /** The newest message of each chat that is accounted for, received or sent. */
  newestMessages(platform: string): Promise<readonly { readonly chatId: string; readonly messageId: string }[]>;
  /** The newest failures, for the person. */
  failures(limit: number): Promise<readonly OutboxRow[]>;
  getMemory(platform: string, key: string): Promise<string | null>;
  /** Kept until that time in Unix milliseconds, or for good. */
  setMemory(platform: string, key: string, value: string, until?: number): Promise<void>;
  counts(): Promise<MailboxCounts>;
  /** Forgets what was done before that time, and memory whose time is over; how many messages went. */
  prune(before: number): Promise<number>;
  close(): Promise<void>;
}
