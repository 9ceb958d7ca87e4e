// Whether a conversation holds text from outside. It stays so for all its turns, through compactions and restarts:
// the text, or a summary of it, is still in the window.
import type { Message } from "../core/message.ts";
import type { SessionLog } from "../core/session.ts";
import type { ToolResult } from "../core/tool.ts";

/** Tools whose results other people wrote: pages, search results, servers of others. */
const FOREIGN = /^(?:web_|browser_|mcp_|x_search)/;

const keyOf = (conversationId: string) => `outside:${conversationId}`;

/** For sessions from before there was a record: the name of a tool whose stored result other people wrote. */
function foreignTool(log: readonly Message[]): string | undefined {
  const found = log.find((message) => message.role === "tool" && FOREIGN.test(message.tool_name));
  return found?.role === "tool" ? `the result of ${found.tool_name}` : undefined;
}

/** Whether a result is other people's text: by its own word, else by the kind of tool. A web tool that failed read nothing. */
export function isForeign(name: string, result: Pick<ToolResult, "trust" | "failed">): boolean {
  if (result.trust !== undefined) return result.trust === "untrusted";
  return FOREIGN.test(name) && !(result.failed && name.startsWith("web_"));
}

export class OutsideText {
  readonly #store: Pick<SessionLog, "getMeta" | "setMeta">;
  readonly #conversationId: string;
  #origin: string | undefined;
  #loaded = false;

  constructor(store: Pick<SessionLog, "getMeta" | "setMeta">, conversationId: string) {
    this.#store = store;
    this.#conversationId = conversationId;
  }

  /** Where the first such text came from; undefined when there is none. */
  get origin(): string | undefined {
    return this.#origin;
  }

  /** Reads the record of a resumed conversation, once. */
  async load(resumed: boolean, log: readonly Message[]): Promise<void> {
    if (this.#loaded) return;
    if (resumed) this.#origin ??= (await this.#store.getMeta(keyOf(this.#conversationId))) || foreignTool(log);
    this.#loaded = true;
  }

  /** Durable before it resolves. */
  async add(origin: string): Promise<void> {
    if (this.#origin !== undefined) return;
    this.#origin = origin;
    await this.#store.setMeta(keyOf(this.#conversationId), origin);
  }
}
