// The two tools through which a model reaches tools that are not in its prompt. The names are part of the contract: the
// agent runs a call of `call_tool` as a call of the tool that it names.
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import type { JsonObject } from "../message.ts";

export const SEARCH_TOOLS = "search_tools";
export const CALL_TOOL = "call_tool";

/** The tool and the arguments inside a call of `call_tool`; undefined when it names no tool. */
export function readTarget(args: JsonObject): { readonly name: string; readonly args: JsonObject } | undefined {
  const { name, arguments: given } = args;
  if (typeof name !== "string" || name === "" || name === CALL_TOOL) return undefined;
  // Some models send the arguments as text, as they do for the call itself.
  const inner = typeof given === "string" ? parseJson(given) : given;
  return { name, args: isRecord(inner) ? (inner as JsonObject) : {} };
}
