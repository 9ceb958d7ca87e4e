// The passage around a match, for rows whose text the index cannot quote: same markers and length as FTS5 snippets.
import { fold, wordPattern } from "./evaluate.ts";
import { hasCjk, type Leaf } from "./parse-query.ts";

const TOKENS = 40;
/** Each CJK character is a token; other letters form words. */
const TOKEN =
  /[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u{20000}-\u{2a6df}]|(?:(?![\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u{20000}-\u{2a6df}])[\p{L}\p{N}\p{Co}\p{M}])+/gu;

interface Span {
  readonly start: number;
  readonly end: number;
}

function findSpans(text: string, leaves: readonly Leaf[]): Span[] {
  // Lower case and removed accents can change the length of rare letters. Positions would then be wrong, so the text is not changed.
  const sameLength = (changed: string) => (changed.length === text.length ? changed : undefined);
  const searched = sameLength(text.toLowerCase()) ?? text;
  const folded = sameLength(fold(text)) ?? searched;
  const spans: Span[] = [];
  for (const leaf of leaves) {
    const literal = leaf.text.toLowerCase();
    if (!hasCjk(literal)) {
      for (const match of folded.matchAll(wordPattern(leaf, "gu"))) {
        spans.push({ start: match.index, end: match.index + match[0].length });
      }
    }
    if (hasCjk(literal) || hasCjk(text)) {
      for (let at = searched.indexOf(literal); at >= 0; at = searched.indexOf(literal, at + literal.length)) {
        spans.push({ start: at, end: at + literal.length });
      }
    }
  }
  return merged(spans);
}

function merged(spans: Span[]): Span[] {
  const result: Span[] = [];
  for (const span of spans.sort((a, b) => a.start - b.start || b.end - a.end)) {
    const last = result.at(-1);
    if (last && span.start < last.end) {
      if (span.end > last.end) result[result.length - 1] = { start: last.start, end: span.end };
    } else result.push(span);
  }
  return result;
}

/** Characters looked at around the first match; forty tokens are shorter than this in any real text. */
const NEAR = { before: 400, after: 1600 };

/** Up to 40 tokens with the matches between `>>>` and `<<<`; the beginning of the text when nothing matches in it. */
export function makeSnippet(whole: string, leaves: readonly Leaf[]): string {
  const [nearest] = findSpans(whole, leaves);
  const left = Math.max(0, (nearest?.start ?? 0) - NEAR.before);
  const text = whole.slice(left, (nearest?.start ?? 0) + NEAR.after);
  const inner = passage(text, leaves);
  const cutLeft = left > 0 && !inner.startsWith("...");
  const cutRight = left + text.length < whole.length && !inner.endsWith("...");
  return `${cutLeft ? "..." : ""}${inner}${cutRight ? "..." : ""}`;
}

function passage(text: string, leaves: readonly Leaf[]): string {
  const spans = findSpans(text, leaves);
  const tokens: Span[] = [];
  for (const match of text.matchAll(TOKEN)) tokens.push({ start: match.index, end: match.index + match[0].length });
  const first = spans[0];
  const hit = first ? tokens.findIndex((token) => token.end > first.start) : 0;
  const from = Math.max(0, Math.min(hit - TOKENS / 4, tokens.length - TOKENS));
  const start = from === 0 ? 0 : (tokens[from]?.start ?? 0);
  const end = from + TOKENS >= tokens.length ? text.length : (tokens[from + TOKENS - 1]?.end ?? text.length);
  let out = start > 0 ? "..." : "";
  let at = start;
  for (const span of spans) {
    if (span.start < at || span.end > end) continue;
    out += `${text.slice(at, span.start)}>>>${text.slice(span.start, span.end)}<<<`;
    at = span.end;
  }
  return out + text.slice(at, end) + (end < text.length ? "..." : "");
}
