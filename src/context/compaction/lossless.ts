// The second context engine: a tree of summaries over the unchanged log. The window shows the roots; tools open any node.
import type { CompressOptions, CompressOutcome, ContextEngine, EngineToolContext } from "../../core/context.ts";
import type { JsonObject, Message } from "../../core/message.ts";
import type { ToolSchema } from "../../core/model/provider.ts";
import { estimateMessagesTokens, estimateMessageTokens } from "../../core/model/tokens.ts";
import type { LogStore } from "../conversation-log.ts";
import { summaryBudget } from "./budget.ts";
import { CompactionEngine, type EngineOptions, type PassSizes } from "./compaction-engine.ts";
import { expandNode, LOSSLESS_TOOLS, searchTree } from "./lossless-tools.ts";
import { coveredRange, outline, type Turn } from "./outline.ts";
import { readable } from "./readable.ts";
import { modelPart } from "./sections.ts";
import { MAX_MODEL_CALLS, summarise } from "./summarise.ts";
import type { FoundSummary } from "./summary-message.ts";
import { SummaryTree, TreeFiles } from "./summary-tree.ts";

export interface LosslessOptions extends EngineOptions {
  /** Where the trees are kept, one file per session. */
  readonly dir: string;
  /** The log behind the tree; without it nodes open to their notes only. */
  readonly store?: LogStore | undefined;
}

/** Turns of about this many tokens share a leaf; a pass makes at most three leaves. */
const LEAF_TOKENS = 8_000;

interface GrowResult {
  readonly modelCalls: number;
  readonly problem?: string | undefined;
}

function splitTurns(turns: readonly Turn[], parts: number): Turn[][] {
  const total = turns.reduce((sum, turn) => sum + estimateMessageTokens(turn.message), 0);
  const groups: Turn[][] = [[]];
  let used = 0;
  for (const turn of turns) {
    const full = used >= (total * groups.length) / parts && groups.length < parts;
    if (full && turn.message.role !== "tool") groups.push([]);
    groups.at(-1)?.push(turn);
    used += estimateMessageTokens(turn.message);
  }
  return groups.filter((group) => group.length > 0);
}

export class LosslessEngine extends CompactionEngine implements ContextEngine {
  readonly name = "lossless";
  readonly #files: TreeFiles;
  readonly #store: LogStore | undefined;
  #tree: { readonly sessionId: string; readonly tree: SummaryTree } | undefined;

  constructor(options: LosslessOptions) {
    super(options);
    this.#files = new TreeFiles(options.dir);
    this.#store = options.store;
  }

  async onSessionStart(
    sessionId: string,
    details: { boundaryReason?: string | undefined; oldSessionId?: string },
  ): Promise<void> {
    const old = details.oldSessionId;
    const tree = (await this.#files.load(sessionId)) ?? (old === undefined ? undefined : await this.#loadTree(old));
    this.#tree = { sessionId, tree: tree ?? new SummaryTree() };
    if (old !== undefined && this.#tree.tree.nodes.length > 0) await this.#files.save(sessionId, this.#tree.tree);
  }

  override onSessionReset(): void {
    super.onSessionReset();
    this.#tree = undefined;
  }

  /** The same limits as the default engine: at most three model calls, at least a tenth smaller or the same array. */
  async compress(log: readonly Message[], options: CompressOptions): Promise<CompressOutcome> {
    const messages = readable(log);
    const sizes = this.sizes(messages, options.currentTokens);
    const view = outline(messages);
    const plan = this.cut(view, sizes.budget);
    if (plan === undefined) return this.outcome(log, this.prunedToNewest(messages, view), sizes);
    const tree = (await this.#loadTree(options.sessionId)).fork();
    if (tree.nodes.length === 0 && view.previous !== undefined) adoptSummary(tree, view.previous);
    const grown = await this.#grow(tree, plan.middle, { sizes, options });
    tree.fold(sizes.budget.summaryMax);
    const body = `Each heading below is a node: context_expand shows what is inside it, context_search finds words in all of it.\n\n${tree.render(sizes.budget.summaryMax - 40)}`;
    const compacted = this.assembled(body, plan, view, { sizes, options });
    const result = { ...grown, method: "tree", messages: compacted, protects: plan.protects };
    const outcome = this.outcome(log, result, sizes);
    if (outcome.messages !== log) {
      await this.#files.save(options.sessionId, tree);
      this.#tree = { sessionId: options.sessionId, tree };
    }
    return outcome;
  }

  getToolSchemas(): readonly ToolSchema[] {
    return LOSSLESS_TOOLS;
  }

  async handleToolCall(name: string, args: JsonObject, context: EngineToolContext): Promise<string> {
    const tree = await this.#loadTree(context.sessionId);
    const treeContext = { tree, store: this.#store, sessionId: context.sessionId };
    if (name === "context_expand") return JSON.stringify(await expandNode(treeContext, args));
    if (name === "context_search") return JSON.stringify(await searchTree(treeContext, args));
    return JSON.stringify({ error: `Unknown tool: ${name}` });
  }

  async #loadTree(sessionId: string): Promise<SummaryTree> {
    if (this.#tree?.sessionId === sessionId) return this.#tree.tree;
    const tree = (await this.#files.load(sessionId)) ?? new SummaryTree();
    this.#tree = { sessionId, tree };
    return tree;
  }

  /** New leaves for the turns that are removed from the window; after a failed call the rest are extracts. */
  async #grow(
    tree: SummaryTree,
    middle: readonly Turn[],
    pass: { sizes: PassSizes; options: CompressOptions },
  ): Promise<GrowResult> {
    const content = estimateMessagesTokens(middle.map((turn) => turn.message));
    const groups = splitTurns(middle, Math.min(MAX_MODEL_CALLS, Math.max(1, Math.ceil(content / LEAF_TOKENS))));
    const { focusTopic, signal, sessionId } = pass.options;
    const deadline = Date.now() + this.summariser.deadlineMs;
    let modelCalls = 0;
    let problem: string | undefined;
    for (const turns of groups) {
      const tokens = estimateMessagesTokens(turns.map((turn) => turn.message));
      const left = Math.max(1, deadline - Date.now());
      const side = problem === undefined ? this.summariser.side : undefined;
      const leaf = await summarise(
        { ...this.summariser, side, deadlineMs: left },
        {
          turns,
          previous: "",
          budget: Math.min(
            summaryBudget(tokens, pass.sizes.budget),
            Math.floor(pass.sizes.budget.summaryMax / groups.length),
          ),
          sessionId,
          maxCalls: groups.length === 1 ? MAX_MODEL_CALLS : 1,
          focusTopic,
          signal,
        },
      );
      modelCalls += leaf.modelCalls;
      problem ??= leaf.problem;
      tree.addLeaf(coveredRange(turns, undefined), leaf.body);
    }
    return problem === undefined ? { modelCalls } : { modelCalls, problem };
  }
}

/** A session that another engine compacted before, or whose tree is missing: its summary becomes the first node. */
function adoptSummary(tree: SummaryTree, previous: FoundSummary): void {
  tree.addLeaf(previous.range ?? { from: 1, to: 1 }, modelPart(previous.body));
}
