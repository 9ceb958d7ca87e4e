// Converts text from the command line or the environment to the value that a setting expects.
import type { Field, Node } from "../core/config/fields.ts";

const YES = ["true", "yes", "on"];
const NO = ["false", "no", "off"];

/** Without a schema: recognises booleans and numbers; everything else stays text. */
export function coerceText(text: string): unknown {
  const lower = text.trim().toLowerCase();
  if (YES.includes(lower)) return true;
  if (NO.includes(lower)) return false;
  if (/^-?\d+$/.test(lower) && Number.isSafeInteger(Number(lower))) return Number(lower);
  if (/^-?\d+\.\d+$/.test(lower)) return Number(lower);
  return text;
}

function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller parses it in another way.
    return undefined;
  }
}

function asList(text: string): unknown {
  const json = parseJson(text);
  if (Array.isArray(json)) return json;
  const inner = text.trim().replace(/^\[(.*)\]$/s, "$1");
  const words = inner.split(",").map((word) => word.trim().replace(/^(["'])(.*)\1$/, "$2"));
  return words.filter((word) => word !== "");
}

/** With a schema: converts to a type of the field. Text that fits no type is returned unchanged. */
export function coerceForField(field: Field, text: string): unknown {
  const { types } = field;
  const lower = text.trim().toLowerCase();
  if (types.includes("empty") && ["", "null", "none"].includes(lower)) return null;
  if (types.includes("true/false") && (YES.includes(lower) || NO.includes(lower))) return YES.includes(lower);
  if (types.includes("whole number") || types.includes("number")) {
    if (/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/.test(lower)) return Number(lower);
  }
  const json = types.includes("map") || types.includes("list") ? parseJson(text) : undefined;
  if (json !== undefined && types.includes(Array.isArray(json) ? "list" : "map")) return json;
  if (types.includes("text")) return text;
  return types.includes("list") ? asList(text) : text;
}

/** Converts text for any node of the schema; maps are given as JSON. */
export function coerceForNode(node: Node | undefined, text: string): unknown {
  if (node === undefined) return parseJson(text) ?? coerceText(text);
  return node.kind === "field" ? coerceForField(node, text) : (parseJson(text) ?? text);
}
