// Checks the input of clients: messages and content parts of the chat completions and Responses APIs.
import type { ContentPart, Message } from "../../core/message.ts";
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

/** Null for roles that the agent handles itself, such as tool results. */
function readMessage(value: unknown, param: string): Message | null {
  if (!isRecord(value)) throw invalid("invalid_message", `${param} is not a message`, param);
  const { role } = value;
  if (role === "system" || role === "developer")
    return { role: "system", content: readContent(value.content, `${param}.content`) };
  if (role === "user" || role === "assistant") return { role, content: readContent(value.content, `${param}.content`) };
  if (role === "tool" || role === "function") return null;
  throw invalid("invalid_message", `${param}.role is "${String(role)}"`, `${param}.role`);
}

function isEmpty(content: Message["content"]): boolean {
  return typeof content === "string" ? content.trim() === "" : (content?.length ?? 0) === 0;
}

function text(content: Message["content"]): string {
  if (typeof content === "string" || content === null) return content ?? "";
  return content.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** Splits a list of messages; the last one must be the user's. */
export function readMessages(list: unknown, param = "messages"): ClientInput {
  if (!Array.isArray(list) || list.length === 0)
    throw invalid("missing_messages", `${param} must be a list with at least one message`, param);
  const messages = list.flatMap((value, index) => readMessage(value, `${param}[${index}]`) ?? []);
  const instructions = messages.filter((message) => message.role === "system").map((message) => text(message.content));
  const talk = messages.filter((message) => message.role !== "system" && !isEmpty(message.content));
  const last = talk.at(-1);
  if (last?.role !== "user" || last.content === null)
    throw invalid("missing_user_message", `the last of ${param} must be a user message with content`, param);
  return {
    instructions: instructions.join("\n\n").trim(),
    history: talk.slice(0, -1),
    input: last.content,
  };
}

/** The history that a client may send with its input. */
export function readHistory(list: unknown, param: string): readonly Message[] {
  if (list === undefined || list === null) return [];
  if (!Array.isArray(list)) throw invalid("invalid_history", `${param} must be a list of messages`, param);
  return list
    .flatMap((value, index) => readMessage(value, `${param}[${index}]`) ?? [])
    .filter((message) => message.role !== "system" && !isEmpty(message.content));
}

/** The messages of a Responses input; tool calls and their outputs are ignored, the agent has its own. */
function messageItems(list: readonly unknown[]): readonly unknown[] {
  return list.flatMap((item) => {
    if (typeof item === "string") return [{ role: "user", content: item }];
    if (!isRecord(item)) return [item];
    const type = item.type ?? "message";
    if (type === "message") return [item];
    if (type === "input_text" || type === "input_image") return [{ role: "user", content: [item] }];
    return ["function_call", "function_call_output", "reasoning", "item_reference"].includes(String(type))
      ? []
      : [item];
  });
}

/** `input` of the Responses API: a text, or a list of items. */
export function readResponsesInput(input: unknown): ClientInput {
  if (typeof input === "string" && input.trim() !== "")
    return { instructions: "", history: [], input: checkText(input, "input") };
  if (!Array.isArray(input)) throw invalid("missing_input", "input must be a text or a list of items", "input");
  return readMessages(messageItems(input), "input");
}
