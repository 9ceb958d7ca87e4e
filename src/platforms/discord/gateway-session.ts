// The session with Discord's gateway, stored on disk: after a crash Discord repeats the events that were not stored.
import type { SessionInfo } from "@discordjs/ws";
import type { PlatformContext } from "../../core/chat/platform.ts";

const KEY = "gateway_session";
const SAVE_INTERVAL_MS = 5_000;

/**
 * There are two sequence numbers: the library's for received events, and the stored one for events in the inbox. Resuming
 * with the stored one makes Discord repeat the rest; the inbox ignores duplicates.
 */
export class GatewaySession {
  readonly #context: PlatformContext;
  #live: SessionInfo | null = null;
  #handled = 0;
  #savedAt = 0;
  #closed = false;

  constructor(context: PlatformContext) {
    this.#context = context;
  }

  async load(): Promise<void> {
    const text = await this.#context.memory.get(KEY);
    if (!text) return;
    try {
      const stored = JSON.parse(text) as SessionInfo | null;
      if (!stored?.sessionId) return;
      this.#live = stored;
      this.#handled = stored.sequence;
    } catch {
      // Without it the bot starts a new session.
      this.#live = null;
    }
  }

  get current(): SessionInfo | null {
    return this.#live;
  }

  /** Null deletes the session, except while the bot disconnects itself. */
  async update(info: SessionInfo | null): Promise<void> {
    if (this.#closed) return;
    const changed = info?.sessionId !== this.#live?.sessionId;
    this.#live = info;
    if (!changed) return;
    // Stored with its first event: before that the missed messages are not in the inbox, and a crash must start again.
    this.#handled = 0;
    await this.#save();
  }

  /** Everything up to this event is stored or irrelevant. */
  async handled(sequence: number, important: boolean): Promise<void> {
    const first = this.#handled === 0;
    this.#handled = Math.max(this.#handled, sequence);
    if (first || important || this.#context.now() - this.#savedAt > SAVE_INTERVAL_MS) await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#closed) return;
    this.#savedAt = this.#context.now();
    const stored = this.#live && this.#handled > 0 ? { ...this.#live, sequence: this.#handled } : null;
    await this.#context.memory.set(KEY, JSON.stringify(stored));
  }

  /** Stores the last handled event; later changes are ignored. */
  async close(): Promise<void> {
    if (this.#live) await this.#save();
    this.#closed = true;
  }
}
