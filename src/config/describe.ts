// Describes values for messages: what was found, and what a key allows.

import type { Field, Node, Range } from "../core/config/fields.ts";
import { isSecretKey, looksSecret } from "../core/config/mask.ts";

/** `the text "abc"`, `a list`; of secrets only the type is named. */
export function describeFound(value: unknown, key: string): string {
  if (value === null) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a map";
  if (typeof value === "string") {
    if (isSecretKey(key) || looksSecret(value)) return "a text that is not shown";
    return `the text ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
  }
  return isSecretKey(key) ? `a ${typeof value} that is not shown` : String(value);
}

function describeRange(range: Range): string {
  const { min, max, exclusive } = range;
  if (min !== undefined && max !== undefined) {
    return exclusive ? ` above ${min} and below ${max}` : ` from ${min} to ${max}`;
  }
  if (min !== undefined) return exclusive ? ` above ${min}` : ` of at least ${min}`;
  return max === undefined ? "" : ` of at most ${max}`;
}

function describeType(field: Field, type: Field["types"][number]): string {
  if (type === "text" && field.values) {
    return `one of ${field.values.map((value) => (value === "" ? '""' : value)).join(", ")}`;
  }
  if (type === "whole number" || type === "number") return `a ${type}${field.range ? describeRange(field.range) : ""}`;
  if (type === "true/false") return "true or false";
  if (type === "text") return "a text";
  if (type === "empty") return "empty (null)";
  return `a ${type}`;
}

/** `a number above 0 and below 1`, `one of manual, smart, off`. */
export function describeAllowed(node: Node): string {
  if (node.kind !== "field") return "a map";
  return node.types.map((type) => describeType(node, type)).join(", or ");
}
