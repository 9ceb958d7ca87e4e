// Runs the tool calls of one reply: overlapping where safe, results stored in the order of the calls.
import { createHash } from "node:crypto";
import type { Content, ToolMessage } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { withGuidance } from "../steering.ts";
import type { Turn } from "../turn-state.ts";
import { type GuardVerdict, withoutTimes } from "./loop-guard.ts";
import { answerTo } from "./open-calls.ts";
import { planCalls } from "./plan-calls.ts";
import type { PreparedCall } from "./prepare-calls.ts";
import { DEFAULT_RESULT_CHARS, limitResults, TURN_RESULT_CHARS } from "./result-limits.ts";
import { type FinishedCall, runCall } from "./run-call.ts";
import { INTERRUPTED } from "./tool-errors.ts";

const NOT_RUN = "Not run: the turn was stopped by the loop guard.";

function observe(turn: Turn, finished: FinishedCall): GuardVerdict {
  const { prepared, tool, failed } = finished;
  const text = contentText(finished.content);
  if (tool !== undefined) turn.changes.observe({ tool, args: prepared.args, failed, text });
  return turn.guard.observe({
    tool: prepared.name,
    args: prepared.key,
    result: createHash("sha256").update(withoutTimes(text)).digest("base64"),
    failed,
    mutates: tool?.mutates ?? false,
    repeatable: tool?.repeatable ?? false,
  });
}

/** The contents of a group; those that are too large are replaced by a notice with the path of a file. */
async function limitGroup(turn: Turn, group: readonly FinishedCall[]): Promise<Content[]> {
  const { settings, log } = turn.state;
  const allowance = Math.max(0, (settings.turnResultChars ?? TURN_RESULT_CHARS) - turn.resultChars);
  const results = group.map(({ prepared, content, tool }) => ({
    callId: prepared.call.id,
    content,
    maxChars: tool?.maxResultChars ?? DEFAULT_RESULT_CHARS,
  }));
  const target = { dir: settings.spillDir, conversationId: log.conversationId };
  const contents = await limitResults(results, allowance, target);
  for (const content of contents) turn.resultChars += contentText(content).length;
  return contents;
}

function appendText(content: Content, text: string): Content {
  if (content === null || typeof content === "string") return `${content ?? ""}\n\n${text}`;
  return [...content, { type: "text", text }];
}

/** Results by call key, in the order in which they must be stored. */
class Results {
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
      ready.push(answerTo(prepared.call, content, prepared.name));
      this.#next += 1;
    }
  }

  /** The remaining results; `text` for calls that did not run. */
  takeRest(text: string): ToolMessage[] {
    const rest = this.#calls.slice(this.#next);
    this.#next = this.#calls.length;
    return rest.map((prepared) => answerTo(prepared.call, this.#contents.get(prepared.key) ?? text, prepared.name));
  }
}

function distinct(calls: readonly PreparedCall[]): PreparedCall[] {
  const seen = new Set<string>();
  return calls.filter((call) => !seen.has(call.key) && seen.add(call.key));
}

/**
 * Every call gets exactly one stored result; steering text is added to the last one. Returns the warning of the loop
 * guard when it wants the turn to end.
 */
export async function runTools(turn: Turn, calls: readonly PreparedCall[]): Promise<string | undefined> {
  const { tools, settings } = turn.state;
  const results = new Results(calls);
  let stop: string | undefined;
  for (const group of planCalls(distinct(calls), tools, settings.cwd)) {
    if (turn.signal.aborted || stop !== undefined) break;
    const finished = await Promise.all(group.map((prepared) => runCall(turn, prepared)));
    const verdicts = finished.map((call) => observe(turn, call));
    const contents = await limitGroup(turn, finished);
    for (const [index, call] of finished.entries()) {
      const verdict = verdicts[index];
      const content = contents[index] ?? call.content;
      const warned = verdict !== undefined && verdict.kind !== "fine" && !call.interrupted;
      results.set(call.prepared.key, warned ? appendText(content, verdict.text) : content);
      if (warned && verdict.kind === "stop") stop = verdict.text;
    }
    await storeReady(turn, results);
  }
  const rest = results.takeRest(turn.signal.aborted ? INTERRUPTED : NOT_RUN);
  if (rest.length > 0) await turn.append(rest);
  return stop;
}

async function storeReady(turn: Turn, results: Results): Promise<void> {
  const { steering } = turn.state;
  const ready = results.take();
  const last = ready.at(-1);
  const guidance = results.complete && !turn.signal.aborted && last !== undefined ? steering.take() : undefined;
  if (guidance !== undefined && last !== undefined)
    ready[ready.length - 1] = { ...last, content: withGuidance(last.content, guidance) };
  if (ready.length === 0) return;
  try {
    await turn.append(ready);
  } catch (error) {
    if (guidance !== undefined) steering.putBack(guidance);
    throw error;
  }
}
