// Normalised views of a text: without invisible characters, look-alike letters and letter spacing.

/** A transformed copy of a text; `at[i]` is the original position of character i. */
export interface View {
  readonly text: string;
  readonly at: readonly number[];
}

const LOOK_ALIKES: { readonly [char: string]: string } = {
  а: "a",
  в: "b",
  е: "e",
  ё: "e",
  з: "3",
  и: "u",
  к: "k",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  с: "c",
  т: "t",
  у: "y",
  х: "x",
  ѕ: "s",
  і: "i",
  ј: "j",
  ԁ: "d",
  ԛ: "q",
  ԝ: "w",
  ɡ: "g",
  ո: "n",
  ս: "u",
  α: "a",
  β: "b",
  ε: "e",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  χ: "x",
  ı: "i",
  ⅼ: "l",
  "0": "o",
  "1": "i",
  "3": "e",
  "4": "a",
  "5": "s",
  "7": "t",
  "@": "a",
  $: "s",
};

const DROPPED = /\p{Cf}|\p{Variation_Selector}|[\u0300-\u036f]/u;

/** Lower case, with compatibility forms normalised and invisible characters removed. */
export function plainView(text: string): View {
  const at: number[] = [];
  let copy = "";
  let index = 0;
  for (const char of text) {
    if (!DROPPED.test(char)) {
      for (const folded of char.normalize("NFKC").toLowerCase()) {
        copy += folded;
        for (let unit = 0; unit < folded.length; unit++) at.push(index);
      }
    }
    index += char.length;
  }
  at.push(index);
  return { text: copy, at };
}

/** Replaces letters of other scripts and digits that look like Latin letters. */
export function lookAlikeView(view: View): View {
  let changed = false;
  let copy = "";
  for (const char of view.text) {
    const latin = LOOK_ALIKES[char];
    if (latin !== undefined) changed = true;
    copy += latin ?? char;
  }
  return changed ? { text: copy, at: view.at } : view;
}

const SPREAD = /(?<![\p{L}\p{N}])(?:\p{L}[ .\-_*·|]{1,3}){7,400}\p{L}(?![\p{L}\p{N}])/gu;

/** Joins words whose letters are separated; null when there are none. */
export function joinedView(view: View): View | null {
  let copy = "";
  const at: number[] = [];
  let from = 0;
  for (const match of view.text.matchAll(SPREAD)) {
    copyRange(view, from, match.index);
    for (let index = match.index; index < match.index + match[0].length; index++) {
      const char = view.text[index] ?? "";
      if (/[\p{L}]/u.test(char)) keep(char, view.at[index] ?? 0);
    }
    from = match.index + match[0].length;
  }
  if (from === 0) return null;
  copyRange(view, from, view.text.length);
  at.push(view.at[view.text.length] ?? 0);
  return { text: copy, at };

  function keep(char: string, origin: number): void {
    copy += char;
    at.push(origin);
  }
  function copyRange(source: View, start: number, end: number): void {
    for (let index = start; index < end; index++) keep(source.text[index] ?? "", source.at[index] ?? 0);
  }
}

const ENCODED = /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,8192}={0,2}(?![A-Za-z0-9+/_=-])/g;

/** Base64 runs that decode to readable text. */
export function decodedRuns(text: string): { start: number; end: number; text: string }[] {
  const runs: { start: number; end: number; text: string }[] = [];
  for (const match of text.matchAll(ENCODED)) {
    const decoded = Buffer.from(match[0], "base64").toString("utf8");
    const readable = decoded.replace(/[\p{L}\p{N}\p{P}\p{Zs}\n$+=<>|^`~]/gu, "").length;
    if (decoded.length >= 12 && readable <= decoded.length * 0.02 && /\s/.test(decoded))
      runs.push({ start: match.index, end: match.index + match[0].length, text: decoded });
  }
  return runs;
}
