// Builds the objects of the Responses API from a turn.
import type { JsonObject, Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import type { ToolSchema } from "../../core/model/provider.ts";
import { newId } from "./api-context.ts";
import { isShown, responsesUsage, type TurnResult } from "./turn.ts";

const MAX_ARGUMENTS = 500;
const MAX_OUTPUT = 1000;

export interface ResponseHead {
  readonly id: string;
  readonly createdAt: number;
  readonly model: string;
  readonly instructions: string | null;
  readonly previousId: string | null;
  readonly store: boolean;
  readonly metadata: JsonObject;
  readonly clientTools: readonly ToolSchema[];
}

export function textPart(text: string): JsonObject {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

export function messageItem(id: string, text: string | null, status: string): JsonObject {
  return { id, type: "message", role: "assistant", status, content: text === null ? [] : [textPart(text)] };
}

function cut(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

/** Items of one stored message: a text, calls, or the result of a call. */
export function toItems(message: Message, clientTools: readonly ToolSchema[] = []): JsonObject[] {
  const text = contentText(message.content);
  if (message.role === "tool") {
    if (!isShown(message.tool_name)) return [];
    const output = cut(text, MAX_OUTPUT);
    return [
      {
        id: newId("fco_", 28),
        type: "function_call_output",
        call_id: message.tool_call_id,
        output,
        status: "completed",
      },
    ];
  }
  if (message.role !== "assistant") return [];
  const items = text.trim() === "" ? [] : [messageItem(newId("msg_", 28), text, "completed")];
  for (const call of message.tool_calls ?? []) {
    if (!isShown(call.function.name)) continue;
    items.push({
      id: newId("fc_", 28),
      type: "function_call",
      call_id: call.id,
      name: call.function.name,
      // The client runs its own tools with these; calls of other tools are for display.
      arguments: clientTools.some(({ name }) => name === call.function.name)
        ? call.function.arguments
        : cut(call.function.arguments, MAX_ARGUMENTS),
      status: "completed",
    });
  }
  return items;
}

export function responseObject(
  head: ResponseHead,
  state: {
    readonly status: string;
    readonly output: readonly JsonObject[];
    readonly result?: TurnResult | undefined;
    readonly denied?: readonly JsonObject[] | undefined;
  },
): JsonObject {
  const { result, denied = [] } = state;
  const failed = state.status === "failed";
  return {
    id: head.id,
    object: "response",
    created_at: head.createdAt,
    status: state.status,
    error: failed ? { code: "server_error", message: result?.problem ?? "The run failed." } : null,
    incomplete_details:
      state.status === "incomplete"
        ? { reason: result?.finishReason === "content_filter" ? "content_filter" : "max_output_tokens" }
        : null,
    instructions: head.instructions,
    metadata: head.metadata,
    model: head.model,
    output: state.output,
    parallel_tool_calls: true,
    previous_response_id: head.previousId,
    store: head.store,
    temperature: null,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: head.clientTools.map((tool) => ({ type: "function", ...tool, strict: false })),
    top_p: null,
    truncation: "disabled",
    usage: result ? responsesUsage(result.usage) : null,
    ...(result ? { hermes: { session_id: result.sessionId, ...(denied.length > 0 ? { denied } : {}) } } : {}),
  };
}

/** `incomplete` when the client disconnected or the budget was used up before the end of the answer. */
export function toStatus(result: TurnResult): "completed" | "failed" | "incomplete" {
  if (result.end === "failed") return "failed";
  const cut = result.finishReason === "length" || result.finishReason === "content_filter";
  return result.end === "interrupted" || cut ? "incomplete" : "completed";
}
