// Cutting text to a size so that the reader can see where something is missing.
import { estimateTextTokens } from "../core/tokens.ts";

/** Never splits a surrogate pair. */
function safeEnd(text: string, end: number): number {
  const code = text.charCodeAt(end - 1);
  return end < text.length && code >= 0xd800 && code <= 0xdbff ? end - 1 : end;
}

/** The first `chars` characters, with an ellipsis when something was cut. */
export function clip(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, safeEnd(text, Math.max(0, chars - 1)))}…`;
}

/** Head and tail of a text around a marker; `chars` bounds what is kept of the text itself. */
export function clipMiddle(text: string, chars: number, marker: string): string {
  if (text.length <= chars) return text;
  const head = safeEnd(text, Math.floor(chars * 0.7));
  const start = safeEnd(text, text.length - Math.floor(chars * 0.3));
  return `${text.slice(0, head)}\n${marker}\n${text.slice(start)}`;
}

/** Whole lines from the start while they fit into `tokens`. */
export function clipLines(text: string, tokens: number): string {
  if (estimateTextTokens(text) <= tokens) return text;
  const kept: string[] = [];
  let used = 0;
  for (const line of text.split("\n")) {
    const cost = estimateTextTokens(line) + 1;
    if (used + cost > tokens) break;
    kept.push(line);
    used += cost;
  }
  return kept.length > 0 ? kept.join("\n") : clip(text, tokens);
}

/** One line without runs of white space. */
export function oneLine(text: string, chars: number): string {
  return clip(
    text
      .slice(0, chars * 4)
      .replace(/\s+/g, " ")
      .trim(),
    chars,
  );
}
