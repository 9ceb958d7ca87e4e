// Cuts a text to a number of tokens at the end of a line.
import { estimateTextTokens } from "../core/model/tokens.ts";
import { truncate } from "../lib/text/truncate.ts";

/** Whole lines from the start while they fit into `tokens`. */
export function truncateLines(text: string, tokens: number): string {
  if (estimateTextTokens(text) <= tokens) return text;
  const kept: string[] = [];
  let used = 0;
  for (const line of text.split("\n")) {
    const cost = estimateTextTokens(line) + 1;
    if (used + cost > tokens) break;
    kept.push(line);
    used += cost;
  }
  return kept.length > 0 ? kept.join("\n") : truncate(text, tokens);
}
