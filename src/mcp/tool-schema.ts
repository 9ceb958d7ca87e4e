// Names and schemas of MCP tools as model providers accept them.
import type { JsonObject } from "../core/message.ts";
import { isRecord } from "../lib/json/is-record.ts";

const MAX_NAME = 64;
const MAX_DESCRIPTION = 2_000;

const safe = (text: string): string => text.replaceAll(/[^A-Za-z0-9_]/g, "_");

/** `mcp_<server>_<tool>`, with the characters and the length that every provider accepts. */
export function mcpToolName(server: string, tool: string): string {
  return `mcp_${safe(server)}_${safe(tool)}`.slice(0, MAX_NAME);
}

export function mcpToolset(server: string): string {
  return `mcp-${server}`;
}

/** Moves `definitions` to `$defs` and gives objects their `properties`; some providers refuse schemas without. */
export function normaliseSchema(schema: unknown): JsonObject {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isRecord(value)) return value;
    const result: { [key: string]: unknown } = {};
    for (const [key, each] of Object.entries(value)) {
      if (key === "$schema") continue;
      if (key === "$ref" && typeof each === "string") result.$ref = each.replace("#/definitions/", "#/$defs/");
      else result[key === "definitions" ? "$defs" : key] = walk(each);
    }
    return result;
  };
  const root = walk(isRecord(schema) ? schema : {}) as { [key: string]: unknown };
  return { ...root, type: "object", properties: isRecord(root.properties) ? root.properties : {} } as JsonObject;
}

export function shortDescription(text: string | undefined): string {
  const clean = (text ?? "").trim();
  return clean.length <= MAX_DESCRIPTION ? clean : `${clean.slice(0, MAX_DESCRIPTION)} …`;
}
