// Checks the input of clients: messages and content parts of the chat completions and Responses APIs.
import type { AssistantMessage, ContentPart, Message, ToolCall, ToolMessage } from "../../core/message.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { invalid } from "./api-error.ts";

const MAX_CHARS = 65_536;
const MAX_PARTS = 1000;

type Obj = { readonly [key: string]: unknown };

/** A conversation as sent by the client: instructions, history, and the message to answer. */
export interface ClientInput {
  readonly instructions: string;
  readonly history: readonly Message[];
  readonly input: string | readonly ContentPart[];
  /** Results of the client's own tools, when the request ends with them; `input` is empty then. */
  readonly results?: readonly ToolMessage[] | undefined;
}

function checkText(text: string, param: string): string {
  if (text.length > MAX_CHARS)
    throw invalid("content_too_long", `${param} is longer than ${MAX_CHARS} characters`, param);
  return text;
}

function imagePart(part: Obj, param: string): ContentPart {
  const given = part.image_url;
  const url = typeof given === "string" ? given : isRecord(given) ? given.url : undefined;
  if (typeof url !== "string" || !/^(?:https?:\/\/|data:image\/[\w.+-]+;base64,)/i.test(url))
    throw invalid("invalid_image_url", `${param} must be an http(s) address or a data:image URL`, param);
  const detail = isRecord(given) ? given.detail : part.detail;
  return {
    type: "image_url",
    image_url: { url, ...(detail === "low" || detail === "high" || detail === "auto" ? { detail } : {}) },
  };
}

function readPart(part: unknown, param: string): ContentPart {
  if (typeof part === "string") return { type: "text", text: checkText(part, param) };
  if (!isRecord(part)) throw invalid("invalid_content_part", `${param} is not a content part`, param);
  switch (part.type) {
    case "text":
    case "input_text":
    case "output_text":
      if (typeof part.text !== "string") throw invalid("invalid_content_part", `${param} has no text`, param);
      return { type: "text", text: checkText(part.text, param) };
    case "image_url":
    case "input_image":
      return imagePart(part, param);
    default:
      throw invalid(
        "unsupported_content_type",
        `${param} has the type "${String(part.type)}"; text and images are understood`,
        param,
      );
  }
}

/** Text stays text; parts without an image become text. */
export function readContent(content: unknown, param: string): string | readonly ContentPart[] {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return checkText(content, param);
  if (!Array.isArray(content)) throw invalid("invalid_content", `${param} must be text or a list of parts`, param);
  if (content.length > MAX_PARTS) throw invalid("invalid_content", `${param} has more than ${MAX_PARTS} parts`, param);
  const parts = content.map((part, index) => readPart(part, `${param}[${index}]`));
  if (parts.some((part) => part.type === "image_url")) return parts;
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

function readCall(value: unknown, param: string): ToolCall {
  const called = isRecord(value) && isRecord(value.function) ? value.function : undefined;
  if (!isRecord(value) || typeof value.id !== "string" || typeof called?.name !== "string")
    throw invalid("invalid_tool_call", `${param} needs an id and a function with a name`, param);
  const args = typeof called.arguments === "string" ? called.arguments : JSON.stringify(called.arguments ?? {});
  return { id: value.id, type: "function", function: { name: called.name, arguments: checkText(args, param) } };
}

function readAssistant(value: Obj, param: string): AssistantMessage {
  const content = readContent(value.content, `${param}.content`);
  const calls = value.tool_calls;
  if (calls === undefined || calls === null) return { role: "assistant", content };
  if (!Array.isArray(calls)) throw invalid("invalid_tool_call", `${param}.tool_calls must be a list`, param);
  const read = calls.map((call, index) => readCall(call, `${param}.tool_calls[${index}]`));
  return read.length === 0 ? { role: "assistant", content } : { role: "assistant", content, tool_calls: read };
}

function readMessage(value: unknown, param: string): Message {
  if (!isRecord(value)) throw invalid("invalid_message", `${param} is not a message`, param);
  const { role } = value;
  if (role === "system" || role === "developer")
    return { role: "system", content: readContent(value.content, `${param}.content`) };
  if (role === "user") return { role, content: readContent(value.content, `${param}.content`) };
  if (role === "assistant") return readAssistant(value, param);
  if (role !== "tool") throw invalid("invalid_message", `${param}.role is "${String(role)}"`, `${param}.role`);
  if (typeof value.tool_call_id !== "string" || value.tool_call_id === "")
    throw invalid("missing_tool_call_id", `${param} is a tool result without tool_call_id`, `${param}.tool_call_id`);
  const content = readContent(value.content, `${param}.content`);
  return { role, tool_call_id: value.tool_call_id, tool_name: "", content: content === "" ? "(empty)" : content };
}

/** Every tool result with the name of its call. A result without a call before it is refused: the model could not use it. */
function pairResults(messages: readonly Message[], param: string, known: readonly Message[] = []): Message[] {
  const names = new Map<string, string>();
  const learn = (message: Message) => {
    if (message.role === "assistant") for (const { id, function: f } of message.tool_calls ?? []) names.set(id, f.name);
  };
  known.forEach(learn);
  return messages.map((message) => {
    learn(message);
    if (message.role !== "tool") return message;
    const name = names.get(message.tool_call_id);
    if (name === undefined)
      throw invalid(
        "unknown_tool_call_id",
        `${param} has a result of the call ${message.tool_call_id}, but no assistant message before it with that call`,
        param,
      );
    return { ...message, tool_name: name };
  });
}

function isEmpty(message: Message): boolean {
  if (message.role === "assistant" && message.tool_calls) return false;
  const { content } = message;
  return typeof content === "string" ? content.trim() === "" : (content?.length ?? 0) === 0;
}

function text(content: Message["content"]): string {
  if (typeof content === "string" || content === null) return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Where the results at the end of the list begin; its length when there are none. */
function startOfResults(talk: readonly Message[]): number {
  let start = talk.length;
  while (talk[start - 1]?.role === "tool") start--;
  return start;
}

/** Splits a list of messages; the last one must be the user's, or results of the client's tools. `known` came before it. */
export function readMessages(list: unknown, param = "messages", known: readonly Message[] = []): ClientInput {
  if (!Array.isArray(list) || list.length === 0)
    throw invalid("missing_messages", `${param} must be a list with at least one message`, param);
  const messages = list.map((value, index) => readMessage(value, `${param}[${index}]`));
  const instructions = messages
    .filter((message) => message.role === "system")
    .map((message) => text(message.content))
    .join("\n\n")
    .trim();
  const talk = pairResults(
    messages.filter((message) => message.role !== "system" && !isEmpty(message)),
    param,
    known,
  );
  const start = startOfResults(talk);
  if (start < talk.length) {
    const results = talk.slice(start) as ToolMessage[];
    return { instructions, history: talk.slice(0, start), input: "", results };
  }
  const last = talk.at(-1);
  if (last?.role !== "user" || last.content === null)
    throw invalid("missing_user_message", `the last of ${param} must be a user message with content`, param);
  return { instructions, history: talk.slice(0, -1), input: last.content };
}

/** The history that a client may send with its input. */
export function readHistory(list: unknown, param: string): readonly Message[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw invalid("invalid_history", `${param} must be a list of messages`, param);
  const messages = list.map((value, index) => readMessage(value, `${param}[${index}]`));
  return pairResults(
    messages.filter((message) => message.role !== "system" && !isEmpty(message)),
    param,
  );
}

function callItem({ call_id, id, name, arguments: args }: Obj): Obj {
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ id: call_id ?? id, type: "function", function: { name, arguments: args } }],
  };
}

/** Calls of one answer are separate items in Responses, but one message here. */
function joinCalls(items: readonly unknown[]): readonly unknown[] {
  const joined: unknown[] = [];
  for (const item of items) {
    const last = joined.at(-1);
    if (isRecord(item) && isRecord(last) && Array.isArray(item.tool_calls) && Array.isArray(last.tool_calls))
      joined[joined.length - 1] = { ...last, tool_calls: [...last.tool_calls, ...item.tool_calls] };
    else joined.push(item);
  }
  return joined;
}

/** The items of a Responses input as messages. Reasoning and references are ignored: the agent has its own. */
function messageItems(list: readonly unknown[]): readonly unknown[] {
  const items = list.flatMap((item) => {
    if (typeof item === "string") return [{ role: "user", content: item }];
    if (!isRecord(item)) return [item];
    const type = item.type ?? "message";
    if (type === "message") return [item];
    if (type === "input_text" || type === "input_image") return [{ role: "user", content: [item] }];
    if (type === "function_call") return [callItem(item)];
    if (type === "function_call_output") return [{ role: "tool", tool_call_id: item.call_id, content: item.output }];
    return ["reasoning", "item_reference"].includes(String(type)) ? [] : [item];
  });
  return joinCalls(items);
}

/** `input` of the Responses API: a text, or a list of items after the `known` messages. */
export function readResponsesInput(input: unknown, known: readonly Message[] = []): ClientInput {
  if (typeof input === "string" && input.trim() !== "")
    return { instructions: "", history: [], input: checkText(input, "input") };
  if (!Array.isArray(input)) throw invalid("missing_input", "input must be a text or a list of items", "input");
  return readMessages(messageItems(input), "input", known);
}
