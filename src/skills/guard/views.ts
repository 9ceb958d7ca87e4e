// Alternative readings of a text: joined continuation lines, replaced look-alike letters, decoded blobs.

import { backwards, decodedIn, rot13, unescaped } from "./decode.ts";

export interface View {
  readonly line: number;
  readonly text: string;
  /** How this reading was produced; empty for the original text. */
  readonly how: "" | "joined" | "unmasked" | "decoded" | "paragraph" | "folded";
}

const INVISIBLE =
  /\u034f|[\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;
/** Letters of other scripts that look like Latin ones. */
const LOOKALIKES = new Map(
  "аa еe оo рp сc хx уy іi ѕs ԁd ӏl ոn һh кk мm тt вb нh АA ЕE ОO РP СC ТT ХX ΑA ΒB ΕE ΙI ΟO οo αa εe ιi νv υu κk ρp τt χx ϲc ςc ηn γy ωw ѵv ԛq ԝw ɡg ɑa ⅼl օo ցg ѐe ёe їi"
    .split(" ")
    .map((pair) => [pair.slice(0, 1), pair.slice(1)] as const),
);

export function hasInvisible(text: string): RegExpMatchArray | null {
  return text.match(INVISIBLE);
}

/** Replaces look-alikes only in words that mix scripts or could be entirely Latin. */
function latin(word: string, foreign: boolean): string {
  if (!/[^ -~]/.test(word)) return word;
  const letters = [...word];
  if (!letters.some((char) => LOOKALIKES.has(char))) return word;
  const mixed = /[A-Za-z]/.test(word);
  const passes = !foreign && word.length > 2 && letters.every((char) => LOOKALIKES.has(char) || /[A-Za-z]/.test(char));
  return mixed || passes ? letters.map((char) => LOOKALIKES.get(char) ?? char).join("") : word;
}

/** True when a text has words in another script that do not look Latin. */
function isForeign(text: string): boolean {
  const letters = text.match(/[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}]/gu) ?? [];
  return letters.some((char) => !LOOKALIKES.has(char));
}

function withLatinLetters(text: string): string {
  const plain = text.normalize("NFKC").replaceAll(INVISIBLE, "");
  if (!/[\u0250-\uffff]/.test(plain)) return plain;
  const foreign = isForeign(plain);
  return plain.replaceAll(/[\p{L}\p{M}]+/gu, (word) => latin(word, foreign));
}

/** ASCII without anything that hides a word: quotes, backslashes and dollar signs. */
const PLAIN = /^[ -!#%&(-[\]-~\t]*$/;

/** Removes invisible characters and quotes inside words (`c""url`, `w\get`), and normalises letters. */
export function unmasked(text: string): string {
  if (PLAIN.test(text)) return text;
  const plain = /[^\t -~]/.test(text) ? withLatinLetters(text) : text;
  if (!/["'\\$]/.test(plain)) return plain;
  let shown = plain;
  if (/""|''|\\/.test(shown)) shown = shown.replaceAll(/(?<=\w)(?:""|''|\\(?=[a-z]))(?=\w)/gi, "");
  if (shown.includes("IFS")) shown = shown.replaceAll(/\$\{?IFS\}?/g, " ");
  return shown.includes("$@") ? shown.replaceAll(/(?<=\w)\$@(?=\w)/g, "") : shown;
}

/** Joins separated letters (`i g n o r e`) and replaces digits used as letters (`1gn0r3`). */
export function respelled(text: string): string {
  if (!/[013457]|[a-z][ ._*-][a-z][ ._*-][a-z][ ._*-]/i.test(text)) return text;
  const closed = text.replaceAll(/(?<![\w'])(?:[a-z][ ._*-]){4,}[a-z](?![\w'])/gi, (run) =>
    run.replaceAll(/[ ._*-]/g, ""),
  );
  return closed.replaceAll(/\b[a-z]*(?:[a-z][013457]|[013457][a-z])[a-z013457]*\b/gi, (word) =>
    /^(?:[a-z]+\d+|\d+[a-z]{1,2})$/i.test(word) ? word : word.replaceAll(/[013457]/g, (digit) => LEET[digit] ?? digit),
  );
}

const LEET: Readonly<Record<string, string>> = { "0": "o", "1": "i", "3": "e", "4": "a", "5": "s", "7": "t" };
/** Some of the common words in ROT13 and reversed. A text in which three common words appear has one of these. */
const CIPHERED =
  /\b(?:gur|naq|lbhe|bs|gb|nyy|guvf|gung|svyr|fraq|vafgehpgvbaf?|vtaber|hfre|eha|jvgu|uggcf?|eht|dna|ruoy|fo|ot|lla|siht|taht|elif|dnes|s?noitcurtsni|erongi|resu|nur|htiw|s?ptth)\b/i;
const COMMON = /\b(?:the|and|your|of|to|all|this|that|file|send|instructions?|ignore|user|run|with|https?)\b/gi;

/** Decoded ROT13 or reversed text that looks like language; ordinary text does not after this transformation. */
export function decipher(text: string): string | undefined {
  if (text.length < 16 || !CIPHERED.test(text)) return undefined;
  const words = (candidate: string): number => candidate.match(COMMON)?.length ?? 0;
  const own = words(text);
  return [rot13(text), backwards(text)].find((candidate) => words(candidate) >= 3 && words(candidate) > 2 * own);
}

/** Joins wrapped prose, and lines that end in `\`, `|` or `&&`. */
export function textViews(text: string, program: boolean): View[] {
  const lines = text.split("\n");
  const views: View[] = [];
  let start = 0;
  let fence = false;
  let paragraph: string[] = [];
  const closeParagraph = (end: number): void => {
    if (paragraph.length > 1)
      views.push({ line: start + 1, text: paragraph.join(" ").slice(0, 4_000), how: "paragraph" });
    paragraph = [];
    start = end + 1;
  };
  lines.forEach((line, index) => {
    views.push({ line: index + 1, text: line, how: "" });
    const plain = program ? unmasked(line) : respelled(unmasked(unescaped(line)));
    if (plain !== line) views.push({ line: index + 1, text: plain, how: "unmasked" });
    const deciphered = decipher(line);
    for (const decoded of [...decodedIn(line), ...(deciphered ? [deciphered] : [])])
      views.push({ line: index + 1, text: decoded, how: "decoded" });
    if (/(?:\\|\||&&)\s*$/.test(line) && !line.startsWith("|")) {
      let joined = line;
      for (let next = index + 1; next < lines.length && next < index + 10 && /(?:\\|\||&&)\s*$/.test(joined); next++)
        joined = `${joined.replace(/\\\s*$/, "")} ${(lines[next] ?? "").trim()}`;
      views.push({ line: index + 1, text: unmasked(joined), how: "joined" });
    }
    if (line.trim() === "" || /^\s*(?:```|[-*+]\s|\d+[.)]\s|#|\|)/.test(line)) closeParagraph(index);
    if (/^\s*(?:```|~~~)/.test(line)) fence = !fence;
    else if (!program && !fence && line.trim() !== "" && !/^\s*\|/.test(line)) {
      if (paragraph.length === 0) start = index;
      paragraph.push(line.trim());
    }
  });
  closeParagraph(lines.length);
  return views;
}
