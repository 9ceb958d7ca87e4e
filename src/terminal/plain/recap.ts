// The recap of a resumed conversation: its last exchanges, shortened.

import { type Content, contentText } from "../../core/message.ts";
import type { SessionLog } from "../../core/store/session.ts";
import type { Terminal } from "../../lib/terminal/terminal.ts";

const EXCHANGES = 10;
const USER_CHARS = 300;
const ASSISTANT_CHARS = 200;
const ASSISTANT_LINES = 3;

function shorten(text: string, chars: number, lines: number): string {
  const head = text.split("\n").slice(0, lines).join("\n");
  const cut = [...head].slice(0, chars).join("");
  return cut.length < text.length ? `${cut} …` : cut;
}

export async function recap(store: SessionLog, sessionId: string, terminal: Terminal): Promise<string> {
  const rows = (await store.getMessages(sessionId))
    .filter((row) => row.role === "user" || row.role === "assistant")
    .slice(-2 * EXCHANGES);
  const lines: string[] = [];
  for (const row of rows) {
    const text = terminal.forOut(typeof row.content === "string" ? row.content : contentText(row.content as Content));
    const calls = (row.tool_calls ?? []).map(
      (call) => (call as { function?: { name?: string | undefined } }).function?.name ?? "?",
    );
    if (row.role === "user") lines.push(`${terminal.style("cyan", "❯")} ${shorten(text, USER_CHARS, 10)}`);
    else if (text.trim() !== "") lines.push(terminal.style("dim", shorten(text, ASSISTANT_CHARS, ASSISTANT_LINES)));
    if (calls.length > 0)
      lines.push(
        terminal.style(
          "dim",
          `  ${calls.length} tool call${calls.length === 1 ? "" : "s"}: ${terminal.forOut([...new Set(calls)].join(", "))}`,
        ),
      );
  }
  return lines.join("\n");
}
