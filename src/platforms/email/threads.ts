// E-mail threads: the conversation of an e-mail, and the references of its reply.
import { createHash } from "node:crypto";
import type { PlatformContext } from "../../core/chat/platform.ts";

const MAX_REFERENCES = 20;
/** A reply to an e-mail older than this starts a new thread. */
const KEEP_MS = 365 * 86_400_000;

export interface Thread {
  readonly id: string;
  readonly subject: string;
  /** Message-IDs, oldest first; replies answer the last one. */
  readonly references: readonly string[];
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

export function baseSubject(subject: string): string {
  return subject.replace(/^(?:(?:re|aw|fw|fwd|wg|sv|antw)(?:\[\d+\])?\s*:\s*)+/i, "").trim();
}

/** Stored per sender: another sender cannot join a thread by naming its ids. */
export class Threads {
  readonly #memory: PlatformContext["memory"];
  readonly #now: () => number;

  constructor(context: PlatformContext) {
    this.#memory = context.memory;
    this.#now = () => context.now();
  }

  async #findThreadId(address: string, messageId: string): Promise<string | null> {
    return this.#memory.get(`letter:${short(`${address} ${messageId}`)}`);
  }

  async get(id: string): Promise<Thread | null> {
    const text = await this.#memory.get(`thread:${id}`);
    return text === null ? null : (JSON.parse(text) as Thread);
  }

  /** The thread that one of the references belongs to; a new one when none is known. */
  async find(address: string, messageId: string, references: readonly string[]): Promise<string> {
    for (const known of [messageId, ...[...references].reverse()]) {
      const id = await this.#findThreadId(address, known);
      if (id !== null) return id;
    }
    return short(`${address} ${references[0] ?? messageId}`);
  }

  /** Adds an e-mail to its thread, so that replies to it are recognised. */
  async add(address: string, thread: Thread, messageId: string): Promise<Thread> {
    const references = thread.references.filter((known) => known !== messageId);
    // The first id is kept: most mail programs need it to show the thread.
    const retained =
      references.length < MAX_REFERENCES
        ? references
        : [...references.slice(0, 1), ...references.slice(2 - MAX_REFERENCES)];
    const next: Thread = { ...thread, references: [...retained, messageId] };
    const until = this.#now() + KEEP_MS;
    await this.#memory.set(`letter:${short(`${address} ${messageId}`)}`, thread.id, until);
    await this.#memory.set(`thread:${thread.id}`, JSON.stringify(next), until);
    return next;
  }
}
