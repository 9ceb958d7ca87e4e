// The one function that turns a stored log, however damaged, into messages that every wire dialect accepts.
import { isRecord } from "../../lib/json/is-record.ts";
import type { AssistantMessage, Content, ContentPart, Message, ToolCall, ToolMessage } from "../message.ts";
import { wellFormed, wellFormedDeep } from "./well-formed.ts";

/** The result of a call that has none, because the process ended or the user interrupted. */
export const MISSING_RESULT = "[no result: interrupted]";
const EMPTY_RESULT = "[no output]";
const OPENING = "[The conversation continues.]";
const CONTINUE = "Please continue.";
const DAMAGED_ARGUMENTS = "[the arguments of this call were damaged in storage and are not shown]\n";

/** Limits that hold for every dialect: names as OpenAI and Anthropic check them, ids as short as the strictest API requires. */
const NAME_LIMIT = 64;
const USABLE_IMAGE = /^(https?:\/\/\S|data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/])/;
const ID_LIMIT = 40;

interface CallSlot {
  readonly rawId: string;
  readonly call: ToolCall;
  readonly damaged: boolean;
  result?: ToolMessage | undefined;
}

type Item =
  | { readonly kind: "user"; readonly source: Message; readonly content: Exclude<Content, null> }
  | {
      readonly kind: "assistant";
      readonly source: AssistantMessage;
      readonly text: string;
      readonly slots: readonly CallSlot[];
    };

function cleanText(text: string): string {
  const clean = wellFormed(text);
  return clean.trim() === "" ? "" : clean;
}

function cleanPart(part: unknown): ContentPart | undefined {
  if (typeof part === "string") return cleanPart({ type: "text", text: part });
  if (!isRecord(part)) return undefined;
  if (typeof part.text === "string") {
    const text = cleanText(part.text);
    if (text === "") return undefined;
    return part.type === "text" && text === part.text ? (part as unknown as ContentPart) : { type: "text", text };
  }
  if (part.type !== "image_url") return { type: "text", text: `[unsupported content: ${String(part.type)}]` };
  const url = isRecord(part.image_url) ? part.image_url.url : undefined;
  if (typeof url === "string" && USABLE_IMAGE.test(url)) return part as unknown as ContentPart;
  return { type: "text", text: "[image not available]" };
}

/** Text stays a string; parts are kept only when one of them is an image. Empty when nothing is left. */
function cleanContent(content: unknown): Exclude<Content, null> {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return cleanText(content);
  if (!Array.isArray(content)) return cleanText(JSON.stringify(content) ?? "");
  const parts: ContentPart[] = [];
  for (const part of content) {
    const clean = cleanPart(part);
    if (clean !== undefined) parts.push(clean);
  }
  if (parts.some((part) => part.type === "image_url")) {
    return parts.length === content.length && parts.every((part, index) => part === content[index]) ? content : parts;
  }
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** No dialect accepts images from the assistant: they are replaced by a text. */
function assistantText(content: unknown): string {
  const clean = cleanContent(content);
  const text =
    typeof clean === "string" ? clean : clean.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
  return text.trimEnd();
}

function cleanArguments(raw: unknown): { readonly text: string; readonly damaged: boolean } {
  if (raw === undefined || raw === null) return { text: "{}", damaged: false };
  if (isRecord(raw)) return { text: JSON.stringify(wellFormedDeep(raw)), damaged: false };
  if (typeof raw !== "string") return { text: "{}", damaged: true };
  if (raw.trim() === "") return { text: "{}", damaged: false };
  try {
    const value: unknown = JSON.parse(raw);
    if (!isRecord(value)) return { text: "{}", damaged: true };
    const broken = /[\ud800-\udfff]|\\u[dD][89a-fA-F]/.test(raw);
    return { text: broken ? JSON.stringify(wellFormedDeep(value)) : raw, damaged: false };
  } catch {
    return { text: "{}", damaged: true };
  }
}

/** FNV-1a, enough to keep two long ids apart after shortening. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}

class CallIds {
  readonly #used = new Set<string>();

  unique(raw: string): string {
    const safe = raw.replace(/[^A-Za-z0-9_-]/g, "_");
    const base = safe === "" ? "call" : safe.length > ID_LIMIT ? `${safe.slice(0, 31)}_${shortHash(raw)}` : safe;
    let id = base;
    for (let copy = 2; this.#used.has(id); copy++) id = `${base.slice(0, 33)}_${copy}`;
    this.#used.add(id);
    return id;
  }
}

function cleanCall(call: unknown, ids: CallIds): CallSlot | undefined {
  if (!isRecord(call) || !isRecord(call.function) || typeof call.function.name !== "string") return undefined;
  const name = call.function.name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, NAME_LIMIT);
  if (name === "") return undefined;
  const rawId = typeof call.id === "string" ? call.id : "";
  const id = ids.unique(rawId);
  const args = cleanArguments(call.function.arguments);
  const same =
    id === call.id &&
    name === call.function.name &&
    args.text === call.function.arguments &&
    call.type === "function" &&
    Object.keys(call).every((key) => key === "id" || key === "type" || key === "function" || key === "extra_content");
  const rebuilt: ToolCall = {
    id,
    type: "function",
    function: { name, arguments: args.text },
    ...(isRecord(call.extra_content)
      ? { extra_content: call.extra_content as NonNullable<ToolCall["extra_content"]> }
      : {}),
  };
  return { rawId, call: same ? (call as unknown as ToolCall) : rebuilt, damaged: args.damaged };
}

/** Puts a result into the newest unanswered call that carries its id; a result without such a call is an orphan. */
function attachResult(open: Map<string, CallSlot[]>, message: ToolMessage): void {
  const slots = open.get(message.tool_call_id);
  const slot = slots?.find((candidate) => candidate.result === undefined);
  if (slot !== undefined) slot.result = message;
}

function toItems(log: readonly Message[]): Item[] {
  const items: Item[] = [];
  const ids = new CallIds();
  const open = new Map<string, CallSlot[]>();
  for (const message of log) {
    if (!isRecord(message)) continue;
    if (message.role === "user") {
      const content = cleanContent(message.content);
      if (content.length > 0) items.push({ kind: "user", source: message, content });
    } else if (message.role === "assistant") {
      const calls: unknown = message.tool_calls;
      const slots: CallSlot[] = [];
      for (const call of Array.isArray(calls) ? calls : []) {
        const slot = cleanCall(call, ids);
        if (slot !== undefined) slots.push(slot);
      }
      const fresh = new Set(slots.map((slot) => slot.rawId));
      for (const id of fresh)
        open.set(
          id,
          slots.filter((slot) => slot.rawId === id),
        );
      const text = assistantText(message.content);
      if (text !== "" || slots.length > 0) items.push({ kind: "assistant", source: message, text, slots });
    } else if (message.role === "tool") {
      attachResult(open, message);
    }
  }
  return items;
}

function joinContents(first: Exclude<Content, null>, second: Exclude<Content, null>): Exclude<Content, null> {
  if (typeof first === "string" && typeof second === "string") return `${first}\n\n${second}`;
  const parts: ContentPart[] = typeof first === "string" ? [{ type: "text", text: first }] : [...first];
  const added: ContentPart[] = typeof second === "string" ? [{ type: "text", text: second }] : [...second];
  const last = parts.at(-1);
  const next = added[0];
  if (last?.type === "text" && next?.type === "text") {
    parts[parts.length - 1] = { type: "text", text: `${last.text}\n\n${next.text}` };
    added.shift();
  }
  return [...parts, ...added];
}

function pushUser(out: Message[], content: Exclude<Content, null>, source?: Message): void {
  const previous = out.at(-1);
  if (previous?.role === "user") {
    out[out.length - 1] = { role: "user", content: joinContents(previous.content ?? "", content) };
    return;
  }
  const same = source !== undefined && source.content === content && Object.keys(source).length === 2;
  out.push(same ? source : { role: "user", content });
}

const ASSISTANT_FIELDS = [
  "finish_reason",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "codex_reasoning_items",
  "codex_message_items",
] as const;

function buildAssistant(item: Extract<Item, { kind: "assistant" }>): AssistantMessage {
  const { source, text, slots } = item;
  const content = text === "" ? null : text;
  const kept: { [key: string]: unknown } = {};
  for (const field of ASSISTANT_FIELDS) {
    const value = source[field];
    if (value !== undefined && value !== null) kept[field] = typeof value === "string" ? wellFormed(value) : value;
  }
  const tool_calls = slots.map((slot) => slot.call);
  const unchanged =
    source.content === content &&
    tool_calls.length === (source.tool_calls?.length ?? 0) &&
    (source.tool_calls === undefined || tool_calls.length > 0) &&
    tool_calls.every((call, index) => call === source.tool_calls?.[index]) &&
    Object.keys(source).length === 2 + Object.keys(kept).length + (tool_calls.length > 0 ? 1 : 0) &&
    Object.entries(kept).every(([key, value]) => source[key as keyof AssistantMessage] === value);
  if (unchanged) return source;
  return { role: "assistant", content, ...kept, ...(tool_calls.length > 0 ? { tool_calls } : {}) };
}

/**
 * Two answers in a row become one. Items that repeat the text or bind reasoning to one exact answer are left out,
 * because a provider checks them against their message.
 */
function mergeAssistants(first: AssistantMessage, second: AssistantMessage): AssistantMessage {
  const { codex_reasoning_items: _items, codex_message_items: _messages, ...rest } = second;
  const texts = [first.content, second.content].filter((text) => typeof text === "string");
  return { ...rest, content: texts.join("\n\n") };
}

function pushAssistant(out: Message[], item: Extract<Item, { kind: "assistant" }>): void {
  if (out.length === 0) out.push({ role: "user", content: OPENING });
  const message = buildAssistant(item);
  const previous = out.at(-1);
  if (previous?.role === "assistant") out[out.length - 1] = mergeAssistants(previous, message);
  else out.push(message);
  for (const slot of item.slots) out.push(buildResult(slot));
}

function buildResult(slot: CallSlot): ToolMessage {
  const { result, call } = slot;
  const tool_name = call.function.name;
  if (result === undefined) return { role: "tool", tool_call_id: call.id, tool_name, content: MISSING_RESULT };
  let content = cleanContent(result.content);
  if (content.length === 0) content = EMPTY_RESULT;
  if (slot.damaged) content = joinContents(DAMAGED_ARGUMENTS.trimEnd(), content);
  const same =
    result.content === content &&
    result.tool_call_id === call.id &&
    result.tool_name === tool_name &&
    Object.keys(result).length === 4;
  return same ? result : { role: "tool", tool_call_id: call.id, tool_name, content };
}

/**
 * Messages for a request, from any log: every call is followed by exactly its results, ids are unique, arguments are
 * JSON objects, contents are not empty, the first message is the user's and the last is not the assistant's. Text of
 * the user is never dropped. Messages that need no change are returned as the same objects; projecting a projection
 * changes nothing.
 */
export function projectMessages(log: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (const item of toItems(log)) {
    if (item.kind === "user") pushUser(out, item.content, item.source);
    else pushAssistant(out, item);
  }
  if (out.at(-1)?.role === "assistant") out.push({ role: "user", content: CONTINUE });
  return out;
}
