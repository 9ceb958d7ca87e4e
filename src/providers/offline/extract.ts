// Extractive summaries: the sentences with the most frequent words of a text.
import { truncate } from "../../lib/text/truncate.ts";

const STOP = new Set(
  "the a an and or but if of to in on at for with from by is are was were be been it its this that these those as not no do does did has have had will would can could should you your we our i my he she they them their which what who when where how so than then there here also into about over just only very".split(
    " ",
  ),
);

export function splitSentences(text: string): string[] {
  return text
    .split(/\n+|(?<=[.!?。！？])\s+/u)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence.length > 3);
}

function splitWords(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\d][\p{L}\d_-]+/gu) ?? []).filter((word) => !STOP.has(word));
}

/** At most `count` sentences and `maxChars` characters, in their original order. */
export function extractSentences(text: string, count: number, maxChars = 2_000): string[] {
  const sentences = [...new Set(splitSentences(text))].slice(0, 2_000);
  const frequency = new Map<string, number>();
  for (const word of splitWords(text)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const scored = sentences.map((sentence, index) => {
    const words = splitWords(sentence);
    let score = 0;
    for (const word of words) score += Math.min(frequency.get(word) ?? 0, 8);
    return { index, sentence, score: score / Math.sqrt(words.length + 1) + (index === 0 ? 3 : 0) };
  });
  scored.sort((a, b) => b.score - a.score || a.index - b.index);
  const chosen: typeof scored = [];
  let used = 0;
  for (const item of scored) {
    if (chosen.length >= count) break;
    if (used + item.sentence.length > maxChars) continue;
    used += item.sentence.length;
    chosen.push(item);
  }
  return chosen.sort((a, b) => a.index - b.index).map((item) => item.sentence);
}

/** The text in one line, truncated. */
export function shorten(text: string, length: number): string {
  return truncate(text.replace(/\s+/g, " ").trim(), length);
}
