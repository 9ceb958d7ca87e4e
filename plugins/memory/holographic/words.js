// Extracts search terms from text: word stems, pairs of letters for scripts without spaces, and names.

/** Stop words. */
const EMPTY_WORDS = new Set(
  "the and for are was were not but you your our his her its they them this that these those with from have has had will would can could should does did what when where which who why how any all about into than then there here just also very".split(
    " ",
  ),
);
/** Scripts without spaces between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const ENDINGS = [/ies$/, /ing$/, /ed$/, /es$/, /s$/];
const MAX_NAMES = 16;

/** `deploys`, `deployed` and `deploying` have the same stem. */
function stem(word) {
  if (word.length < 5 || /\d/.test(word)) return word;
  for (const ending of ENDINGS) {
    const rest = word.replace(ending, ending.source === "ies$" ? "y" : "");
    if (rest !== word) return rest.length >= 3 ? rest : word;
  }
  return word.endsWith("e") ? word.slice(0, -1) : word;
}

function pairsOf(run) {
  const letters = [...run];
  if (letters.length < 2) return letters;
  return letters.slice(1).map((letter, at) => letters[at] + letter);
}

/** Without duplicates. Stop words are used only when there are no other words. */
export function wordsOf(text) {
  const plain = text
    .normalize("NFKD")
    .replaceAll(/\p{Mn}(?<!\p{Script=Thai})/gu, "")
    .normalize("NFKC")
    .toLowerCase();
  const found = { telling: new Set(), empty: new Set() };
  for (const [run] of plain.matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    if (UNSPACED.test(run)) for (const pair of pairsOf(run)) found.telling.add(pair);
    else if (run.length < 3 || EMPTY_WORDS.has(run)) (/\d/.test(run) ? found.telling : found.empty).add(run);
    else found.telling.add(stem(run));
  }
  return [...(found.telling.size > 0 ? found.telling : found.empty)];
}

/** Words that often start a sentence and are no names although they are capitalized. */
function beginsSentence(text, at) {
  return /(?:^|[.!?…:]\s*|\n\s*)$/.test(text.slice(0, at));
}

/** Names in the text: quoted words, and capitalized words within a sentence. */
export function namesIn(text) {
  const names = new Map();
  const take = (name) => {
    const neat = name.trim().replaceAll(/\s+/g, " ");
    if (neat.length > 1 && names.size < MAX_NAMES) names.set(nameKey(neat), neat);
  };
  for (const [, quoted] of text.matchAll(/["“«„]([^"“”«»„\n]{2,60})["”»“]/g)) take(quoted);
  for (const match of text.matchAll(/\p{Lu}[\p{L}\p{N}+#&.'’-]*(?: \p{Lu}[\p{L}\p{N}+#&.'’-]*)*/gu)) {
    const name = match[0].replace(/['’]s$/, "").replace(/[.'’&-]+$/, "");
    const [first = "", ...others] = name.split(" ");
    const plainFirst = beginsSentence(text, match.index) && !/\p{Lu}.*\p{Lu}/u.test(first);
    if (!plainFirst) take(name);
    else if (others.length > 0) take(EMPTY_WORDS.has(first.toLowerCase()) ? others.join(" ") : name);
  }
  return [...names].map(([key, name]) => ({ key, name }));
}

export function nameKey(name) {
  return name.normalize("NFKC").toLowerCase().trim();
}
