// The session with Discord's gateway, kept on disk: after a crash the events that were not kept yet are sent again.
import type { SessionInfo } from "@discordjs/ws";
import type { PlatformContext } from "../../core/platform.ts";

const KEY = "gateway_session";
const LAZY_MS = 5_000;

/**
 * Two sequence numbers: the library's own, of what has arrived, and the durable one, of what is in the inbox. Resuming
 * with the durable one makes Discord repeat the rest, and the inbox knows repetitions.
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
      // Without it the bot signs in afresh.
      this.#live = null;
    }
  }

  get current(): SessionInfo | null {
    return this.#live;
  }

  /** Null forgets the session, unless we are the ones who leave. */
  async update(info: SessionInfo | null): Promise<void> {
    if (this.#closed) return;
    const changed = info?.sessionId !== this.#live?.sessionId;
    this.#live = info;
    if (!changed) return;
    // Stored when its first event is handled: until then what was missed is not in the inbox, and a crash begins afresh.
    this.#handled = 0;
    await this.#save();
  }

  /** Everything up to this event is in the inbox or needs not be there. */
  async handled(sequence: number, important: boolean): Promise<void> {
    const first = this.#handled === 0;
    this.#handled = Math.max(this.#handled, sequence);
    if (first || important || this.#context.now() - this.#savedAt > LAZY_MS) await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#closed) return;
    this.#savedAt = this.#context.now();
    const stored = this.#live && this.#handled > 0 ? { ...this.#live, sequence: this.#handled } : null;
    await this.#context.memory.set(KEY, JSON.stringify(stored));
  }

  /** What was handled last is kept; later changes are not. */
  async close(): Promise<void> {
    if (this.#live) await this.#save();
    this.#closed = true;
  }
}
