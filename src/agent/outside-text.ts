// Has the conversation read text from outside? Such text stays in the window, so it matters beyond the turn that read it.
import type { Message } from "../core/message.ts";

/** Tools whose results other people wrote: pages, search results, servers of others. */
const FOREIGN = /^(?:web_|browser_|mcp_|x_search)/;

/** True when a stored result came from such a tool. What a compaction summarised is not looked at. */
export function readOutside(log: readonly Message[]): boolean {
  return log.some((message) => message.role === "tool" && FOREIGN.test(message.tool_name));
}
