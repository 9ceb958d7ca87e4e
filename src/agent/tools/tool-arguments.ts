// Parses the argument text of a tool call: strictly first, then with repairs that cannot change its meaning.
import type { Json, JsonObject } from "../../core/message.ts";
import { isRecord } from "../../lib/json/is-record.ts";

export type ParsedArguments =
  | { readonly ok: true; readonly value: JsonObject; readonly repaired: boolean }
  /** `truncated`: the text stops inside a value, so the call must not run. */
  | { readonly ok: false; readonly truncated: boolean; readonly problem: string };

const MAX_STEPS = 50;
/** The text ends where a value or the rest of one must follow. */
const STOPS_SHORT = /([:,]|\b(t|tr|tru|f|fa|fal|fals|n|nu|nul)|-)$/;

function tryParse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

const ESCAPES: { readonly [char: string]: string } = {
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\b": "\\b",
  "\f": "\\f",
};

interface Scan {
  /** The text with raw control characters inside strings escaped and surplus closers dropped. */
  readonly text: string;
  readonly open: readonly string[];
  readonly insideString: boolean;
}

function scan(text: string): Scan {
  const open: string[] = [];
  let out = "";
  let insideString = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index] as string;
    if (insideString) {
      if (char === "\\") {
        out += char + (text[index + 1] ?? "");
        index++;
        continue;
      }
      if (char === '"') insideString = false;
      const code = char.charCodeAt(0);
      out += code < 0x20 ? (ESCAPES[char] ?? `\\u${code.toString(16).padStart(4, "0")}`) : char;
      continue;
    }
    if (char === '"') insideString = true;
    else if (char === "{" || char === "[") open.push(char === "{" ? "}" : "]");
    else if (char === "}" || char === "]") {
      if (open.at(-1) !== char) continue;
      open.pop();
    }
    out += char;
  }
  return { text: out, open, insideString };
}

function dropTrailingCommas(text: string): string {
  let result = "";
  let insideString = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index] as string;
    if (char === '"' && !insideString) insideString = true;
    else if (insideString && char === "\\") {
      result += char + (text[index + 1] ?? "");
      index++;
      continue;
    } else if (char === '"') insideString = false;
    if (char === "," && !insideString && /^\s*([}\]]|$)/.test(text.slice(index + 1, index + 1 + MAX_STEPS))) continue;
    result += char;
  }
  return result;
}

/** Empty text and `None` mean no arguments; text that cannot be repaired safely is an error. */
export function parseArguments(raw: string): ParsedArguments {
  const text = raw.trim();
  if (text === "" || text === "None" || text === "null") return { ok: true, value: {}, repaired: text !== raw };
  const strict = tryParse(text);
  if (isRecord(strict)) return { ok: true, value: strict, repaired: false };
  if (typeof strict === "string") {
    const inner = tryParse(strict);
    if (isRecord(inner)) return { ok: true, value: inner, repaired: true };
  }
  if (strict !== undefined) return { ok: false, truncated: false, problem: "the arguments must be a JSON object" };
  const scanned = scan(text.replace(/^```(?:json)?\s*|\s*```$/g, ""));
  if (scanned.insideString)
    return { ok: false, truncated: true, problem: "the arguments stop in the middle of a text" };
  if (scanned.open.length <= MAX_STEPS) {
    const closed = dropTrailingCommas(scanned.text + [...scanned.open].reverse().join(""));
    const value = tryParse(closed);
    if (isRecord(value)) return { ok: true, value, repaired: true };
  }
  const truncated = scanned.open.length > 0 && STOPS_SHORT.test(text);
  return { ok: false, truncated, problem: "the arguments are not valid JSON" };
}

/** The same text for equal arguments, regardless of key order and surrounding space. */
export function canonicalArguments(value: Json | undefined): string {
  if (typeof value === "string") return JSON.stringify(value.trim());
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalArguments(item)).join(",")}]`;
  if (!isRecord(value)) return JSON.stringify(value ?? null);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalArguments(value[key])}`).join(",")}}`;
}
