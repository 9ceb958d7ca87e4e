// Shortens a text without a model: its headings, the start of each section, and paragraphs that match the query.

const HEADING = /^#{1,6}\s/;
const FENCE = /^\s*(?:```|~~~)/;
const PARAGRAPH_CHARS = 600;
const HEADING_CHARS = 160;

interface Block {
  readonly text: string;
  readonly heading: boolean;
}

/** Splits the text into paragraphs and code blocks. */
function splitBlocks(text: string): Block[] {
  const blocks: Block[] = [];
  let lines: string[] = [];
  let fenced = false;
  const end = () => {
    const block = lines.join("\n").trim();
    if (block !== "") blocks.push({ text: block, heading: HEADING.test(block) && !block.includes("\n") });
    lines = [];
  };
  for (const line of text.split("\n")) {
    if (FENCE.test(line)) fenced = !fenced;
    if (!fenced && (line.trim() === "" || HEADING.test(line))) end();
    lines.push(line);
    if (!fenced && HEADING.test(line)) end();
  }
  end();
  return blocks;
}

function shorten(block: Block): string {
  const limit = block.heading ? HEADING_CHARS : PARAGRAPH_CHARS;
  if (block.text.length <= limit) return block.text;
  const fence = FENCE.test(block.text) ? `\n${"`".repeat(3)}` : "";
  return `${cutAt(block.text, limit)} …${fence}`;
}

/** Cuts between words where possible, and never inside a surrogate pair. */
export function cutAt(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit);
  const space = Math.max(cut.lastIndexOf(" "), cut.lastIndexOf("\n"));
  const kept = space > limit * 0.7 ? cut.slice(0, space) : cut;
  return kept.replace(/[\ud800-\udbff]$/, "").trimEnd();
}

/** The words of a query to search for; text of scripts without spaces is split into pairs of characters. */
export function searchTerms(query: string): string[] {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const terms = words.flatMap((word) =>
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u.test(word) && word.length > 2
      ? Array.from({ length: word.length - 1 }, (_, index) => word.slice(index, index + 2))
      : [word],
  );
  return [...new Set(terms)].filter((term) => term.length > 1 && !/^[a-z]{2}$/.test(term)).slice(0, 30);
}

function scoreBlock(blocks: readonly Block[], index: number, terms: readonly string[]): number {
  const block = blocks[index];
  if (!block) return 0;
  const lower = block.text.toLowerCase();
  let score = 0;
  for (const term of terms) if (lower.includes(term)) score += 3;
  if (index < 3) score += 4;
  if (block.heading) score += 2;
  else if (blocks[index - 1]?.heading) score += 1.5;
  return score + 1 / (index + 2);
}

/** At most `maxChars` of the text in its order, with `…` where something was left out. */
export function digest(text: string, options: { maxChars: number; terms: readonly string[] }): string {
  const blocks = splitBlocks(text);
  const order = blocks
    .map((_, index) => ({ index, score: scoreBlock(blocks, index, options.terms) }))
    .sort((a, b) => b.score - a.score);
  const chosen = new Map<number, string>();
  let used = 0;
  for (const { index } of order) {
    const block = blocks[index];
    if (!block) continue;
    const piece = shorten(block);
    if (used + piece.length + 5 > options.maxChars) continue;
    chosen.set(index, piece);
    used += piece.length + 5;
    if (used > options.maxChars - 80) break;
  }
  const lines: string[] = [];
  let last = -1;
  for (const index of [...chosen.keys()].sort((a, b) => a - b)) {
    if (index > last + 1) lines.push("…");
    lines.push(chosen.get(index) ?? "");
    last = index;
  }
  if (last < blocks.length - 1) lines.push("…");
  return cutAt(lines.join("\n\n").replaceAll("\n\n…\n\n", "\n…\n"), options.maxChars);
}
