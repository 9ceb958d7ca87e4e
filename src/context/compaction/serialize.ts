// Turns as plain text for a summariser, each body bounded.
import { contentText } from "../../core/message.ts";
import { truncate } from "../../lib/text/truncate.ts";
import type { Turn } from "./outline.ts";

const BODY = 6_000;
const ARGUMENTS = 1_500;

export interface SerializeOptions {
  readonly redact: (text: string) => string;
  /** Scales the limits down for summarisers with a small window; 1 by default. */
  readonly scale?: number | undefined;
}

function bound(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = Math.floor(limit * (4_000 / BODY));
  const tail = Math.floor(limit * (1_500 / BODY));
  return `${text.slice(0, head)}\n[… ${text.length - head - tail} characters left out …]\n${text.slice(-tail)}`;
}

/** One text per turn: `[USER]: …`, `[ASSISTANT]: …` with its calls, `[TOOL RESULT id]: …`. */
export function serializeTurns(turns: readonly Turn[], options: SerializeOptions): string[] {
  const scale = options.scale ?? 1;
  const body = (text: string) => bound(text, Math.max(60, Math.floor(BODY * scale)));
  return turns.map(({ message }) => {
    const text = body(contentText(message.content));
    if (message.role === "tool") return options.redact(`[TOOL RESULT ${message.tool_call_id}]: ${text}`);
    if (message.role !== "assistant") return options.redact(`[USER]: ${text}`);
    const limit = Math.max(40, Math.floor(ARGUMENTS * scale));
    const calls = (message.tool_calls ?? []).map(
      (call) =>
        `${call.function.name}(${truncate(call.function.arguments, call.function.arguments.length > limit ? Math.floor(limit * 0.8) : limit)})`,
    );
    return options.redact(`[ASSISTANT]: ${text}${calls.length > 0 ? `\n[Tool calls: ${calls.join("; ")}]` : ""}`);
  });
}
