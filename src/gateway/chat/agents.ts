// Open conversations of chats, reused between turns. Idle and least recently used ones are closed.
import type { OpenedConversation } from "../../core/conversation.ts";

export interface Agent {
  readonly opened: OpenedConversation;
  /** The options it was opened with; when they change, it is opened again. */
  readonly signature: string;
  /** Number of stored messages of its session; undefined when unknown. */
  messages?: number | undefined;
}

interface PooledAgent extends Agent {
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
  readonly #pool = new Map<string, PooledAgent>();
  readonly #closing = new Set<Promise<void>>();

  constructor(limits: AgentLimits, now: () => number) {
    this.#limits = limits;
    this.#now = now;
  }

  get size(): number {
    return this.#pool.size;
  }

  /** The chat's conversation, marked busy until `release`. Opens one when there is none or the signature changed. */
  async take(key: string, signature: string, open: () => Promise<OpenedConversation>): Promise<Agent> {
    const pooled = this.#pool.get(key);
    if (pooled && pooled.signature === signature) {
      this.#pool.delete(key);
      this.#pool.set(key, pooled);
      pooled.busy = true;
      return pooled;
    }
    if (pooled) await this.drop(key);
    const fresh: PooledAgent = { opened: await open(), signature, usedAt: this.#now(), busy: true };
    this.#pool.set(key, fresh);
    this.#trim();
    return fresh;
  }

  peek(key: string): Agent | undefined {
    return this.#pool.get(key);
  }

  release(key: string): void {
    const pooled = this.#pool.get(key);
    if (!pooled) return;
    pooled.busy = false;
    pooled.usedAt = this.#now();
    this.#trim();
  }

  /** Closes it; a running turn is interrupted. With a reason its session ends. */
  async drop(key: string, reason?: "session_reset"): Promise<void> {
    const pooled = this.#pool.get(key);
    if (!pooled) return;
    this.#pool.delete(key);
    await this.#close(pooled, reason);
  }

  /** Closes conversations that have been idle too long. */
  sweep(): void {
    for (const [key, pooled] of this.#pool)
      if (!pooled.busy && this.#now() - pooled.usedAt > this.#limits.idleMs) void this.drop(key);
  }

  #trim(): void {
    let over = this.#pool.size - this.#limits.most;
    for (const [key, pooled] of this.#pool) {
      if (over <= 0) return;
      if (pooled.busy) continue;
      over -= 1;
      void this.drop(key);
    }
  }

  async #close(pooled: PooledAgent, reason?: string): Promise<void> {
    const closing = pooled.opened.conversation.close({ reason }).catch(() => undefined);
    this.#closing.add(closing);
    await closing;
    this.#closing.delete(closing);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pool.keys()].map((key) => this.drop(key)));
    await Promise.all(this.#closing);
  }
}
