// Runs the tool calls of one reply: overlapping where safe, answered in the order asked, each answer kept as soon as it can be.
import { createHash } from "node:crypto";
import type { Content, Message, ToolMessage } from "../../core/message.ts";
import { textOf } from "../../core/message.ts";
import type { Steering } from "../steering.ts";
import { withGuidance } from "../steering.ts";
import type { FileChanges } from "./file-changes.ts";
import type { GuardVerdict, LoopGuard } from "./loop-guard.ts";
import { withoutTimes } from "./loop-guard.ts";
import { planCalls } from "./plan-calls.ts";
import type { PreparedCall } from "./prepare-calls.ts";
import { DEFAULT_RESULT_CHARS, limitResults, TURN_RESULT_CHARS } from "./result-limits.ts";
import { type CallScope, type FinishedCall, runCall } from "./run-call.ts";
import { INTERRUPTED } from "./tool-errors.ts";

/** What the batches of one turn share. */
export interface BatchScope extends CallScope {
  readonly guard: LoopGuard;
  readonly changes: FileChanges;
  readonly steering: Steering;
  /** Characters of results so far in this turn. */
  resultChars: number;
  /** Stores the results; resolves when they are durable. */
  keep(messages: readonly Message[]): Promise<void>;
}

export interface BatchOutcome {
  readonly interrupted: boolean;
  /** The loop guard wants the turn to end. */
  readonly stop?: Extract<GuardVerdict, { kind: "warn" | "stop" }> | undefined;
}

function observe(finished: FinishedCall, scope: BatchScope): GuardVerdict {
  const { prepared, tool } = finished;
  const text = textOf(finished.content);
  if (tool !== undefined) scope.changes.observe({ tool, args: prepared.args, failed: finished.failed, text });
  return scope.guard.observe({
    tool: prepared.call.function.name,
    args: prepared.key,
    result: createHash("sha256").update(withoutTimes(text)).digest("base64"),
    failed: finished.failed,
    mutates: tool?.mutates ?? false,
    repeatable: tool?.repeatable ?? false,
  });
}

async function limitGroup(group: readonly FinishedCall[], scope: BatchScope): Promise<Content[]> {
  const { settings } = scope.parts;
  const allowance = Math.max(0, (settings.turnResultChars ?? TURN_RESULT_CHARS) - scope.resultChars);
  const contents = await limitResults(
    group.map((finished) => ({
      callId: finished.prepared.call.id,
      content: finished.content,
      maxChars: finished.tool?.maxResultChars ?? DEFAULT_RESULT_CHARS,
    })),
    allowance,
    { dir: settings.spillDir, conversationId: scope.conversationId },
  );
  for (const content of contents) scope.resultChars += textOf(content).length;
  return contents;
}

function appendText(content: Content, text: string): Content {
  if (content === null || typeof content === "string") return `${content ?? ""}\n\n${text}`;
  return [...content, { type: "text", text }];
}

/** Results by call key, and the order in which they must be stored. */
class Answers {
  readonly #calls: readonly PreparedCall[];
  readonly #contents = new Map<string, Content>();
  #next = 0;

  constructor(calls: readonly PreparedCall[]) {
    this.#calls = calls;
  }

  set(key: string, content: Content): void {
    this.#contents.set(key, content);
  }

  get complete(): boolean {
    return this.#next === this.#calls.length;
  }

  /** The next results that can be stored without breaking the order of the calls. */
  take(): ToolMessage[] {
    const ready: ToolMessage[] = [];
    for (;;) {
      const prepared = this.#calls[this.#next];
      const content = prepared === undefined ? undefined : this.#contents.get(prepared.key);
      if (prepared === undefined || content === undefined) return ready;
      ready.push(resultMessage(prepared, content));
      this.#next += 1;
    }
  }

  /** What is still open, answered with `text`. */
  rest(text: string): ToolMessage[] {
    const open = this.#calls.slice(this.#next);
    this.#next = this.#calls.length;
    return open.map((prepared) => resultMessage(prepared, this.#contents.get(prepared.key) ?? text));
  }
}

function resultMessage(prepared: PreparedCall, content: Content): ToolMessage {
  const { id, function: called } = prepared.call;
  return { role: "tool", tool_call_id: id, tool_name: called.name, content };
}

function distinct(calls: readonly PreparedCall[]): PreparedCall[] {
  const seen = new Set<string>();
  return calls.filter((call) => !seen.has(call.key) && seen.add(call.key));
}

/** Every call gets exactly one stored result. Steering text lands on the last one. */
export async function runTools(calls: readonly PreparedCall[], scope: BatchScope): Promise<BatchOutcome> {
  const answers = new Answers(calls);
  let stop: BatchOutcome["stop"];
  for (const group of planCalls(distinct(calls), scope.tools, scope.parts.settings.cwd)) {
    if (scope.signal.aborted) break;
    const finished = await Promise.all(group.map((prepared) => runCall(prepared, scope)));
    const verdicts = finished.map((one) => observe(one, scope));
    const contents = await limitGroup(finished, scope);
    for (const [index, one] of finished.entries()) {
      const verdict = verdicts[index];
      const content = contents[index] ?? one.content;
      const warned = verdict !== undefined && verdict.kind !== "fine" && !one.interrupted;
      answers.set(one.prepared.key, warned ? appendText(content, verdict.text) : content);
      if (warned && verdict.kind === "stop") stop = verdict;
    }
    await keepReady(answers, scope);
    if (stop !== undefined) break;
  }
  const interrupted = scope.signal.aborted;
  const rest = answers.rest(interrupted ? INTERRUPTED : "Not run: the turn was stopped by the loop guard.");
  if (rest.length > 0) await scope.keep(rest);
  return { interrupted, ...(stop === undefined ? {} : { stop }) };
}

async function keepReady(answers: Answers, scope: BatchScope): Promise<void> {
  const ready = answers.take();
  const last = ready.at(-1);
  const guidance = answers.complete && !scope.signal.aborted && last !== undefined ? scope.steering.take() : undefined;
  if (guidance !== undefined && last !== undefined)
    ready[ready.length - 1] = { ...last, content: withGuidance(last.content, guidance) };
  if (ready.length === 0) return;
  try {
    await scope.keep(ready);
  } catch (error) {
    if (guidance !== undefined) scope.steering.putBack(guidance);
    throw error;
  }
}
