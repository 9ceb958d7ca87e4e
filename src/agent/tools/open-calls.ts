// Tool calls that were stored without a result, because of an interrupt, a crash or a full disk.
import type { Content, Message, ToolCall, ToolMessage } from "../../core/message.ts";

/** The calls of the last reply that no later message answers, in order. */
export function openCalls(log: readonly Message[]): ToolCall[] {
  let index = log.length - 1;
  const answered = new Set<string>();
  for (; index >= 0; index--) {
    const message = log[index];
    if (message?.role === "tool") answered.add(message.tool_call_id);
    else break;
  }
  const reply = log[index];
  if (reply?.role !== "assistant") return [];
  return (reply.tool_calls ?? []).filter((call) => !answered.has(call.id));
}

/** The result message of a call; `tool` is the tool that ran, when the call named it indirectly. */
export function answerTo(call: ToolCall, content: Content, tool = call.function.name): ToolMessage {
  return { role: "tool", tool_call_id: call.id, tool_name: tool, content };
}
