// A recorded request of the fake model server, in one neutral view over the three dialects.
import type { IncomingHttpHeaders } from "node:http";
import type { Usage } from "../../src/core/store/usage.ts";
import type { Dialect } from "./fake-llm-replies.ts";

type Row = Record<string, unknown>;

export interface NeutralCall {
  readonly id: string;
  readonly name: string;
  /** Parsed when it is JSON, else the raw text. */
  readonly args: unknown;
}

export interface NeutralMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly NeutralCall[];
  /** For tool results: the call they answer. */
  readonly callId?: string;
  readonly images: number;
}

export interface RecordedRequest {
  readonly index: number;
  readonly dialect: Dialect;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The bearer token or x-api-key, for tests of rotation. */
  readonly apiKey: string | null;
  /** The body as it came over the wire. */
  readonly raw: Buffer;
  readonly body: Row;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  /** Without system messages. */
  readonly messages: readonly NeutralMessage[];
  readonly tools: readonly string[];
  /** What the validators found; a strict server answered 400 when this is not empty. */
  readonly problems: readonly string[];
  /** What the answer reported as used; null when no usage was reported. */
  bill: Usage | null;
  /** The client went away before the answer was complete. */
  aborted: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  closedAt: number | null;
}

function rows(value: unknown): Row[] {
  return Array.isArray(value) ? (value.filter((item) => typeof item === "object" && item !== null) as Row[]) : [];
}

function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  return rows(content)
    .map((part) => part.text)
    .filter((text) => typeof text === "string")
    .join("\n");
}

function imagesIn(content: unknown): number {
  return rows(content).filter((part) => /^(image|image_url|input_image)$/.test(String(part.type))).length;
}

function parsed(args: unknown): unknown {
  if (typeof args !== "string") return args;
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

function chatView(body: Row): NeutralMessage[] {
  return rows(body.messages).map((message) => ({
    role: message.role === "developer" ? "system" : (message.role as NeutralMessage["role"]),
    text: textIn(message.content),
    calls: rows(message.tool_calls).map((call) => {
      const fn = call.function as Row;
      return { id: String(call.id), name: String(fn.name), args: parsed(fn.arguments) };
    }),
    ...(message.tool_call_id === undefined ? {} : { callId: String(message.tool_call_id) }),
    images: imagesIn(message.content),
  }));
}

function anthropicView(body: Row): NeutralMessage[] {
  const view: NeutralMessage[] = [];
  const system = textIn(body.system);
  if (system !== "") view.push({ role: "system", text: system, calls: [], images: 0 });
  for (const message of rows(body.messages)) {
    const blocks = rows(message.content);
    for (const block of blocks.filter((item) => item.type === "tool_result"))
      view.push({
        role: "tool",
        text: textIn(block.content),
        calls: [],
        callId: String(block.tool_use_id),
        images: imagesIn(block.content),
      });
    const rest = blocks.filter((item) => item.type !== "tool_result");
    if (typeof message.content === "string" || rest.length > 0)
      view.push({
        role: message.role as NeutralMessage["role"],
        text: typeof message.content === "string" ? message.content : textIn(rest),
        calls: rest
          .filter((block) => block.type === "tool_use")
          .map((block) => ({ id: String(block.id), name: String(block.name), args: block.input })),
        images: imagesIn(rest),
      });
  }
  return view;
}

function responsesView(body: Row): NeutralMessage[] {
  const view: NeutralMessage[] = [];
  if (typeof body.instructions === "string")
    view.push({ role: "system", text: body.instructions, calls: [], images: 0 });
  if (typeof body.input === "string") view.push({ role: "user", text: body.input, calls: [], images: 0 });
  for (const item of rows(body.input)) {
    if (item.type === "function_call")
      view.push({
        role: "assistant",
        text: "",
        calls: [{ id: String(item.call_id), name: String(item.name), args: parsed(item.arguments) }],
        images: 0,
      });
    else if (item.type === "function_call_output")
      view.push({
        role: "tool",
        text: textIn(item.output),
        calls: [],
        callId: String(item.call_id),
        images: imagesIn(item.output),
      });
    else if (item.role !== undefined)
      view.push({
        role: item.role === "developer" ? "system" : (item.role as NeutralMessage["role"]),
        text: textIn(item.content),
        calls: [],
        images: imagesIn(item.content),
      });
  }
  return view;
}

/** The content of a request, independent of the dialect. */
export interface RequestView {
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly messages: readonly NeutralMessage[];
  readonly tools: readonly string[];
}

/** The neutral view of a body. */
export function parseView(dialect: Dialect, body: Row): RequestView {
  const all = dialect === "chat" ? chatView(body) : dialect === "anthropic" ? anthropicView(body) : responsesView(body);
  const tools = rows(body.tools).map((tool) => {
    const fn = tool.function as Row | undefined;
    return String(fn?.name ?? tool.name);
  });
  return {
    model: String(body.model ?? ""),
    stream: body.stream === true,
    system: all
      .filter((message) => message.role === "system")
      .map((message) => message.text)
      .join("\n"),
    messages: all.filter((message) => message.role !== "system"),
    tools,
  };
}
