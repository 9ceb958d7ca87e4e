// Shell hooks: programs from config.yaml that receive an event as JSON on standard input and may answer with JSON.
import { HOOK_NAMES, type HookName } from "../../core/hook.ts";
import type { Json, JsonObject } from "../../core/message.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { nearest } from "../../lib/nearest.ts";
import { type ProgramRun, runToEnd } from "../../lib/process/run-to-end.ts";

const DEFAULT_SECONDS = 60;
const MAX_SECONDS = 300;
/** The exit code that blocks a call without JSON output. */
const BLOCK_CODE = 2;

export interface ShellHook {
  readonly event: HookName;
  readonly command: string;
  /** Full match on the tool's name; for pre_tool_call and post_tool_call. */
  readonly matcher?: string | undefined;
  readonly timeoutMs: number;
}

export interface HookEnvironment {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
}

/** Splits a command like a shell, without any other expansion than `~/` at the start of a word. */
export function splitCommand(command: string, userHome?: string): string[] {
  const words: string[] = [];
  for (const match of command.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/g)) {
    const word = match[0].replaceAll(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/g, (_, escaped, double, single) =>
      escaped !== undefined ? escaped : double !== undefined ? double.replaceAll(/\\(["\\$`])/g, "$1") : (single ?? ""),
    );
    words.push(userHome && word.startsWith("~/") ? `${userHome}${word.slice(1)}` : word);
  }
  return words;
}

function readHook(event: HookName, raw: unknown, problems: string[]): ShellHook | undefined {
  const entry = (typeof raw === "string" ? { command: raw } : (raw ?? {})) as { readonly [key: string]: unknown };
  const command = typeof entry.command === "string" ? entry.command.trim() : "";
  if (command === "") {
    problems.push(`hooks.${event}: an entry has no command`);
    return undefined;
  }
  const seconds = entry.timeout === undefined ? DEFAULT_SECONDS : Number(entry.timeout);
  const usable = Number.isFinite(seconds) && seconds >= 1;
  if (!usable || seconds > MAX_SECONDS)
    problems.push(`hooks.${event}: timeout ${String(entry.timeout)} is not between 1 and ${MAX_SECONDS} seconds`);
  const matcher = typeof entry.matcher === "string" && entry.matcher !== "" ? entry.matcher : undefined;
  if (matcher && event !== "pre_tool_call" && event !== "post_tool_call")
    problems.push(`hooks.${event}: a matcher has no effect here`);
  return {
    event,
    command,
    matcher,
    timeoutMs: Math.min(MAX_SECONDS, usable ? seconds : DEFAULT_SECONDS) * 1000,
  };
}

/** Reads `hooks` of config.yaml; invalid entries are reported as problems. */
export function readShellHooks(section: { readonly [event: string]: unknown }): {
  hooks: ShellHook[];
  problems: string[];
} {
  const hooks: ShellHook[] = [];
  const problems: string[] = [];
  for (const [event, list] of Object.entries(section)) {
    const known = HOOK_NAMES.find((name) => name === event);
    if (!known) {
      const guess = nearest(event, HOOK_NAMES);
      problems.push(`hooks.${event}: there is no such event${guess ? `; did you mean ${guess}?` : ""}`);
      continue;
    }
    for (const raw of Array.isArray(list) ? list : [list]) {
      const hook = readHook(known, raw, problems);
      if (hook) hooks.push(hook);
    }
  }
  return { hooks, problems };
}

/** An invalid regular expression is compared as a plain name. */
export function matches(hook: ShellHook, toolName: unknown): boolean {
  if (!hook.matcher || (hook.event !== "pre_tool_call" && hook.event !== "post_tool_call")) return true;
  const name = String(toolName ?? "");
  try {
    return new RegExp(`^(?:${hook.matcher})$`).test(name);
  } catch {
    return hook.matcher === name;
  }
}

/** The JSON that the program receives. */
export function hookPayload(event: HookName, args: JsonObject, cwd: string): JsonObject {
  const { tool_name, args: tool_input, session_id, parent_session_id, ...extra } = args;
  return {
    hook_event_name: event,
    tool_name: tool_name ?? null,
    tool_input: tool_input ?? null,
    session_id: session_id ?? parent_session_id ?? "",
    cwd,
    extra,
  };
}

/** Runs the program in its own process group, which is ended with it or after the time limit. */
export function runShellHook(hook: ShellHook, payload: JsonObject, where: HookEnvironment): Promise<ProgramRun> {
  return runToEnd(splitCommand(hook.command, where.env.HOME), {
    ...where,
    timeoutMs: hook.timeoutMs,
    stdin: `${JSON.stringify(payload)}\n`,
  });
}

/** The program's answer to the event; undefined when it has none. */
export function parseHookAnswer(hook: ShellHook, run: ProgramRun): Json | undefined {
  const text = run.stdout.trim();
  const parsed = text.startsWith("{") ? parseJson(text) : undefined;
  const answer = (isRecord(parsed) ? parsed : {}) as JsonObject;
  if (hook.event === "pre_tool_call") {
    if (answer.action === "block" || answer.decision === "block")
      return { action: "block", message: String(answer.message ?? answer.reason ?? "A shell hook blocked this call.") };
    if (run.code === BLOCK_CODE)
      return { action: "block", message: run.stderr.trim() || "A shell hook blocked this call." };
    return undefined;
  }
  return typeof answer.context === "string" && answer.context !== "" ? { context: answer.context } : undefined;
}

/** Why the run failed; undefined when it did not. */
export function describeHookError(hook: ShellHook, run: ProgramRun): string | undefined {
  if (run.timedOut) return `did not end within ${hook.timeoutMs / 1000} s and was stopped`;
  if (run.code === 127) return "the command was not found";
  if (run.code === 126) return "the command cannot be executed";
  const text = run.stdout.trim();
  if (text.startsWith("{") && parseJson(text) === undefined) return "its answer is not valid JSON";
  return undefined;
}
