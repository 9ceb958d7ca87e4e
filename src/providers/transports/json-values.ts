// Shared by all dialects: checks of JSON values, stable tool arguments, call ids, well-formed text, images.
import { createHash } from "node:crypto";
import type { Content, Json, JsonObject, Message, ToolCall } from "../../core/message.ts";
import type { ToolSchema } from "../../core/model/provider.ts";
import { wellFormed } from "../../core/model/well-formed.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import type { TransportCall } from "./transport.ts";

/** A JSON object under construction. */
export type MutableJson = { [key: string]: Json | undefined };

export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value);
}

export function jsonObjects(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

export function stringOrEmpty(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const keys = Object.keys(value).sort();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}

/** Tool arguments as compact JSON with sorted keys, so that a call has the same bytes in every request. */
export function stableArguments(raw: string): string {
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    return "{}";
  }
  if (!isJsonObject(value)) return "{}";
  // Parsing would round integers beyond 2^53; the original text is stable too.
  return wellFormed(/\d{16}/.test(raw) ? raw.trim() : JSON.stringify(sorted(value)));
}

function digest(text: string, length: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, length);
}

/** Unique ids of tool calls. The same answer to the same request gets the same ids. */
export class CallIds {
  readonly #used: Set<string>;

  constructor(messages: readonly Message[]) {
    this.#used = new Set();
    for (const message of messages)
      if (message.role === "assistant") for (const call of message.tool_calls ?? []) this.#used.add(call.id);
  }

  /** The id, or a derived one when it is empty or already used in this conversation. */
  claim(id: string, name: string, args: string, index: number): string {
    let claimed = id;
    for (let round = 0; claimed === "" || this.#used.has(claimed); round++)
      claimed = `call_${digest(`${id}|${name}|${args}|${index}|${round}`, 24)}`;
    this.#used.add(claimed);
    return claimed;
  }
}

/** Maps stored call ids to ids that a dialect accepts; the same history always gives the same ids. */
export class WireIds {
  readonly #max: number;
  readonly #style: "nine" | undefined;
  readonly #used = new Set<string>();
  #current = new Map<string, string>();

  /** `style`: "nine" for hosts that accept only nine letters and digits. */
  constructor(max: number, style?: "nine") {
    this.#max = max;
    this.#style = style;
  }

  /** Starts the calls of one assistant message; the following results refer to them. */
  open(calls: readonly ToolCall[]): void {
    this.#current = new Map();
    for (const call of calls) {
      if (this.#style === "nine") {
        const id = /^[A-Za-z0-9]{9}$/.test(call.id) && !this.#used.has(call.id) ? call.id : this.#digestOf(call.id);
        this.#used.add(id);
        this.#current.set(call.id, id);
        continue;
      }
      let id = call.id.replace(/[^A-Za-z0-9_-]/g, "_");
      if (id !== call.id || id === "" || id.length > this.#max || this.#used.has(id))
        id = `${id.slice(0, this.#max - 10)}_${digest(`${call.id}|${this.#used.size}`, 8)}`;
      this.#used.add(id);
      this.#current.set(call.id, id);
    }
  }

  #digestOf(id: string): string {
    return digest(`${id}|${this.#used.size}`, 9);
  }

  /** The wire id of a call of the current message. */
  find(id: string): string {
    if (this.#style === "nine") return this.#current.get(id) ?? digest(id, 9);
    return this.#current.get(id) ?? id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, this.#max);
  }
}

function plainSchema(value: Json | undefined, names = false): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => plainSchema(item) ?? null);
  if (!isJsonObject(value)) return value;
  const copy: MutableJson = {};
  for (const [key, item] of Object.entries(value)) {
    // Below `properties` the keys are parameter names, not keywords.
    if (!names && (key === "pattern" || key === "format")) continue;
    copy[key] = plainSchema(item, !names && key === "properties");
  }
  return copy;
}

/** The JSON schema of a tool's parameters, without the keywords that the host refuses. */
export function schemaFor(tool: ToolSchema, call: TransportCall): JsonObject {
  const schema = tool.parameters.type === "object" ? tool.parameters : { ...tool.parameters, type: "object" };
  if (!call.quirks.plainSchemas && !call.amend?.plainSchemas) return schema;
  return plainSchema(schema) as JsonObject;
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

export interface DataImage {
  readonly mediaType: string;
  readonly data: string;
  readonly bytes: number;
}

/** The parts of a base64 data URL; undefined for any other URL. */
export function dataImage(url: string): DataImage | undefined {
  const found = DATA_URL.exec(url);
  if (!found?.[1] || found[2] === undefined) return undefined;
  return { mediaType: found[1], data: found[2], bytes: Math.floor(found[2].length * 0.75) };
}

/** The content with well-formed text, and with notes instead of the images that cannot be sent. */
export function sendable(content: Content, call: TransportCall, limitBytes = Number.POSITIVE_INFINITY): Content {
  if (content === null) return null;
  if (typeof content === "string") return wellFormed(content);
  const limit = Math.min(limitBytes, call.amend?.maxImageBytes ?? Number.POSITIVE_INFINITY);
  return content.map((part) => {
    if (part.type === "text") return { type: "text", text: wellFormed(part.text) };
    if (call.amend?.stripImages) return { type: "text", text: "[image removed: this model accepts text only]" };
    const bytes = dataImage(part.image_url.url)?.bytes ?? 0;
    return bytes > limit
      ? { type: "text", text: `[image removed: ${bytes} bytes is more than this model accepts]` }
      : part;
  });
}

/** Adds the extra fields of the provider and of the user; later ones win. */
export function withExtras(body: MutableJson, call: TransportCall): JsonObject {
  return { ...body, ...call.quirks.extraBody, ...call.request.extraBody };
}
