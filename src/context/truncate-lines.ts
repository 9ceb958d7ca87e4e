// Shortens a text to whole lines within a token budget.
import { estimateTextTokens } from "../core/tokens.ts";
import { truncate } from "../lib/text/truncate.ts";

/** The lines from the start that fit into `tokens`; the start of the first line when none fits. */
export function truncateLines(text: string, tokens: number): string {
  if (estimateTextTokens(text) <= tokens) return text;
  const lines: string[] = [];
  let used = 0;
  for (const line of text.split("\n")) {
    const cost = estimateTextTokens(line) + 1;
    if (used + cost > tokens) break;
    lines.push(line);
    used += cost;
  }
  return lines.length > 0 ? lines.join("\n") : truncate(text, tokens);
}
