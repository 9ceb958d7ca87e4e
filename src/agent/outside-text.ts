// Records that a conversation contains untrusted text. That holds for all later turns, through compactions and
// restarts: the text, or a summary of it, is still in the window.
import type { Message } from "../core/message.ts";
import type { SessionLog } from "../core/store/session.ts";
import type { ToolResult } from "../core/tool/tool.ts";

/** Tools whose results other people wrote: web pages, search results, MCP servers. */
const FOREIGN = /^(?:web_|browser_|mcp_|x_search)/;

const metaKey = (conversationId: string) => `outside:${conversationId}`;

/** For sessions without a record: the first stored result of a foreign tool. */
function foreignTool(log: readonly Message[]): string | undefined {
  const found = log.find((message) => message.role === "tool" && FOREIGN.test(message.tool_name));
  return found?.role === "tool" ? `the result of ${found.tool_name}` : undefined;
}

/** Whether a result is untrusted: by its `trust`, else by the name of the tool. A failed web tool has read nothing. */
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
    if (resumed) this.#origin ??= (await this.#store.getMeta(metaKey(this.#conversationId))) || foreignTool(log);
    this.#loaded = true;
  }

  /** Durable before it resolves. */
  async add(origin: string): Promise<void> {
    if (this.#origin !== undefined) return;
    this.#origin = origin;
    await this.#store.setMeta(metaKey(this.#conversationId), origin);
  }
}
