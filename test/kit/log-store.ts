// The part of the session store that recall needs, in memory: rows by session, sessions chained by compaction.
import type { Message } from "../../src/core/message.ts";
import { contentText } from "../../src/core/message.ts";
import type { MessageRow, SearchHit, SessionRow } from "../../src/core/store/session.ts";
import type { FullStore } from "../../src/store/full-store.ts";

type Port = Pick<FullStore, "ancestors" | "getSession" | "getMessages" | "searchMessages">;

export class LogStore implements Port {
  readonly #rows = new Map<string, MessageRow[]>();
  readonly #chain: string[] = [];
  #nextId = 1;

  /** Opens a session; each one continues the one before. */
  open(id: string): void {
    this.#chain.push(id);
    this.#rows.set(id, []);
  }

  append(id: string, messages: readonly Message[]): void {
    for (const message of messages) {
      const tool = message.role === "tool" ? message : undefined;
      this.#rows.get(id)?.push({
        id: this.#nextId++,
        session_id: id,
        role: message.role,
        content: message.content,
        tool_call_id: tool?.tool_call_id ?? null,
        tool_calls: message.role === "assistant" ? ((message.tool_calls ?? null) as MessageRow["tool_calls"]) : null,
        tool_name: tool?.tool_name ?? null,
        timestamp: 0,
        token_count: null,
        finish_reason: null,
        reasoning: null,
        reasoning_content: null,
        reasoning_details: null,
        codex_reasoning_items: null,
        codex_message_items: null,
      });
    }
  }

  async ancestors(id: string): Promise<string[]> {
    return this.#chain.slice(0, this.#chain.indexOf(id) + 1);
  }

  async getSession(id: string): Promise<SessionRow | null> {
    const last = this.#chain.at(-1) === id;
    return { id, end_reason: last ? null : "compression" } as SessionRow;
  }

  async getMessages(id: string, page: { afterId?: number; limit?: number } = {}): Promise<MessageRow[]> {
    const rows = (this.#rows.get(id) ?? []).filter((row) => row.id > (page.afterId ?? 0));
    return rows.slice(0, page.limit ?? rows.length);
  }

  async searchMessages(query: string, options: { sessionIds?: readonly string[]; limit?: number } = {}) {
    const words = query.toLowerCase().split(/\s+/);
    const hits: SearchHit[] = [];
    for (const id of options.sessionIds ?? this.#chain) {
      for (const row of this.#rows.get(id) ?? []) {
        const text = contentText(row.content as Message["content"]).toLowerCase();
        if (words.every((word) => text.includes(word))) hits.push({ ...row, snippet: null } as unknown as SearchHit);
      }
    }
    return { hits: hits.slice(0, options.limit ?? 20) };
  }
}
