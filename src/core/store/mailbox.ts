// The durable inbox and outbox of the gateway.
import type { Button, Destination, InboundEvent, MediaKind } from "../chat/platform.ts";

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
  /** Other rows that are part of this message and are done together with it. Not stored. */
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
  /** The final text of a message that is displayed already. */
  | {
      readonly type: "edit";
      readonly messageId: string;
      readonly text: string;
      readonly buttons?: readonly (readonly Button[])[] | undefined;
    };

export interface NewOutgoing {
  /** Unique: a message with the same key is sent once, even when it is enqueued several times. */
  readonly key: string;
  readonly platform: string;
  readonly to: Destination;
  readonly payload: OutboxPayload;
  /** Dropped after a crash: acknowledgements, progress, questions of a turn that no longer runs. */
  readonly ephemeral?: boolean | undefined;
}

export interface OutboxRow extends NewOutgoing {
  readonly id: number;
  /** `sending`: a request may have been sent; after a crash its outcome is unknown. */
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
 * A resolved write is on disk. Exceptions are `begin`, `sent` and `setMemory`, whose data can be reconstructed: they
 * survive a crash of the process, but a power failure only after a later write of another kind. Calls that arrive
 * together share one transaction.
 */
export interface Mailbox {
  /** Stores new events, in order; events whose key is known are not returned. */
  accept(platform: string, events: readonly InboundEvent[]): Promise<InboxRow[]>;
  /** Everything that is not done, oldest first: read once at start. */
  pending(): Promise<{ readonly inbox: readonly InboxRow[]; readonly outbox: readonly OutboxRow[] }>;
  /** Records that a turn begins for these events. */
  begin(ids: readonly number[], turn: { readonly sessionId: string; readonly logAfter: number }): Promise<void>;
  /**
   * Marks the events as done and stores their answers, in one step. With `sending`, the first answer is stored in the
   * state `sending`: `sending(id, mark)` is not called for it.
   */
  finish(
    ids: readonly number[],
    outcome: InboxOutcome,
    outgoing?: readonly NewOutgoing[],
    sending?: { readonly mark: string | null },
  ): Promise<readonly OutboxRow[]>;
  /** Stores messages with a new key and returns their rows. */
  enqueue(outgoing: readonly NewOutgoing[]): Promise<readonly OutboxRow[]>;
  sending(id: number, mark: string | null): Promise<void>;
  sent(id: number, messageId: string): Promise<void>;
  /** Nothing was delivered; it is tried again later. */
  postponed(id: number, reason: string): Promise<void>;
  failed(id: number, reason: string): Promise<void>;
  /** The row of a key, in any state. */
  findOutgoing(key: string): Promise<OutboxRow | null>;
  /** Ids of messages that the platform is known to have: received ones and sent ones, since then. */
  knownMessages(platform: string, since: number): Promise<readonly string[]>;
  /** The newest known message of each chat, received or sent. */
  newestMessages(platform: string): Promise<readonly { readonly chatId: string; readonly messageId: string }[]>;
  /** The newest failures, for the user. */
  failures(limit: number): Promise<readonly OutboxRow[]>;
  getMemory(platform: string, key: string): Promise<string | null>;
  /** `until` is in Unix milliseconds; without it the value does not expire. */
  setMemory(platform: string, key: string, value: string, until?: number): Promise<void>;
  counts(): Promise<MailboxCounts>;
  /** Deletes what was done before that time, and expired memory; returns the number of deleted messages. */
  prune(before: number): Promise<number>;
  close(): Promise<void>;
}
