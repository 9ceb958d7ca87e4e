// Converts arguments of nearly the right type to the declared one, where nothing is lost (docs/decisions/020-tool-schemas.md).
import type { Json, JsonObject } from "../../core/message.ts";

function asObject(value: Json | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The types that a schema accepts, including unions of simple types. */
function acceptedTypes(schema: JsonObject): string[] {
  const type = schema.type;
  if (typeof type === "string") return schema.nullable === true ? [type, "null"] : [type];
  if (Array.isArray(type)) return type.filter((item): item is string => typeof item === "string");
  const options = schema.anyOf ?? schema.oneOf;
  if (!Array.isArray(options)) return [];
  return options.flatMap((option: Json) => {
    const inner = asObject(option);
    return inner === undefined ? [] : acceptedTypes(inner);
  });
}

function typeName(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  return typeof value;
}

function fits(value: Json, types: readonly string[]): boolean {
  const name = typeName(value);
  return types.includes(name) || (name === "integer" && types.includes("number"));
}

function fromText(text: string, types: readonly string[]): Json | undefined {
  const trimmed = text.trim();
  if (trimmed === "null" && (types.includes("null") || types.includes("nullable"))) return null;
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) {
    const number = Number(trimmed);
    if (Number.isFinite(number) && fits(number, types)) return number;
  }
  if (types.includes("boolean") && /^(true|false)$/i.test(trimmed)) return trimmed.toLowerCase() === "true";
  if ((types.includes("array") || types.includes("object")) && /^[[{]/.test(trimmed)) {
    try {
      const value = JSON.parse(trimmed) as Json;
      if (fits(value, types)) return value;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

function coerce(value: Json, schema: JsonObject): Json {
  const types = acceptedTypes(schema);
  if (types.length === 0) return value;
  let current = value;
  if (!fits(current, types)) {
    const converted = typeof current === "string" ? fromText(current, types) : undefined;
    if (converted !== undefined) current = converted;
    else if (types.includes("array") && current !== null && !Array.isArray(current)) current = [current];
    else return value;
  }
  const items = asObject(schema.items);
  if (Array.isArray(current) && items !== undefined) return current.map((item: Json) => coerce(item, items));
  const inner = asObject(current);
  return inner !== undefined && asObject(schema.properties) !== undefined ? coerceArguments(inner, schema) : current;
}

/** A copy with every property converted to its declared type where nothing is lost, without nulls for optional properties. */
export function coerceArguments(args: JsonObject, schema: JsonObject): JsonObject {
  const properties = asObject(schema.properties);
  if (properties === undefined) return args;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const out: { [key: string]: Json | undefined } = {};
  for (const [key, value] of Object.entries(args)) {
    const property = asObject(properties[key]);
    if (property === undefined || value === undefined) out[key] = value;
    else if (value === null && !required.includes(key) && !acceptedTypes(property).includes("null")) continue;
    else out[key] = coerce(value, property);
  }
  return out;
}
