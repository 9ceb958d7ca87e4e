// Keeps calls and results together after a cut: orphans are removed, missing results get a stub. Other messages stay the same objects.
import type { Message, ToolCall } from "../../core/message.ts";
import { MISSING_RESULT } from "../../core/model/projection.ts";

function stub(call: ToolCall): Message {
  return { role: "tool", tool_call_id: call.id, tool_name: call.function.name, content: MISSING_RESULT };
}

export function sanitizeToolPairs(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  let open: ToolCall[] = [];
  const close = () => {
    for (const call of open) out.push(stub(call));
    open = [];
  };
  for (const message of messages) {
    if (message.role === "tool") {
      const at = open.findIndex((call) => call.id === message.tool_call_id);
      if (at < 0) continue;
      open.splice(at, 1);
      out.push(message);
      continue;
    }
    close();
    out.push(message);
    if (message.role === "assistant") open = [...(message.tool_calls ?? [])];
  }
  close();
  return out;
}
