// Asks a model for a summary, at most three times, and falls back on the extract. Always returns a result.

import { setImmediate } from "node:timers/promises";
import type { SideAnswer, SideModel } from "../../core/model/provider.ts";
import { estimateTextTokens } from "../../core/model/tokens.ts";
import { underSignals } from "../../lib/async/joined-signal.ts";
import { SignalRace } from "../../lib/async/signal-race.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { truncate } from "../../lib/text/truncate.ts";
import { truncateLines } from "../truncate-lines.ts";
import { extract, mergeNotes, shrinkNotes, updateExtract } from "./extract.ts";
import type { Turn } from "./outline.ts";
import { modelPart } from "./sections.ts";
import { serializeTurns } from "./serialize.ts";
import { judgeSummary, type SummaryRequest, summaryPrompt, type Verdict } from "./summary-prompt.ts";

export const MAX_MODEL_CALLS = 3;
/** Tokens of the instructions around the turns. */
const PROMPT_TOKENS = 700;
const SCALES = [1, 0.5, 0.25, 0.1, 0.04, 0.015];

export interface SummariseInput {
  readonly turns: readonly Turn[];
  /** The body of the summary that these turns follow; empty on the first pass. */
  readonly previous: string;
  readonly budget: number;
  readonly focusTopic?: string | undefined;
  readonly sessionId: string;
  readonly signal?: AbortSignal | undefined;
  /** Fewer than three when several summaries share one pass. */
  readonly maxCalls?: number | undefined;
}

export interface Summariser {
  /** Undefined when no model may be called. */
  readonly side: SideModel | undefined;
  readonly redact: (text: string) => string;
  /** The time limit of the whole pass with all its calls. */
  readonly deadlineMs: number;
}

export interface Summary {
  readonly body: string;
  readonly method: "summary" | "chunked_summary" | "extract";
  readonly modelCalls: number;
  /** Why the result is not a plain summary. */
  readonly problem?: string | undefined;
}

/** Resolves at the deadline even when the model ignores its signal. */
async function untilDeadline(work: Promise<SideAnswer>, signal: AbortSignal): Promise<SideAnswer | "late"> {
  const race = new SignalRace(signal, "late" as const);
  try {
    return await race.run(work);
  } catch (error) {
    return { ok: false, failure: { kind: "unknown", message: errorMessage(error) } };
  } finally {
    race.close();
  }
}

type Limited = SummariseInput & { readonly signal: AbortSignal };

class Pass {
  calls = 0;
  problem: string | undefined;
  readonly #summariser: Summariser;
  readonly #input: Limited;
  readonly #signal: AbortSignal;
  /** Tokens that the request asks for: fewer than the pass may use when the window of the summariser is small. */
  readonly budget: number;

  constructor(summariser: Summariser, input: Limited, window: number) {
    this.budget = Math.max(100, Math.min(input.budget, Math.floor(window * 0.2)));
    this.#summariser = summariser;
    this.#input = input;
    this.#signal = input.signal;
  }

  get left(): number {
    return this.#summariser.side === undefined || this.#signal.aborted
      ? 0
      : (this.#input.maxCalls ?? MAX_MODEL_CALLS) - this.calls;
  }

  async ask(content: string, previous: string): Promise<Verdict> {
    const { side, redact } = this.#summariser;
    if (side === undefined || this.left <= 0)
      return { kind: "bad", problem: "no summariser is available", retry: false };
    const { focusTopic, sessionId } = this.#input;
    const budget = this.budget;
    const request: SummaryRequest = { content, previous, budget, focusTopic };
    this.calls++;
    const work = (async () =>
      side.ask(
        { task: "compression", prompt: summaryPrompt(request), maxOutputTokens: Math.ceil(budget * 1.3), sessionId },
        this.#signal,
      ))();
    const answer = await untilDeadline(work, this.#signal);
    if (answer === "late") return { kind: "bad", problem: "the summariser did not answer in time", retry: false };
    const verdict = judgeSummary(answer, request);
    return verdict.kind === "bad" ? verdict : { ...verdict, text: redact(verdict.text) };
  }
}

async function readWindow(side: SideModel | undefined): Promise<number> {
  if (side === undefined) return 0;
  try {
    const window = await side.contextLength("compression");
    return Number.isFinite(window) && window > 0 ? window : 8_192;
  } catch {
    // Unknown window: assume a small one, which only means more and smaller requests.
    return 8_192;
  }
}

interface Chunks {
  readonly texts: readonly string[];
  /** The number of oldest turns that did not fit. */
  readonly leftOut: number;
}

/** A text and its estimated tokens, which are counted once. */
interface Sized {
  readonly text: string;
  readonly tokens: number;
}

function fill(texts: readonly Sized[], tokens: number): string[][] {
  const chunks: string[][] = [[]];
  let used = 0;
  for (const { text, tokens: own } of texts) {
    const cost = own + 2;
    if (used > 0 && used + cost > tokens) {
      chunks.push([]);
      used = 0;
    }
    chunks.at(-1)?.push(text);
    used += cost;
  }
  return chunks;
}

/** Turns that are serialised before other work of the process gets a chance. */
const SLICE = 200;

async function sizedTurns(turns: readonly Turn[], redact: (text: string) => string, scale: number): Promise<Sized[]> {
  const sized: Sized[] = [];
  for (let at = 0; at < turns.length; at += SLICE) {
    if (at > 0) await setImmediate();
    for (const text of serializeTurns(turns.slice(at, at + SLICE), { redact, scale }))
      sized.push({ text, tokens: estimateTextTokens(text) });
  }
  return sized;
}

const totalTokens = (texts: readonly Sized[]): number => texts.reduce((sum, { tokens }) => sum + tokens + 2, 0);

/**
 * At most `count` texts of `tokens`: bodies are shortened until they fit; the oldest turns that still do not fit are left
 * out. `whole` are the turns at full size: shortened to a part `scale`, they take about that part of its tokens or more,
 * so scales that cannot fit are not tried.
 */
async function chunkTurns(
  turns: readonly Turn[],
  whole: readonly Sized[],
  redact: (text: string) => string,
  size: { tokens: number; count: number },
): Promise<Chunks> {
  if (size.tokens < 100 || size.count < 1) return { texts: [], leftOut: turns.length };
  const total = totalTokens(whole);
  const possible = SCALES.filter((scale) => scale * 0.8 * total <= size.tokens * size.count || scale === SCALES.at(-1));
  let smallest: readonly Sized[] = [];
  for (const scale of possible) {
    smallest = scale === 1 ? whole : await sizedTurns(turns, redact, scale);
    const chunks = fill(smallest, size.tokens);
    const tooLarge = smallest.some(({ tokens }) => tokens > size.tokens);
    if (chunks.length <= size.count && !tooLarge)
      return { texts: chunks.map((chunk) => chunk.join("\n\n")), leftOut: 0 };
  }
  const cut = smallest.map(({ text }): Sized => {
    const short = truncate(text, size.tokens * 2);
    return { text: short, tokens: estimateTextTokens(short) };
  });
  const newest = fill(cut, size.tokens).slice(-size.count);
  const kept = newest.reduce((sum, chunk) => sum + chunk.length, 0);
  return { texts: newest.map((chunk) => chunk.join("\n\n")), leftOut: turns.length - kept };
}

/** A truncated or unstructured answer is used only together with an extract, each with half of the budget. */
function combineWithExtract(text: string, input: SummariseInput, redact: (text: string) => string): string {
  const half = Math.floor(input.budget / 2);
  return redact(`${truncateLines(text, half)}\n\n${updateExtract(input.previous, input.turns, half)}`);
}

async function askOnce(pass: Pass, input: SummariseInput, text: string): Promise<Verdict> {
  const previous = shrinkNotes(input.previous, pass.budget);
  const verdict = await pass.ask(text, previous);
  return verdict.kind === "bad" && verdict.retry && !verdict.tooLong ? pass.ask(text, previous) : verdict;
}

/** Summarises chunk after chunk, each time updating the notes so far; what no answer covers goes into an extract. */
async function askInChunks(pass: Pass, input: SummariseInput, chunks: Chunks): Promise<string | undefined> {
  let notes = modelPart(input.previous);
  let done = 0;
  for (const chunk of chunks.texts) {
    const verdict = await pass.ask(chunk, shrinkNotes(notes, pass.budget));
    if (verdict.kind !== "good") pass.problem = verdict.problem;
    if (verdict.kind === "bad") break;
    notes = verdict.text;
    if (verdict.kind === "partial") break;
    done++;
  }
  if (done === 0 && pass.problem !== undefined) return undefined;
  if (chunks.leftOut > 0) pass.problem ??= "the summariser's window is too small for all of it";
  if (pass.problem === undefined) return notes;
  const read = input.turns.length - chunks.leftOut;
  const covered = chunks.leftOut + Math.floor((read * done) / chunks.texts.length);
  const rest = [...input.turns.slice(0, chunks.leftOut), ...input.turns.slice(covered)];
  return mergeNotes(notes, extract(rest, Math.floor(input.budget * 0.6)), input.budget);
}

/** Never throws; `body` is empty only when there was nothing to summarise. */
export function summarise(summariser: Summariser, input: SummariseInput): Promise<Summary> {
  const sources = input.signal === undefined ? [] : [input.signal];
  return underSignals(sources, summariser.deadlineMs, (signal) => inOnePass(summariser, { ...input, signal }));
}

async function inOnePass(summariser: Summariser, input: Limited): Promise<Summary> {
  const { side, redact } = summariser;
  const window = await readWindow(side);
  const pass = new Pass(summariser, input, window);
  const finish = (body: string, method: Summary["method"]): Summary => ({
    body: truncateLines(body, Math.ceil(input.budget * 1.3)),
    method,
    modelCalls: pass.calls,
    problem: pass.problem,
  });
  const previousTokens = input.previous === "" ? 0 : pass.budget;
  const tokens = Math.floor(window * 0.85) - Math.ceil(pass.budget * 1.3) - previousTokens - PROMPT_TOKENS;
  const whole = await sizedTurns(input.turns, redact, 1);
  const wholeTokens = totalTokens(whole);
  let chunkTokens = tokens;
  if (side !== undefined && wholeTokens <= tokens) {
    const verdict = await askOnce(pass, input, whole.map(({ text }) => text).join("\n\n"));
    if (verdict.kind === "good") return finish(verdict.text, "summary");
    pass.problem = verdict.problem;
    if (verdict.kind === "partial") return finish(combineWithExtract(verdict.text, input, redact), "extract");
    if (!verdict.tooLong) return finish(redact(updateExtract(input.previous, input.turns, input.budget)), "extract");
    chunkTokens = Math.min(Math.floor(tokens / 4), Math.ceil(wholeTokens / Math.max(1, pass.left)) + 200);
  }
  const chunks = await chunkTurns(input.turns, whole, redact, { tokens: chunkTokens, count: pass.left });
  const tooLong = pass.problem;
  pass.problem = undefined;
  const notes = chunks.texts.length === 0 ? undefined : await askInChunks(pass, input, chunks);
  if (notes !== undefined) return finish(notes, "chunked_summary");
  pass.problem ??= tooLong ?? "the summariser's window is too small for this conversation";
  return finish(redact(updateExtract(input.previous, input.turns, input.budget)), "extract");
}
