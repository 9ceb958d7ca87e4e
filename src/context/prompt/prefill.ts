// Example messages that are sent before every conversation and never stored: `prefill_messages_file`.
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Message } from "../../core/message.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { readIfExists } from "../../lib/read-if-exists.ts";

export interface Prefill {
  readonly messages: readonly Message[];
  /** Why the file was not used. */
  readonly problem?: string | undefined;
}

const NONE: Prefill = { messages: [] };
const SHAPE = 'expected a JSON list of {"role": "user" or "assistant", "content": text}';

function toMessage(item: unknown): Message | undefined {
  if (!isRecord(item) || typeof item.content !== "string") return undefined;
  return item.role === "user" || item.role === "assistant" ? { role: item.role, content: item.content } : undefined;
}

/** A relative path starts at the home. A file that cannot be used is a problem to show, not an error. */
export async function readPrefill(file: string, home: string): Promise<Prefill> {
  if (file === "") return NONE;
  const expanded = file.startsWith("~/") ? join(homedir(), file.slice(2)) : file;
  const path = isAbsolute(expanded) ? expanded : join(home, expanded);
  const problem = (reason: string): Prefill => ({
    messages: [],
    problem: `The example messages of prefill_messages_file are not sent: ${path}: ${reason}.`,
  });
  try {
    const text = await readIfExists(path);
    if (text === undefined) return problem("no such file");
    const items: unknown = JSON.parse(text.replace(/^\ufeff/, ""));
    if (!Array.isArray(items)) return problem(SHAPE);
    const messages = items.map(toMessage);
    const wrong = messages.indexOf(undefined);
    if (wrong >= 0) return problem(`entry ${wrong + 1} is wrong, ${SHAPE}`);
    return { messages: messages.filter((message) => message !== undefined) };
  } catch (error) {
    return problem(errorMessage(error));
  }
}
