// Finds the passage for an edit with increasingly tolerant strategies; the first that matches is used.

export interface Match {
  readonly start: number;
  readonly end: number;
}

export interface Found {
  readonly strategy: string;
  readonly matches: readonly Match[];
}

interface Line {
  readonly text: string;
  readonly start: number;
  /** Without the line end. */
  readonly end: number;
}

function splitLines(text: string): Line[] {
  const lines: Line[] = [];
  let start = 0;
  for (const piece of text.split("\n")) {
    lines.push({ text: piece, start, end: start + piece.length });
    start += piece.length + 1;
  }
  return lines;
}

function exact(text: string, wanted: string): Match[] {
  const matches: Match[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
    matches.push({ start: at, end: at + wanted.length });
  return matches;
}

/** Every range of lines that equals the wanted lines after `normalize`. */
function byLines(text: string, wanted: string, normalize: (lines: readonly string[]) => readonly string[]): Match[] {
  const hay = splitLines(text);
  const needle = normalize(trimBlankEnds(wanted.split("\n")));
  if (needle.length === 0) return [];
  const matches: Match[] = [];
  for (let at = 0; at + needle.length <= hay.length; at++) {
    const window = normalize(hay.slice(at, at + needle.length).map((line) => line.text));
    if (window.every((line, index) => line === needle[index])) {
      matches.push({ start: hay[at]?.start ?? 0, end: hay[at + needle.length - 1]?.end ?? 0 });
      at += needle.length - 1;
    }
  }
  return matches;
}

function trimBlankEnds(lines: readonly string[]): string[] {
  const kept = [...lines];
  while (kept.length > 1 && kept[kept.length - 1]?.trim() === "") kept.pop();
  while (kept.length > 1 && kept[0]?.trim() === "") kept.shift();
  return kept;
}

function withoutCommonIndent(lines: readonly string[]): string[] {
  const indents = lines.filter((line) => line.trim() !== "").map((line) => /^[ \t]*/.exec(line)?.[0].length ?? 0);
  const common = indents.length > 0 ? Math.min(...indents) : 0;
  return lines.map((line) => line.slice(common).trimEnd());
}

const UNESCAPES: readonly (readonly [RegExp, string])[] = [
  [/\\n/g, "\n"],
  [/\\t/g, "\t"],
  [/\\r/g, ""],
  [/\\(["'`\\])/g, "$1"],
];

function removeEscapes(text: string): string {
  let result = text;
  for (const [pattern, replacement] of UNESCAPES) result = result.replace(pattern, replacement);
  return result;
}

const TYPOGRAPHY: readonly (readonly [RegExp, string])[] = [
  [/[\u2018\u2019\u201a\u201b]/g, "'"],
  [/[\u201c\u201d\u201e\u201f]/g, '"'],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u00a0\u2000-\u200a\u202f\u3000]/g, " "],
  [/\u2026/g, "..."],
];

function plainTypography(text: string): string {
  let result = text.normalize("NFKC");
  for (const [pattern, replacement] of TYPOGRAPHY) result = result.replace(pattern, replacement);
  return result;
}

/** The share of common words, from 0 to 1. */
export function similarity(a: string, b: string): number {
  if (a === b) return 1;
  const words = (text: string) => text.trim().split(/\W+/u).filter(Boolean);
  const left = words(a);
  const right = words(b);
  if (left.length === 0 || right.length === 0) return a.trim() === b.trim() ? 1 : 0;
  const counts = new Map<string, number>();
  for (const word of right) counts.set(word, (counts.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of left) {
    const count = counts.get(word) ?? 0;
    if (count > 0) {
      common++;
      counts.set(word, count - 1);
    }
  }
  return (2 * common) / (left.length + right.length);
}

/** Matches by first and last line and similar lines between. With several candidates the similarity must be higher. */
function blockAnchor(text: string, wanted: string): Match[] {
  const hay = splitLines(text);
  const needle = trimBlankEnds(wanted.split("\n"));
  if (needle.length < 3) return [];
  const first = needle[0]?.trim();
  const last = needle[needle.length - 1]?.trim();
  const candidates: { match: Match; score: number }[] = [];
  for (let at = 0; at + needle.length <= hay.length; at++) {
    const end = at + needle.length - 1;
    if (hay[at]?.text.trim() !== first || hay[end]?.text.trim() !== last) continue;
    const middle = hay
      .slice(at + 1, end)
      .map((line) => line.text)
      .join("\n");
    const score = similarity(middle, needle.slice(1, -1).join("\n"));
    candidates.push({ match: { start: hay[at]?.start ?? 0, end: hay[end]?.end ?? 0 }, score });
  }
  const minimum = candidates.length === 1 ? 0.5 : 0.7;
  return candidates.filter(({ score }) => score >= minimum).map(({ match }) => match);
}

/** Matches when at least half of the lines are nearly equal. */
function contextAware(text: string, wanted: string): Match[] {
  const hay = splitLines(text);
  const needle = trimBlankEnds(wanted.split("\n"));
  if (needle.length < 2) return [];
  const matches: Match[] = [];
  for (let at = 0; at + needle.length <= hay.length; at++) {
    const alike = needle.filter((line, index) => similarity(line, hay[at + index]?.text ?? "") >= 0.8).length;
    if (alike / needle.length >= 0.5 && alike >= 2) {
      matches.push({ start: hay[at]?.start ?? 0, end: hay[at + needle.length - 1]?.end ?? 0 });
      at += needle.length - 1;
    }
  }
  return matches;
}

const STRATEGIES: readonly { readonly name: string; find(text: string, wanted: string): Match[] }[] = [
  { name: "exact", find: exact },
  { name: "line_trimmed", find: (text, wanted) => byLines(text, wanted, (lines) => lines.map((line) => line.trim())) },
  {
    name: "whitespace_normalized",
    find: (text, wanted) => byLines(text, wanted, (lines) => lines.map((line) => line.trim().replace(/\s+/gu, " "))),
  },
  { name: "indentation_flexible", find: (text, wanted) => byLines(text, wanted, withoutCommonIndent) },
  {
    name: "escape_normalized",
    find: (text, wanted) => (removeEscapes(wanted) === wanted ? [] : exact(text, removeEscapes(wanted))),
  },
  {
    name: "trimmed_boundary",
    find: (text, wanted) => (wanted.trim() === "" || wanted.trim() === wanted ? [] : exact(text, wanted.trim())),
  },
  {
    name: "unicode_normalized",
    find: (text, wanted) => byLines(text, wanted, (lines) => lines.map((line) => plainTypography(line).trim())),
  },
  {
    // Two hyphens are how a keyboard types a long dash.
    name: "dashes_normalized",
    find: (text, wanted) =>
      byLines(text, wanted, (lines) =>
        lines.map((line) => plainTypography(line.replace(/[\u2014\u2015]/g, "--")).trim()),
      ),
  },
  { name: "block_anchor", find: blockAnchor },
  { name: "context_aware", find: contextAware },
];

/** Strategies that accept different words: acceptable for one edit, whose diff the model sees, but not for patches. */
const LOOSE = new Set(["block_anchor", "context_aware"]);

/** Null when no strategy finds the passage. `careful` skips those that accept different words. */
export function findPassage(
  text: string,
  wanted: string,
  options: { careful?: boolean | undefined } = {},
): Found | null {
  if (wanted === "") return null;
  for (const strategy of STRATEGIES) {
    if (options.careful && LOOSE.has(strategy.name)) continue;
    const matches = strategy.find(text, wanted);
    if (matches.length > 0) return { strategy: strategy.name, matches };
  }
  return null;
}

/** The regions most similar to the passage, for the error message when nothing matched. */
export function closestRegions(text: string, wanted: string, count = 3): { line: number; text: string }[] {
  const hay = text.split("\n");
  const needle = trimBlankEnds(wanted.split("\n"));
  const scored: { line: number; score: number }[] = [];
  for (let at = 0; at < hay.length; at++) {
    const score = similarity(hay.slice(at, at + needle.length).join("\n"), needle.join("\n"));
    if (score > 0.3) scored.push({ line: at + 1, score });
  }
  const chosen: { line: number; score: number }[] = [];
  for (const candidate of scored.sort((a, b) => b.score - a.score)) {
    if (chosen.length >= count) break;
    if (chosen.every((other) => Math.abs(other.line - candidate.line) >= needle.length)) chosen.push(candidate);
  }
  return chosen.map(({ line }) => ({
    line,
    text: hay.slice(Math.max(0, line - 3), line + needle.length + 1).join("\n"),
  }));
}
