// Open conversations of chats, reused between turns. Idle and least recently used ones are closed.
import type { OpenedConversation } from "../../core/conversation.ts";

export interface Agent {
  readonly opened: OpenedConversation;
  /** The options it was opened with; when they change, it is opened again. */
  readonly signature: string;
  /** Number of stored messages of its session; undefined when unknown. */
  messages?: number | undefined;
}

interface Held extends Agent {
  usedAt: number;
  busy: boolean;
}

export interface AgentLimits {
  readonly most: number;
  readonly idleMs: number;
}

export class Agents {
  readonly #limits: AgentLimits;
  readonly #now: () => number;
  readonly #held = new Map<string, Held>();
  readonly #closing = new Set<Promise<void>>();

  constructor(limits: AgentLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#held.size;
  }

  /** The chat's conversation, marked busy until `release`. Opens one when there is none or the signature changed. */
  async take(key: string, signature: string, open: () => Promise<OpenedConversation>): Promise<Agent> {
    const held = this.#held.get(key);
    if (held && held.signature === signature) {
      this.#held.delete(key);
      this.#held.set(key, held);
      held.busy = true;
      return held;
    }
    if (held) await this.drop(key);
    const fresh: Held = { opened: await open(), signature, usedAt: this.#now(), busy: true };
    this.#held.set(key, fresh);
    this.#trim();
    return fresh;
  }

  peek(key: string): Agent | undefined {
    return this.#held.get(key);
  }

  release(key: string): void {
    const held = this.#held.get(key);
    if (!held) return;
    held.busy = false;
    held.usedAt = this.#now();
    this.#trim();
  }

  /** Closes it; a running turn is interrupted. */
  async drop(key: string): Promise<void> {
    const held = this.#held.get(key);
    if (!held) return;
    this.#held.delete(key);
    await this.#close(held);
  }

  /** Closes conversations that have been idle too long. */
  sweep(): void {
    for (const [key, held] of this.#held)
      if (!held.busy && this.#now() - held.usedAt > this.#limits.idleMs) void this.drop(key);
  }

  #trim(): void {
    let over = this.#held.size - this.#limits.most;
    for (const [key, held] of this.#held) {
      if (over <= 0) return;
      if (held.busy) continue;
      over -= 1;
      void this.drop(key);
    }
  }

  async #close(held: Held): Promise<void> {
    const closing = held.opened.conversation.close().catch(() => undefined);
    this.#closing.add(closing);
    await closing;
    this.#closing.delete(closing);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#held.keys()].map((key) => this.drop(key)));
    await Promise.all(this.#closing);
  }
}
