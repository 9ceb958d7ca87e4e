// What API clients may refer to later: stored responses, named conversations, and threads of plain chats.
import type { JsonObject, Message } from "../message.ts";

export interface StoredResponse {
  readonly id: string;
  /** The object as the client got it. */
  readonly response: JsonObject;
  /** The visible conversation up to and including this answer. */
  readonly history: readonly Message[];
  readonly instructions: string | null;
  readonly sessionId: string;
  /** Messages of the session when the answer was complete: a session that has grown since was continued elsewhere. */
  readonly messageCount: number;
}

/** The state of a conversation whose history the client sends in full. */
export interface StoredThread {
  readonly sessionId: string;
  readonly messageCount: number;
}

/** Bounded: the oldest entries are deleted. */
export interface ResponseStore {
  get(id: string): StoredResponse | null;
  /** `conversation` gives the answer a name that the next request may use instead of the id. */
  put(stored: StoredResponse, conversation?: string): void;
  delete(id: string): boolean;
  /** The newest answer of a named conversation. */
  findNewest(conversation: string): string | null;
  thread(fingerprint: string): StoredThread | null;
  putThread(fingerprint: string, thread: StoredThread): void;
  close(): void;
}
