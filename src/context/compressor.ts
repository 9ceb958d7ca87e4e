// The default context engine: prunes old outputs, then lets a summary with a pointer stand for the middle of the log.
import type { CompressOptions, CompressOutcome, ContextEngine } from "../core/context.ts";
import type { Message } from "../core/message.ts";
import type { SideModel } from "../core/provider.ts";
import { estimateMessagesTokens, estimateTextTokens } from "../core/tokens.ts";
import { assemble } from "./assemble.ts";
import { type CompressionSettings, type PassBudget, passBudget, summaryBudget } from "./budget.ts";
import { EngineBase } from "./engine-base.ts";
import { coveredRange, type Outline, outline } from "./outline.ts";
import { type Plan, planCut } from "./plan.ts";
import { pruneTurns } from "./prune.ts";
import { readable } from "./readable.ts";
import { writeSections } from "./sections.ts";
import { type Summariser, type Summary, summarise } from "./summarise.ts";
import { SUMMARY_FRAME, summaryText } from "./summary-message.ts";
import { sanitizeToolPairs } from "./tool-pairs.ts";
import { verbatimSections } from "./verbatim.ts";

export interface CompressorOptions {
  readonly contextLength: number;
  readonly settings?: Partial<CompressionSettings>;
  /** The model for the task `compression`; without one the extract does all the work. */
  readonly side?: SideModel;
  /** Applied to everything the summariser reads and writes. */
  readonly redact?: (text: string) => string;
  /** For all model calls of one pass together. */
  readonly deadlineMs?: number;
}

export const SUMMARY_DEADLINE_MS = 120_000;
const FRAME_TOKENS = estimateTextTokens(SUMMARY_FRAME) + 8;
/** Pruning alone is enough when the messages then take at most this share of the goal. */
const PRUNED_ENOUGH = 0.85;

interface Sizes {
  readonly before: number;
  readonly budget: PassBudget;
}

/** The list itself with old outputs pruned: a summary in it stays where it is. */
function prunedMessages(messages: readonly Message[], view: Outline, boundary: number): Message[] {
  const numbers = new Map(view.turns.map((turn) => [turn.message, turn.number]));
  const turns = messages.map((message) => ({ message, number: numbers.get(message) }));
  return pruneTurns(turns, Math.max(0, boundary)).map((turn) => turn.message);
}

export class Compressor extends EngineBase implements ContextEngine {
  readonly name = "compressor";
  readonly #summariser: Summariser;

  constructor(options: CompressorOptions) {
    super(options.contextLength, options.settings);
    this.#summariser = {
      side: options.side,
      redact: options.redact ?? ((text) => text),
      deadlineMs: options.deadlineMs ?? SUMMARY_DEADLINE_MS,
    };
  }

  hasContentToCompress(log: readonly Message[]): boolean {
    const messages = readable(log);
    const { budget } = this.#sizes(messages, undefined);
    if (this.#cut(outline(messages), budget) !== undefined) return true;
    return messages.some((message) => message.role === "tool" && estimateMessagesTokens([message]) > 100);
  }

  /** Ends after at most three model calls. What it returns is at least a tenth smaller, or the same array. */
  async compress(log: readonly Message[], options: CompressOptions): Promise<CompressOutcome> {
    const messages = readable(log);
    const sizes = this.#sizes(messages, options.currentTokens);
    const view = outline(messages);
    const pruned = this.#prune(messages, view, sizes);
    if (pruned !== undefined && options.focusTopic === undefined) return this.#settled(log, pruned, sizes);
    const plan = this.#cut(view, sizes.budget);
    if (plan === undefined) return this.#settled(log, this.#withoutMiddle(messages, view), sizes);
    const summary = await this.#summarise(plan, view, { sizes, options });
    const text = this.#summaryMessage(plan, view, { sizes, options, summary });
    const assembled = assemble({ head: plan.head, summary: text, tail: plan.tail, lastUser: plan.lastUser });
    return this.#settled(log, { ...summary, messages: sanitizeToolPairs(assembled) }, sizes);
  }

  #sizes(messages: readonly Message[], currentTokens: number | undefined): Sizes {
    const before = estimateMessagesTokens(messages);
    const overhead = this.overheadOf(before, currentTokens);
    const budget = passBudget({
      contextLength: this.contextLength,
      threshold: this.thresholdTokens,
      targetRatio: this.settings.targetRatio,
      before,
      overhead,
    });
    return { before, budget };
  }

  #cut(view: Outline, budget: PassBudget): Plan | undefined {
    const { protectFirstN, protectLastN } = this.settings;
    const reserve = budget.summaryMax + this.#verbatimTokens(budget) + FRAME_TOKENS;
    return planCut(view, budget, { protectFirstN, protectLastN, reserve });
  }

  #verbatimTokens(budget: PassBudget): number {
    return Math.min(1_500, Math.floor(budget.summaryMax * 0.5));
  }

  /** Pruning alone, when it goes far enough: it costs nothing and keeps every word that was said. */
  #prune(
    all: readonly Message[],
    view: Outline,
    sizes: Sizes,
  ): { messages: Message[]; method: string; modelCalls: number } | undefined {
    if (sizes.before <= sizes.budget.room * 0.9) return undefined;
    const messages = prunedMessages(all, view, all.length - this.settings.protectLastN);
    if (estimateMessagesTokens(messages) > sizes.budget.goal * PRUNED_ENOUGH) return undefined;
    return { messages, method: "prune", modelCalls: 0 };
  }

  /** A short log with huge outputs: there is nothing to summarise, only outputs to shorten. */
  #withoutMiddle(
    messages: readonly Message[],
    view: Outline,
  ): { messages: Message[]; method: string; modelCalls: number } {
    const newest = messages.findLastIndex((message) => message.role !== "tool");
    return { messages: prunedMessages(messages, view, newest), method: "prune", modelCalls: 0 };
  }

  #summarise(plan: Plan, view: Outline, pass: { sizes: Sizes; options: CompressOptions }): Promise<Summary> {
    const { focusTopic, signal, sessionId } = pass.options;
    const content = estimateMessagesTokens(plan.middle.map((turn) => turn.message));
    return summarise(this.#summariser, {
      turns: plan.middle,
      previous: view.previous?.body ?? "",
      budget: summaryBudget(content, pass.sizes.budget),
      sessionId,
      ...(focusTopic === undefined ? {} : { focusTopic }),
      ...(signal === undefined ? {} : { signal }),
    });
  }

  #summaryMessage(
    plan: Plan,
    view: Outline,
    pass: { sizes: Sizes; options: CompressOptions; summary: Summary },
  ): string {
    const copied = verbatimSections({
      middle: plan.middle,
      previous: view.previous?.body ?? "",
      firstUser: plan.firstUser,
      carry: this.#summariser.redact(pass.options.carry ?? ""),
      tokens: this.#verbatimTokens(pass.sizes.budget),
    });
    const body = `${pass.summary.body}\n\n${writeSections(copied)}`;
    const range = coveredRange(plan.middle, view.previous);
    const shared = plan.lastUser === undefined && plan.tail[0]?.role === "user";
    return summaryText(body, range, shared ? range.to + 1 : undefined);
  }

  #settled(
    log: readonly Message[],
    made: { messages: readonly Message[]; method: string; modelCalls: number; problem?: string },
    sizes: Sizes,
  ): CompressOutcome {
    const { modelCalls } = made;
    const kept = this.settle(sizes.before, estimateMessagesTokens(made.messages));
    if (!kept) {
      const notice = "The conversation could not be made shorter: what is left is the newest exchange itself.";
      return { messages: log, method: "none", modelCalls, notice };
    }
    const notice =
      made.problem === undefined
        ? undefined
        : `Earlier turns were condensed without a full summary (${made.problem}). Nothing is lost: the originals are kept and can be searched.`;
    return { messages: made.messages, method: made.method, modelCalls, ...(notice === undefined ? {} : { notice }) };
  }
}
