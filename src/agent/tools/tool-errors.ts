// Results of failed tool calls, and the detection of failures in results without a flag.

import type { ToolResult } from "../../core/tool/tool.ts";
import { toolError } from "../../core/tool/tool.ts";
import { errorMessage } from "../../lib/error-message.ts";

export const INTERRUPTED = "Interrupted.";
const MAX_ERROR_CHARS = 2_000;

/** The text of a thrown error without role tags and code fences. */
function withoutMarkup(text: string): string {
  return text
    .replace(/<\/?\s*(system|user|assistant|tool|tool_call|tool_result|function_calls?)\b[^>]*>/gi, "")
    .replace(/<!\[CDATA\[|\]\]>/g, "")
    .replaceAll("```", "'''")
    .slice(0, MAX_ERROR_CHARS);
}

/** A tool that threw has a bug; the model may still find another way. */
export function thrownResult(error: unknown): ToolResult {
  const name = error instanceof Error ? error.name : "Error";
  const message = errorMessage(error);
  return toolError(`[TOOL_ERROR] ${name}: ${withoutMarkup(message)}`);
}

export function interruptedResult(): ToolResult {
  return { content: INTERRUPTED, failed: true };
}

export function timedOutResult(name: string, ms: number): ToolResult {
  const seconds = Math.round(ms / 100) / 10;
  return toolError(`${name} did not finish within ${seconds} s and was stopped. Part of its work may be done.`);
}

/** For results without a flag: JSON with an error, a failure or a non-zero exit code. */
export function looksFailed(text: string): boolean {
  if (/^\s*Error\b/.test(text)) return true;
  if (!/^\s*\{/.test(text) || text.length > 1_000_000) return false;
  try {
    const value = JSON.parse(text) as { error?: unknown; success?: unknown; exit_code?: unknown };
    const hasError = value.error !== undefined && value.error !== null && value.error !== "" && value.error !== false;
    return hasError || value.success === false || (typeof value.exit_code === "number" && value.exit_code !== 0);
  } catch {
    return false;
  }
}
