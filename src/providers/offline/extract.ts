// Summaries by extraction: the sentences that carry most of a text's own words. No model, no invention.

const STOP = new Set(
  "the a an and or but if of to in on at for with from by is are was were be been it its this that these those as not no do does did has have had will would can could should you your we our i my he she they them their which what who when where how so than then there here also into about over just only very".split(
    " ",
  ),
);

export function sentencesOf(text: string): string[] {
  return text
    .split(/\n+|(?<=[.!?。！？])\s+/u)
    .map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence.length > 3);
}

function wordsOf(text: string): string[] {
  return (text.toLowerCase().match(/[\p{L}\d][\p{L}\d_-]+/gu) ?? []).filter((word) => !STOP.has(word));
}

/** At most `count` sentences and `maxChars` characters, in their own order. */
export function extractSentences(text: string, count: number, maxChars = 2_000): string[] {
  const sentences = [...new Set(sentencesOf(text))].slice(0, 2_000);
  const frequency = new Map<string, number>();
  for (const word of wordsOf(text)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
  const scored = sentences.map((sentence, index) => {
    const words = wordsOf(sentence);
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

export function cut(text: string, length: number): string {
  const flat = text.replace(/\s+/g, " ").trim();
  return flat.length > length ? `${flat.slice(0, length - 1).trimEnd()}…` : flat;
}
