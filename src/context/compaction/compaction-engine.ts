// Common code of the built-in engines: sizes, the cut, pruning, and the check that a pass saved enough.
import type { CompressOptions, CompressOutcome } from "../../core/context.ts";
import type { Message } from "../../core/message.ts";
import type { SideModel } from "../../core/model/provider.ts";
import { estimateMessagesTokens, estimateTextTokens } from "../../core/model/tokens.ts";
import { assemble } from "./assemble.ts";
import { type CompactionSettings, type PassBudget, passBudget } from "./budget.ts";
import { EngineBase } from "./engine-base.ts";
import { type Outline, outline } from "./outline.ts";
import { type Plan, planCut } from "./plan.ts";
import { type PruneRange, pruneTurns } from "./prune.ts";
import { readable } from "./readable.ts";
import type { Summariser } from "./summarise.ts";
import { SUMMARY_FRAME } from "./summary-message.ts";
import { sanitizeToolPairs } from "./tool-pairs.ts";
import { completeSummary } from "./verbatim.ts";

export interface EngineOptions {
  readonly contextLength: number;
  readonly settings?: Partial<CompactionSettings> | undefined;
  /** The model for the task `compression`; without one only the extract is used. */
  readonly side?: SideModel | undefined;
  /** Applied to everything the summariser reads and writes. */
  readonly redact?: ((text: string) => string) | undefined;
  /** For all model calls of one pass together. */
  readonly deadlineMs?: number | undefined;
}

export interface PassSizes {
  readonly before: number;
  readonly budget: PassBudget;
}

export interface PassResult {
  readonly messages: readonly Message[];
  readonly method: string;
  readonly modelCalls: number;
  /** Why the result is not a plain summary. */
  readonly problem?: string | undefined;
  /** False when protected messages were shortened or summarised. */
  readonly protects: boolean;
}

const SUMMARY_DEADLINE_MS = 120_000;
const FRAME_TOKENS = estimateTextTokens(SUMMARY_FRAME) + 8;

function verbatimTokens(budget: PassBudget): number {
  return Math.min(1_500, Math.floor(budget.summaryMax * 0.5));
}

const SYSTEM_NOTE =
  "[Note: Some earlier conversation turns have been compacted into a summary. Build on it instead of repeating work.]";

/** Adds the note to a system message in the list, once; a prompt outside of the list is not changed. */
function withSystemNote(message: Message): Message {
  if (message.role !== "system" || typeof message.content !== "string") return message;
  if (message.content.includes("[Note: Some earlier conversation turns have been compacted")) return message;
  return { role: "system", content: `${message.content}\n\n${SYSTEM_NOTE}` };
}

export abstract class CompactionEngine extends EngineBase {
  protected readonly summariser: Summariser;

  constructor(options: EngineOptions) {
    super(options.contextLength, options.settings);
    this.summariser = {
      side: options.side,
      redact: options.redact ?? ((text) => text),
      deadlineMs: options.deadlineMs ?? SUMMARY_DEADLINE_MS,
    };
  }

  hasContentToCompress(log: readonly Message[]): boolean {
    const messages = readable(log);
    const { budget } = this.sizes(messages, undefined);
    if (this.cut(outline(messages), budget) !== undefined) return true;
    return messages.some((message) => message.role === "tool" && estimateMessagesTokens([message]) > 100);
  }

  protected sizes(messages: readonly Message[], currentTokens: number | undefined): PassSizes {
    const before = estimateMessagesTokens(messages);
    const overhead = this.estimateOverhead(before, currentTokens);
    const budget = passBudget({
      contextLength: this.contextLength,
      threshold: this.thresholdTokens,
      targetRatio: this.settings.targetRatio,
      before,
      overhead,
    });
    return { before, budget };
  }

  protected cut(view: Outline, budget: PassBudget): Plan | undefined {
    const { protectFirstN, protectLastN } = this.settings;
    const reserve = budget.summaryMax + verbatimTokens(budget) + FRAME_TOKENS;
    return planCut(view, budget, { protectFirstN, protectLastN, reserve });
  }

  /** The list itself with outputs in the range pruned; a summary in it stays where it is. */
  protected pruned(messages: readonly Message[], view: Outline, range: PruneRange): PassResult {
    const numbers = new Map(view.turns.map((turn) => [turn.message, turn.number]));
    const turns = messages.map((message) => ({ message, number: numbers.get(message) }));
    const kept = pruneTurns(turns, range).map((turn) => turn.message);
    return { messages: kept, method: "prune", modelCalls: 0, protects: true };
  }

  /** For a log without a middle: only outputs before the newest exchange can be shortened. */
  protected prunedToNewest(messages: readonly Message[], view: Outline): PassResult {
    const to = messages.findLastIndex((message) => message.role !== "tool");
    return { ...this.pruned(messages, view, { from: 0, to }), protects: false };
  }

  protected assembled(body: string, plan: Plan, view: Outline, pass: { sizes: PassSizes; options: CompressOptions }) {
    const carry = this.summariser.redact(pass.options.carry ?? "");
    const summary = completeSummary(body, plan, view, { carry, tokens: verbatimTokens(pass.sizes.budget) });
    const head = plan.head.map(withSystemNote);
    return sanitizeToolPairs(assemble({ head, summary, tail: plan.tail, lastUser: plan.lastUser }));
  }

  /** The result when it saved enough; otherwise the log, as the same array. */
  protected outcome(log: readonly Message[], result: PassResult, sizes: PassSizes): CompressOutcome {
    const { messages, method, modelCalls, problem, protects } = result;
    if (!this.settle(sizes.before, estimateMessagesTokens(messages))) {
      const notice = "The conversation could not be made shorter: what is left is the newest exchange itself.";
      return { messages: log, method: "none", modelCalls, notice };
    }
    const notices = protects ? [] : [this.#reducedNotice()];
    if (problem !== undefined) notices.push(`Earlier turns were condensed without a full summary (${problem}).`);
    if (notices.length === 0) return { messages, method, modelCalls };
    const notice = `${notices.join(" ")} Nothing is lost: the originals are kept and can be searched.`;
    return { messages, method, modelCalls, notice };
  }

  #reducedNotice(): string {
    const { protectFirstN, protectLastN } = this.settings;
    return `The first ${protectFirstN} and the last ${protectLastN} messages (compression.protect_first_n, protect_last_n) leave no room for compaction, so fewer of them are kept unchanged.`;
  }
}
