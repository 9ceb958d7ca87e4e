// /context: what fills the context window, part by part, whether it is cached, and what it costs.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { SUMMARY_TAG } from "../core/context.ts";
import { contentText, type Message } from "../core/message.ts";
import { estimateMessageTokens, estimateTextTokens } from "../core/model/tokens.ts";
import { inDollars } from "../core/store/usage.ts";
import { bar, barChart } from "../lib/terminal/charts.ts";
import { type BuiltinCommand, columns } from "./builtin-command.ts";
import type { CommandDeps, ModelPrice } from "./command-deps.ts";
import { count, rows } from "./format.ts";

export interface WindowPart {
  readonly name: string;
  readonly tokens: number;
  /** Tokens that the provider has in its cache. */
  readonly cached: number;
}

function partName(message: Message): string {
  if (message.role === "tool") return `results of ${message.tool_name || "tools"}`;
  if (message.role === "user")
    return contentText(message.content).includes(SUMMARY_TAG) ? "summary of earlier turns" : "your messages";
  if (message.role === "assistant") return message.tool_calls?.length ? "tool calls" : "answers";
  return "system messages";
}

/** Everything of the last request is in the cache: all messages before the answer to it. */
function cachedMessages(messages: readonly Message[], caches: boolean): number {
  return caches
    ? Math.max(
        0,
        messages.findLastIndex((message) => message.role === "assistant"),
      )
    : 0;
}

/** The messages of the window by kind, the largest first. */
export function messageParts(messages: readonly Message[], caches: boolean): readonly WindowPart[] {
  const limit = cachedMessages(messages, caches);
  const parts = new Map<string, { tokens: number; cached: number }>();
  for (const [index, message] of messages.entries()) {
    const tokens = estimateMessageTokens(message);
    const part = parts.get(partName(message)) ?? { tokens: 0, cached: 0 };
    part.tokens += tokens;
    if (index < limit) part.cached += tokens;
    parts.set(partName(message), part);
  }
  return [...parts].map(([name, part]) => ({ name, ...part })).sort((a, b) => b.tokens - a.tokens);
}

async function fixedParts(
  { store, opened, conversation }: CommandContext,
  caches: boolean,
): Promise<readonly WindowPart[]> {
  const known = opened.promptParts.filter((part) => part.tokens > 0);
  const schemas = known.filter((part) => part.name === "tool schemas");
  const prompt = known.filter((part) => part.name !== "tool schemas");
  const stored = prompt.length > 0 ? null : (await store.getSession(conversation.sessionId))?.system_prompt;
  const shown = stored ? [{ name: "system prompt (stored)", tokens: estimateTextTokens(stored) }] : prompt;
  return [...shown, ...schemas].map((part) => ({ ...part, cached: caches ? part.tokens : 0 }));
}

function partCost(part: WindowPart, price: ModelPrice | undefined): number | undefined {
  if (!price) return undefined;
  const cached = part.cached * (price.cacheRead ?? price.input);
  return (cached + (part.tokens - part.cached) * price.input) / 1_000_000;
}

function describe(part: WindowPart, price: ModelPrice | undefined): string {
  const share = part.tokens === 0 ? 0 : Math.round((100 * part.cached) / part.tokens);
  const state = share === 0 ? "fresh" : share === 100 ? "cached" : `${share}% cached`;
  const cost = partCost(part, price);
  return [count(part.tokens), state, ...(cost === undefined ? [] : [inDollars(cost)])].join("  ");
}

async function context(deps: CommandDeps, given: CommandContext): Promise<CommandAnswer> {
  const { opened, conversation, store, width } = given;
  const session = await store.getSession(conversation.sessionId);
  const caches = opened.caching !== null || (session?.cache_read_tokens ?? 0) > 0;
  const sent = conversation.messages.some((message) => message.role === "assistant");
  const price = await deps.models.price(opened.identity);
  const parts = [...(await fixedParts(given, caches && sent)), ...messageParts(conversation.messages, caches && sent)];
  const total = parts.reduce((sum, part) => sum + part.tokens, 0);
  const cached = parts.reduce((sum, part) => sum + part.cached, 0);
  const used = total / opened.contextLength;
  const threshold = deps.settings.config.compression.threshold;
  const percent = `${Math.round(used * 100)}% of ${count(opened.contextLength)} tokens`;
  const lines = [
    `Context of ${opened.identity.model}: about ${count(total)} tokens, ${percent}; compacted at ${Math.round(threshold * 100)}%`,
    ...(width === undefined ? [] : [bar(used, Math.min(60, width))]),
    "",
    width === undefined
      ? rows(parts.map((part) => [part.name, describe(part, price).replaceAll("  ", ", ")] as const))
      : barChart(
          parts.map((part) => ({ label: part.name, value: part.tokens, text: describe(part, price) })),
          Math.min(width, 100),
        ).join("\n"),
    "",
    costLine({ name: "", tokens: total, cached }, price),
  ];
  return columns(lines.join("\n"));
}

function costLine(whole: WindowPart, price: ModelPrice | undefined): string {
  const cost = partCost(whole, price);
  const read = `The next call reads ${count(whole.cached)} cached and ${count(whole.tokens - whole.cached)} fresh tokens`;
  return cost === undefined ? `${read}; the price is not known.` : `${read}: about ${inDollars(cost)}.`;
}

export function windowCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "context",
      group: "Conversation",
      summary: "What fills the context window, and its price",
      whileBusy: true,
      ownerOnly: false,
      run: (_, given) => context(deps, given),
    },
  ];
}
