// Replies of the fake model server, and their frames in each dialect.
import type { Usage } from "../../src/core/store/usage.ts";

export type Dialect = "chat" | "anthropic" | "responses";

export interface ScriptedCall {
  readonly name: string;
  /** An object, or raw text when a test wants arguments that are not JSON. */
  readonly args: Readonly<Record<string, unknown>> | string;
  /** Empty string: the server sends no id, as some do. */
  readonly id?: string;
}

/** One scripted answer. Created by the functions of `fake-llm.ts`; fields may be combined. */
export interface Reply {
  readonly text?: string;
  readonly reasoning?: string;
  readonly calls?: readonly ScriptedCall[];
  readonly usage?: Partial<Usage>;
  /** The finish reason of chat completions: `stop`, `tool_calls`, `length`, `content_filter`. */
  readonly finish?: string;
  readonly status?: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly hang?: "before_headers" | "after_headers" | "after_text";
  readonly firstTokenMs?: number;
  readonly everyMs?: number;
  /** Destroys the socket once the text has been sent, before the closing frames. */
  readonly cut?: boolean;
  readonly malformed?: boolean;
  /** An error event in the middle of the stream, after the text. */
  readonly streamError?: { readonly type: string; readonly message: string };
}

/** `event` is the SSE event name; null for chat completions, which has none. */
export interface Frame {
  readonly event: string | null;
  readonly data: unknown;
  readonly kind: "head" | "delta" | "tail";
}

interface WireCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** Words with their spaces, in at most `count` pieces: text arrives as several deltas. */
function pieces(text: string, count = 4): string[] {
  if (text === "") return [];
  const size = Math.max(1, Math.ceil(text.length / count));
  const result: string[] = [];
  for (let at = 0; at < text.length; at += size) result.push(text.slice(at, at + size));
  return result;
}

function wireCalls(reply: Reply, index: number, prefix: string): WireCall[] {
  return (reply.calls ?? []).map((call, position) => ({
    id: call.id ?? `${prefix}${index}_${position}`,
    name: call.name,
    args: typeof call.args === "string" ? call.args : JSON.stringify(call.args),
  }));
}

function mapFinish(reply: Reply): string {
  return reply.finish ?? ((reply.calls ?? []).length > 0 ? "tool_calls" : "stop");
}

function chatUsage(bill: Usage) {
  const prompt = bill.input + bill.cacheRead + bill.cacheWrite;
  return {
    prompt_tokens: prompt,
    completion_tokens: bill.output,
    total_tokens: prompt + bill.output,
    prompt_tokens_details: { cached_tokens: bill.cacheRead, cache_write_tokens: bill.cacheWrite },
    completion_tokens_details: { reasoning_tokens: bill.reasoning },
  };
}

function chatMessage(reply: Reply, index: number) {
  const calls = wireCalls(reply, index, "call_");
  return {
    role: "assistant",
    content: reply.text ?? (calls.length > 0 ? null : ""),
    ...(reply.reasoning ? { reasoning_content: reply.reasoning } : {}),
    ...(calls.length > 0
      ? {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.args },
          })),
        }
      : {}),
  };
}

function chatFrames(reply: Reply, index: number, model: string, bill: Usage): Frame[] {
  const base = { id: `chatcmpl-${index}`, object: "chat.completion.chunk", created: 1_700_000_000, model };
  const frame = (delta: unknown, kind: Frame["kind"], finish: string | null = null): Frame => ({
    event: null,
    data: { ...base, choices: [{ index: 0, delta, finish_reason: finish }] },
    kind,
  });
  const frames: Frame[] = [frame({ role: "assistant", content: "" }, "head")];
  for (const piece of pieces(reply.reasoning ?? "")) frames.push(frame({ reasoning_content: piece }, "delta"));
  for (const piece of pieces(reply.text ?? "")) frames.push(frame({ content: piece }, "delta"));
  for (const [position, call] of wireCalls(reply, index, "call_").entries()) {
    const head = { index: position, type: "function", function: { name: call.name, arguments: "" } };
    frames.push(frame({ tool_calls: [call.id === "" ? head : { ...head, id: call.id }] }, "delta"));
    for (const piece of pieces(call.args, 3))
      frames.push(frame({ tool_calls: [{ index: position, function: { arguments: piece } }] }, "delta"));
  }
  frames.push(frame({}, "tail", mapFinish(reply)));
  frames.push({ event: null, data: { ...base, choices: [], usage: chatUsage(bill) }, kind: "tail" });
  return frames;
}

const ANTHROPIC_STOP: Record<string, string> = {
  stop: "end_turn",
  tool_calls: "tool_use",
  length: "max_tokens",
  content_filter: "refusal",
};

function anthropicUsage(bill: Usage) {
  return {
    input_tokens: bill.input,
    cache_creation_input_tokens: bill.cacheWrite,
    cache_read_input_tokens: bill.cacheRead,
    output_tokens: bill.output,
  };
}

function parsedInput(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    return {};
  }
}

function anthropicBlocks(reply: Reply, index: number): Record<string, unknown>[] {
  const blocks: Record<string, unknown>[] = [];
  if (reply.reasoning) blocks.push({ type: "thinking", thinking: reply.reasoning, signature: `sig-${index}` });
  if (reply.text) blocks.push({ type: "text", text: reply.text });
  for (const call of wireCalls(reply, index, "toolu_"))
    blocks.push({ type: "tool_use", id: call.id, name: call.name, input: parsedInput(call.args) });
  return blocks;
}

function anthropicMessage(reply: Reply, index: number, model: string, bill: Usage) {
  return {
    id: `msg_${index}`,
    type: "message",
    role: "assistant",
    model,
    content: anthropicBlocks(reply, index),
    stop_reason: ANTHROPIC_STOP[mapFinish(reply)] ?? mapFinish(reply),
    stop_sequence: null,
    usage: anthropicUsage(bill),
  };
}

function anthropicFrames(reply: Reply, index: number, model: string, bill: Usage): Frame[] {
  const frames: Frame[] = [];
  const push = (kind: Frame["kind"], data: { type: string; [key: string]: unknown }) =>
    frames.push({ event: data.type, data, kind });
  const whole = anthropicMessage(reply, index, model, bill);
  const head = { ...whole, content: [], stop_reason: null, usage: { ...whole.usage, output_tokens: 1 } };
  push("head", { type: "message_start", message: head });
  push("head", { type: "ping" });
  const calls = wireCalls(reply, index, "toolu_");
  for (const [position, block] of whole.content.entries()) {
    const delta = (value: Record<string, unknown>) =>
      push("delta", { type: "content_block_delta", index: position, delta: value });
    if (block.type === "thinking") {
      push("delta", {
        type: "content_block_start",
        index: position,
        content_block: { type: "thinking", thinking: "", signature: "" },
      });
      for (const piece of pieces(reply.reasoning ?? "")) delta({ type: "thinking_delta", thinking: piece });
      delta({ type: "signature_delta", signature: block.signature });
    } else if (block.type === "text") {
      push("delta", { type: "content_block_start", index: position, content_block: { type: "text", text: "" } });
      for (const piece of pieces(reply.text ?? "")) delta({ type: "text_delta", text: piece });
    } else {
      push("delta", { type: "content_block_start", index: position, content_block: { ...block, input: {} } });
      const args = calls.find((call) => call.id === block.id)?.args ?? "{}";
      for (const piece of pieces(args, 3)) delta({ type: "input_json_delta", partial_json: piece });
    }
    push("delta", { type: "content_block_stop", index: position });
  }
  push("tail", {
    type: "message_delta",
    delta: { stop_reason: whole.stop_reason, stop_sequence: null },
    usage: { output_tokens: bill.output },
  });
  push("tail", { type: "message_stop" });
  return frames;
}

function responsesUsage(bill: Usage) {
  const input = bill.input + bill.cacheRead + bill.cacheWrite;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: bill.cacheRead },
    output_tokens: bill.output,
    output_tokens_details: { reasoning_tokens: bill.reasoning },
    total_tokens: input + bill.output,
  };
}

function responsesItems(reply: Reply, index: number): Record<string, unknown>[] {
  const items: Record<string, unknown>[] = [];
  if (reply.reasoning)
    items.push({
      type: "reasoning",
      id: `rs_${index}`,
      summary: [{ type: "summary_text", text: reply.reasoning }],
      encrypted_content: `enc-${index}`,
    });
  if (reply.text)
    items.push({
      type: "message",
      id: `msg_${index}`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: reply.text, annotations: [] }],
    });
  for (const [position, call] of wireCalls(reply, index, "call_").entries())
    items.push({
      type: "function_call",
      id: `fc_${index}_${position}`,
      call_id: call.id,
      name: call.name,
      arguments: call.args,
      status: "completed",
    });
  return items;
}

function responsesBody(reply: Reply, index: number, model: string, bill: Usage) {
  const short = mapFinish(reply) === "length";
  return {
    id: `resp_${index}`,
    object: "response",
    created_at: 1_700_000_000,
    model,
    status: short ? "incomplete" : "completed",
    error: null,
    incomplete_details: short ? { reason: "max_output_tokens" } : null,
    output: responsesItems(reply, index),
    usage: responsesUsage(bill),
  };
}

function responsesFrames(reply: Reply, index: number, model: string, bill: Usage): Frame[] {
  const frames: Frame[] = [];
  let sequence = 0;
  const push = (kind: Frame["kind"], data: { type: string; [key: string]: unknown }) =>
    frames.push({ event: data.type, data: { ...data, sequence_number: sequence++ }, kind });
  const whole = responsesBody(reply, index, model, bill);
  const started = { ...whole, status: "in_progress", output: [], usage: null, incomplete_details: null };
  push("head", { type: "response.created", response: started });
  for (const [position, item] of whole.output.entries()) {
    const at = { output_index: position, item_id: item.id };
    if (item.type === "reasoning") {
      push("delta", { type: "response.output_item.added", ...at, item: { ...item, summary: [] } });
      for (const piece of pieces(reply.reasoning ?? ""))
        push("delta", { type: "response.reasoning_summary_text.delta", ...at, summary_index: 0, delta: piece });
    } else if (item.type === "message") {
      push("delta", { type: "response.output_item.added", ...at, item: { ...item, content: [] } });
      for (const piece of pieces(reply.text ?? ""))
        push("delta", { type: "response.output_text.delta", ...at, content_index: 0, delta: piece });
    } else {
      push("delta", { type: "response.output_item.added", ...at, item: { ...item, arguments: "" } });
      for (const piece of pieces(String(item.arguments), 3))
        push("delta", { type: "response.function_call_arguments.delta", ...at, delta: piece });
    }
    push("delta", { type: "response.output_item.done", output_index: position, item });
  }
  push("tail", { type: whole.status === "incomplete" ? "response.incomplete" : "response.completed", response: whole });
  return frames;
}

/** The context of a reply: the dialect, the position in the conversation, the model named by the request. */
export interface Speech {
  readonly dialect: Dialect;
  readonly index: number;
  readonly model: string;
  readonly bill: Usage;
}

/** The frames of a streamed answer. */
export function buildFrames(reply: Reply, { dialect, index, model, bill }: Speech): Frame[] {
  if (dialect === "chat") return chatFrames(reply, index, model, bill);
  if (dialect === "anthropic") return anthropicFrames(reply, index, model, bill);
  return responsesFrames(reply, index, model, bill);
}

/** The body of an answer that is not streamed. */
export function buildBody(reply: Reply, { dialect, index, model, bill }: Speech): unknown {
  if (dialect === "anthropic") return anthropicMessage(reply, index, model, bill);
  if (dialect === "responses") return responsesBody(reply, index, model, bill);
  const message = chatMessage(reply, index);
  return {
    id: `chatcmpl-${index}`,
    object: "chat.completion",
    created: 1_700_000_000,
    model,
    choices: [{ index: 0, message, finish_reason: mapFinish(reply) }],
    usage: chatUsage(bill),
  };
}

/** The error body of each service. */
export function errorBody(dialect: Dialect, type: string, message: string): unknown {
  if (dialect === "anthropic") return { type: "error", error: { type, message }, request_id: "req_fake" };
  return { error: { message, type, param: null, code: type === "context_length_exceeded" ? type : null } };
}
