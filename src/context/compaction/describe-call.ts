// Describes a tool call and its outcome in one line, which replaces an old output.
import type { ToolCall } from "../../core/message.ts";
import { oneLine } from "../../lib/text/one-line.ts";

const KEY_ARGUMENTS = [
  "command",
  "path",
  "file_path",
  "pattern",
  "query",
  "url",
  "urls",
  "goal",
  "name",
  "action",
  "question",
  "code",
  "content",
];

function parseObject(text: string): { readonly [key: string]: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

/** The most descriptive argument of a call. */
export function keyArgument(call: ToolCall, chars = 80): string {
  const args = parseObject(call.function.arguments);
  for (const key of KEY_ARGUMENTS) {
    const value = args[key];
    if (typeof value === "string" && value !== "") return oneLine(value, chars);
    if (Array.isArray(value) && value.length > 0) return oneLine(value.join(" "), chars);
  }
  const first = Object.values(args).find((value) => typeof value === "string" && value !== "");
  return typeof first === "string" ? oneLine(first, chars) : "";
}

/** Paths that a call names. */
export function listPaths(call: ToolCall): readonly string[] {
  const args = parseObject(call.function.arguments);
  const found: string[] = [];
  for (const key of ["path", "file_path", "workdir"]) {
    const value = args[key];
    if (typeof value === "string" && value !== "") found.push(value);
  }
  return found;
}

function outcome(output: string): string {
  const value = parseObject(output.length < 200_000 ? output : "");
  const lines = output.split("\n").length;
  const size = lines > 1 ? `${lines} lines` : `${output.length} chars`;
  if (typeof value.exit_code === "number") {
    const text = typeof value.output === "string" ? value.output : "";
    return `exit ${value.exit_code}, ${text === "" ? "no" : text.split("\n").length} lines`;
  }
  if (typeof value.error === "string") return `error: ${oneLine(value.error, 120)}`;
  if (typeof value.total_count === "number") return `${value.total_count} matches`;
  return size;
}

/** `terminal: npm test → exit 1, 120 lines` */
export function describeCall(call: ToolCall, output: string): string {
  const key = keyArgument(call);
  return `${call.function.name}${key === "" ? "" : `: ${key}`} → ${outcome(output)}`;
}
