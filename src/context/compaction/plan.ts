// Decides where compaction cuts: head, middle and tail, without splitting tool groups.
import type { Message } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import { estimateMessageTokens } from "../../core/model/tokens.ts";
import { truncateMiddle } from "../../lib/text/truncate.ts";
import type { PassBudget } from "./budget.ts";
import type { Outline, Turn } from "./outline.ts";
import { isCarriedNote } from "./summary-message.ts";

export interface Plan {
  readonly head: readonly Message[];
  readonly middle: readonly Turn[];
  readonly tail: readonly Message[];
  /** The last user message, when the cut leaves it neither in the head nor in the tail. */
  readonly lastUser: Message | undefined;
  /** The first user message, when the head has no room for it. */
  readonly firstUser: Message | undefined;
  /** False when fewer messages than the settings protect are kept unchanged, because they would not fit. */
  readonly protects: boolean;
}

export interface PlanLimits {
  readonly protectFirstN: number;
  readonly protectLastN: number;
  /** Tokens reserved for the summary message, without user text that is joined to it. */
  readonly reserve: number;
}

const countTokens = (turns: readonly Turn[]) =>
  turns.reduce((sum, turn) => sum + estimateMessageTokens(turn.message), 0);

function isTool(turn: Turn | undefined): boolean {
  return turn?.message.role === "tool";
}

/** Start of the group that the turn at `index` belongs to: the assistant message with its results. */
export function groupStart(turns: readonly Turn[], index: number): number {
  let start = index;
  while (start > 0 && isTool(turns[start])) start--;
  return start;
}

function groupEnd(turns: readonly Turn[], index: number): number {
  let end = index;
  while (end < turns.length && isTool(turns[end])) end++;
  return end;
}

/** The protected start: `protectFirstN` messages, fewer when they would need too much of the budget. */
function headEnd(view: Outline, budget: PassBudget, protectFirstN: number): number {
  const { turns } = view;
  const limit = view.previous === undefined ? turns.length : view.afterSummary;
  const system = turns[0]?.message.role === "system" ? 1 : 0;
  const allowed = Math.floor(budget.goal * 0.25);
  for (let count = Math.min(protectFirstN, limit - system); count > 0; count--) {
    const end = Math.min(groupEnd(turns, system + count), limit);
    if (countTokens(turns.slice(system, end)) <= allowed) return end;
  }
  return system;
}

/** Walks backwards by groups: at least the last group, then `protectLastN` messages or the token budget, the larger of both. */
function tailStart(turns: readonly Turn[], from: number, sizes: { soft: number; hard: number; last: number }): number {
  let start = groupStart(turns, turns.length - 1);
  let used = countTokens(turns.slice(start));
  while (start > from) {
    const next = groupStart(turns, start - 1);
    const cost = countTokens(turns.slice(next, start));
    const wanted = turns.length - start < sizes.last || used + cost <= sizes.soft;
    if (next < from || !wanted || used + cost > sizes.hard) break;
    start = next;
    used += cost;
  }
  return Math.max(start, from);
}

/** Outputs that would fill the tail keep their beginning and end, with a hint how to see the rest. */
function fitTail(turns: readonly Turn[], tokens: number): Message[] {
  const total = countTokens(turns);
  if (total <= tokens) return turns.map((turn) => turn.message);
  const tools = turns.filter((turn) => isTool(turn));
  const others = total - countTokens(tools);
  const each = Math.max(60, Math.floor((tokens - others) / Math.max(1, tools.length)));
  return turns.map(({ message, number }) => {
    const cost = estimateMessageTokens(message);
    if (message.role !== "tool" || cost <= each) return message;
    const text = contentText(message.content);
    const keep = Math.floor((text.length * each) / cost) - 80;
    const hint = number === undefined ? "recall_context finds it" : `recall_context from ${number} shows it`;
    return { ...message, content: truncateMiddle(text, Math.max(80, keep), `[… output shortened; ${hint} …]`) };
  });
}

interface Cut {
  readonly head: number;
  readonly start: number;
}

interface UserTurns {
  readonly first: number;
  readonly last: number;
  readonly lastCost: number;
}

function userTurns(turns: readonly Turn[]): UserTurns {
  const isUser = ({ message }: Turn) => message.role === "user" && message.content !== "" && !isCarriedNote(message);
  const last = turns.findLastIndex(isUser);
  return { first: turns.findIndex(isUser), last, lastCost: last < 0 ? 0 : countTokens(turns.slice(last, last + 1)) };
}

/** The largest tail in `soft` tokens behind the protected head, and at least the protected messages; undefined when they do not fit. */
function protectedCut(view: Outline, budget: PassBudget, limits: PlanLimits): Cut | undefined {
  const { turns } = view;
  const { protectFirstN, protectLastN } = limits;
  const system = turns[0]?.message.role === "system" ? 1 : 0;
  const limit = view.previous === undefined ? turns.length : view.afterSummary;
  const head = Math.min(groupEnd(turns, Math.min(system + protectFirstN, limit)), limit);
  const users = userTurns(turns);
  const headCost = countTokens(turns.slice(0, head));
  const soft = Math.min(budget.tail, budget.goal - headCost - limits.reserve - users.lastCost);
  let start = tailStart(turns, head, { soft, hard: Number.POSITIVE_INFINITY, last: protectLastN });
  if (users.last === start - 1 && users.last >= head) start = users.last;
  if (start <= head) return undefined;
  const middle = countTokens(turns.slice(head, start));
  const inMiddle = users.last >= head && users.last < start ? users.lastCost : 0;
  const kept = headCost + countTokens(turns.slice(start)) + inMiddle;
  return kept + Math.min(limits.reserve, middle) <= budget.protectedLimit ? { head, start } : undefined;
}

/** The cut when the protected messages do not fit: a smaller head, a shorter tail, shortened outputs. */
function reducedCut(view: Outline, budget: PassBudget, limits: PlanLimits): Cut & { readonly tailTokens: number } {
  const { turns } = view;
  const head = headEnd(view, budget, limits.protectFirstN);
  const users = userTurns(turns);
  const free = budget.goal - countTokens(turns.slice(0, head)) - limits.reserve;
  const hard = Math.max(free - users.lastCost, Math.floor(budget.goal * 0.2));
  const soft = Math.min(budget.tail, hard);
  let start = tailStart(turns, head, { soft, hard, last: limits.protectLastN });
  if (users.last === start - 1) start = users.last;
  return { head, start, tailTokens: hard + (users.last >= start ? users.lastCost : 0) };
}

/**
 * The cut; undefined when there is no middle to summarise. The messages that the settings protect stay whole, unless
 * they leave no room or nothing to summarise.
 */
export function planCut(view: Outline, budget: PassBudget, limits: PlanLimits): Plan | undefined {
  const { turns } = view;
  if (turns.length === 0) return undefined;
  const whole = protectedCut(view, budget, limits);
  const { head, start, tailTokens } = whole
    ? { ...whole, tailTokens: Number.POSITIVE_INFINITY }
    : reducedCut(view, budget, limits);
  const middle = turns.slice(head, start);
  if (middle.length === 0) return undefined;
  const users = userTurns(turns);
  const between = (index: number) => index >= head && index < start;
  return {
    head: turns.slice(0, head).map((turn) => turn.message),
    middle: middle.filter((turn) => turn !== turns[users.last]),
    tail: fitTail(turns.slice(start), tailTokens),
    lastUser: between(users.last) ? turns[users.last]?.message : undefined,
    firstUser: between(users.first) && view.previous === undefined ? turns[users.first]?.message : undefined,
    protects: whole !== undefined,
  };
}
