// The default context engine: prunes old outputs, then replaces the middle of the log by a summary.
import type { CompressOptions, CompressOutcome, ContextEngine } from "../../core/context.ts";
import type { Message } from "../../core/message.ts";
import { estimateMessagesTokens } from "../../core/model/tokens.ts";
import { summaryBudget } from "./budget.ts";
import { CompactionEngine, type PassResult, type PassSizes } from "./compaction-engine.ts";
import { type Outline, outline } from "./outline.ts";
import type { Plan } from "./plan.ts";
import { readable } from "./readable.ts";
import { type Summary, summarise } from "./summarise.ts";

/** Pruning alone is enough when the messages then take at most this share of the goal. */
const PRUNED_ENOUGH = 0.85;

export class SummaryEngine extends CompactionEngine implements ContextEngine {
  readonly name = "compressor";

  /** Ends after at most three model calls. What it returns is at least a tenth smaller, or the same array. */
  async compress(log: readonly Message[], options: CompressOptions): Promise<CompressOutcome> {
    const messages = readable(log);
    const sizes = this.sizes(messages, options.currentTokens);
    const view = outline(messages);
    const pruned = this.#prune(messages, view, sizes);
    if (pruned !== undefined && options.focusTopic === undefined) return this.outcome(log, pruned, sizes);
    const plan = this.cut(view, sizes.budget);
    if (plan === undefined) return this.outcome(log, this.prunedToNewest(messages, view), sizes);
    const summary = await this.#summarise(plan, view, { sizes, options });
    const result = this.assembled(summary.body, plan, view, { sizes, options });
    return this.outcome(log, { ...summary, messages: result, protects: plan.protects }, sizes);
  }

  /** Pruning alone, when it saves enough: it costs no model call and keeps the text of user and assistant. */
  #prune(messages: readonly Message[], view: Outline, sizes: PassSizes): PassResult | undefined {
    if (sizes.before <= sizes.budget.room * 0.9) return undefined;
    const { protectFirstN, protectLastN } = this.settings;
    const from = protectFirstN + (messages[0]?.role === "system" ? 1 : 0);
    const result = this.pruned(messages, view, { from, to: messages.length - protectLastN });
    return estimateMessagesTokens(result.messages) > sizes.budget.goal * PRUNED_ENOUGH ? undefined : result;
  }

  #summarise(plan: Plan, view: Outline, pass: { sizes: PassSizes; options: CompressOptions }): Promise<Summary> {
    const { focusTopic, signal, sessionId } = pass.options;
    const content = estimateMessagesTokens(plan.middle.map((turn) => turn.message));
    return summarise(this.summariser, {
      turns: plan.middle,
      previous: view.previous?.body ?? "",
      budget: summaryBudget(content, pass.sizes.budget),
      sessionId,
      focusTopic,
      signal,
    });
  }
}
