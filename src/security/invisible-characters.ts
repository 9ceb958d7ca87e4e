// Classifies invisible characters: legitimate ones (emoji, Persian, Indic scripts) and ones that hide text.

export interface InvisibleRun {
  readonly start: number;
  readonly end: number;
  readonly severity: "low" | "medium" | "high";
  /** The text that tag characters encode, if any. */
  readonly hidden: string;
}

const INVISIBLE =
  /[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]+/gu;
const JOINING_SCRIPT =
  /[\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Mongolian}\p{Script=Syriac}]/u;
const BREAKING_SCRIPT =
  /[\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const EMOJI_BEFORE = /(?:\p{Extended_Pictographic}|\ufe0f|[\u{1f3fb}-\u{1f3ff}])$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;
const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;
const FLAG_TAGS = /^[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{2,7}\u{e007f}$/u;

/** Runs of invisible characters without a legitimate purpose. */
export function invisibleRuns(text: string): InvisibleRun[] {
  const runs: InvisibleRun[] = [];
  const rightToLeft = RIGHT_TO_LEFT.test(text);
  for (const match of text.matchAll(INVISIBLE)) {
    const start = match.index;
    const end = start + match[0].length;
    const before = text.slice(Math.max(0, start - 2), start);
    const after = text.slice(end, end + 2);
    const severity = rateRun(match[0], { before, after, start, rightToLeft });
    if (severity) runs.push({ start, end, severity, hidden: decodeTags(match[0]) });
  }
  // A single zero-width space is usually a copying artefact; several are suspicious.
  const stray = runs.filter((run) => run.severity === "low").length;
  return stray < 4 ? runs : runs.map((run) => (run.severity === "low" ? { ...run, severity: "medium" } : run));
}

interface RunContext {
  readonly before: string;
  readonly after: string;
  readonly start: number;
  readonly rightToLeft: boolean;
}

function rateRun(run: string, context: RunContext): InvisibleRun["severity"] | undefined {
  if (/[\u{e0000}-\u{e007f}]/u.test(run)) {
    return context.before === "\u{1f3f4}" && FLAG_TAGS.test(run) ? undefined : "high";
  }
  if (/[\u202d\u202e]/.test(run)) return context.rightToLeft ? "medium" : "high";
  if (/[\u202a-\u202c\u2066-\u2069\u061c\u200e\u200f]/.test(run))
    return context.rightToLeft || run.length === 1 ? undefined : "low";
  if (run.length > 8) return "high";
  if (run === "\ufeff" && context.start === 0) return undefined;
  if (run === "\u00ad") return undefined;
  if (run === "\u200d" && EMOJI_BEFORE.test(context.before) && EMOJI_AFTER.test(context.after)) return undefined;
  const neighbours = context.before + context.after;
  if (/^(?:\u200c|\u200d|\u180e)$/.test(run) && JOINING_SCRIPT.test(neighbours)) return undefined;
  if (
    run === "\u200b" &&
    (BREAKING_SCRIPT.test(neighbours) || !/[A-Za-z]$/.test(context.before) || !/^[A-Za-z]/.test(context.after))
  )
    return undefined;
  return run.length > 2 ? "medium" : "low";
}

function decodeTags(run: string): string {
  let text = "";
  for (const char of run) {
    const code = (char.codePointAt(0) ?? 0) - 0xe0000;
    if (code >= 0x20 && code < 0x7f) text += String.fromCharCode(code);
  }
  return text;
}
