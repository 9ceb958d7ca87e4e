// The result of a tool call in words: never raw JSON.
import { isRecord } from "../../../lib/json/is-record.ts";
import { parseJson } from "../../../lib/json/parse-json.ts";
import { formatSize } from "../text/amounts.ts";
import { cleanShort } from "../text/clean.ts";
import type { Texts } from "../texts/texts.ts";

export interface ToolOutcome {
  readonly name: string;
  readonly failed: boolean;
  /** The whole result, or its shortened start when only that is known. */
  readonly content: string;
}

interface Fields {
  readonly [key: string]: unknown;
}

const REASON_CHARS = 400;

/** The JSON object of a result. A note about a spilled output may stand before it. */
export function resultFields(content: string): Fields | undefined {
  const start = content.startsWith("{") ? 0 : content.indexOf("\n{") + 1;
  if (start === 0 && !content.startsWith("{")) return undefined;
  const parsed = parseJson(content.slice(start));
  return isRecord(parsed) ? parsed : undefined;
}

function textField(fields: Fields, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string" && value.trim() !== "") return value;
  }
  return undefined;
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)?.trim() ?? "";
}

/** From shortened JSON: the text of its first message, as far as it is there. */
function brokenReason(content: string): string | undefined {
  const found = /"(?:error|message|output)"\s*:\s*"((?:[^"\\]|\\.)*)/.exec(content)?.[1];
  if (found === undefined) return undefined;
  const parsed = parseJson(`"${found.replace(/\\$/, "")}"`);
  return typeof parsed === "string" ? parsed : found;
}

/** Why a call failed. */
function failureReason(content: string, texts: Texts): string {
  const fields = resultFields(content);
  if (fields === undefined) {
    const start = content.trimStart();
    if (start.startsWith("{")) return brokenReason(start) ?? texts.text("tool.failed");
    return start.split("\n", 1)[0] ?? "";
  }
  const code = fields.exit_code;
  const error = textField(fields, "error", "message", "reason");
  const output = textField(fields, "output", "stderr", "stdout");
  if (typeof code === "number" && code !== 0) {
    const exit = texts.text("tool.exit", { code: String(code) });
    const why = error ?? (output === undefined ? undefined : lastLine(output));
    return why === undefined || why === "" ? exit : `${exit}: ${why}`;
  }
  return error ?? (output === undefined ? texts.text("tool.failed") : lastLine(output));
}

function countLines(text: string): number {
  const trimmed = text.replace(/\n$/, "");
  return trimmed === "" ? 0 : trimmed.split("\n").length;
}

function listLength(fields: Fields, ...names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = fields[name];
    if (Array.isArray(value)) return value.length;
    if (typeof value === "number") return value;
  }
  return undefined;
}

function commandResult(fields: Fields, texts: Texts): string {
  if (fields.status === "running" || (fields.session_id !== undefined && fields.pid !== undefined))
    return texts.text("tool.background");
  const output = textField(fields, "output", "stdout");
  if (output === undefined) return texts.text("tool.no_output");
  const lines = countLines(output);
  return lines === 1 ? output.trim() : texts.text("tool.lines", { count: lines });
}

function fileResult(fields: Fields, texts: Texts): string | undefined {
  if (fields.status === "unchanged") return texts.text("tool.unchanged");
  if (typeof fields.bytes_written === "number")
    return texts.text("tool.bytes", { size: formatSize(fields.bytes_written) });
  const files = ["files_modified", "files_created", "files_deleted"].map((name) => fields[name]);
  if (files.some(Array.isArray)) {
    const count = files.reduce((sum: number, list) => sum + (Array.isArray(list) ? list.length : 0), 0);
    return texts.text("tool.files", { count });
  }
  const total = fields.total_lines;
  return typeof total === "number" ? texts.text("tool.lines", { count: total }) : undefined;
}

function generalResult(fields: Fields, texts: Texts): string {
  const matches = listLength(fields, "matches", "total_count", "total_matches");
  if (matches !== undefined) return texts.text("tool.matches", { count: matches });
  const results = listLength(fields, "results", "count", "items", "jobs", "sessions");
  if (results !== undefined) return texts.text("tool.results", { count: results });
  const answer = textField(fields, "user_response", "message", "note", "status");
  if (answer !== undefined) return answer;
  const content = textField(fields, "content", "text");
  return content === undefined ? "" : texts.text("tool.lines", { count: countLines(content) });
}

function successText(name: string, content: string, texts: Texts): string {
  const fields = resultFields(content);
  if (fields === undefined) {
    const lines = countLines(content);
    return lines <= 1 ? content.trim() : texts.text("tool.lines", { count: lines });
  }
  const isCommand = name === "terminal" || name === "execute_code" || "exit_code" in fields;
  if (isCommand) return commandResult(fields, texts);
  return fileResult(fields, texts) ?? generalResult(fields, texts);
}

/** One short line about how the call ended; empty when there is nothing to add. */
export function describeResult({ name, failed, content }: ToolOutcome, texts: Texts): string {
  const text = failed ? failureReason(content, texts) : successText(name, content, texts);
  return cleanShort(text, REASON_CHARS);
}

/** The output that an expanded call shows: lines of text, or undefined when the result is data. */
export function resultOutput(content: string): string | undefined {
  const fields = resultFields(content);
  if (fields === undefined) return content.startsWith("{") ? undefined : content;
  const output = textField(fields, "output", "stdout", "content", "text");
  const error = textField(fields, "stderr", "error");
  return [output, error].filter((part) => part !== undefined).join("\n") || undefined;
}
