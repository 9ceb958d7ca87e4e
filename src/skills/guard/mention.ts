// Distinguishes use from mention: "run `x`" is an instruction, "look for text such as `x`" and "never run `x`" are not.
import { unmasked } from "./views.ts";

/** "Never run …", "do not use …" directly before the match: a warning, not an instruction. */
const WARNING =
  /\b(?:never|do not|don'?t|avoid|must not|should not|refuse to|instead of|rather than|dangerous|no)\s+(?:ever\s+)?(?:blindly\s+)?(?:(?:run|use|execute|type|paste|pipe|call|do|write|edit|read|open|print|commit|allow|accept|follow|set|add|make|give|send|post|upload|copy|include|share|running|using|piping)\b[^.;]{0,30})?["'`(]*\s*$/i;

export function isWarned(text: string, at: number): boolean {
  return WARNING.test(text.slice(Math.max(0, at - 80), at));
}

/** Words of texts that study, teach or search for attacks. */
const STUDY =
  /\b(?:look(?:s|ing)? for|search(?:es)? for|grep for|watch (?:out )?for|scan(?:s|ning)? for|detect(?:s|ion|ing)?|flag(?:s|ged)?|indicators?|iocs?|suspicious|malicious|malware|attack\w*|threats?|injections?|jailbreak\w*|tricks?|red flags?|warning signs?|phishing|(?:detection|yara|sigma|semgrep) rules?|droppers?|vulnerab\w+|anti-?patterns?|findings?|explain (?:a|an|the|what|how|each|why)|incident|forensic\w*|report each|as data|unsafe)\b/i;
const STUDIES_TEXT =
  /\b(?:hostile|attack\w*|injections?|malicious|jailbreak\w*|adversarial|red[- ]team\w*|should (?:decline|refuse)|unsafe (?:inputs?|prompts?))\b/i;
const ORDER_BEFORE =
  /\b(?:run|running|execute|executing|type|enter|paste|start|launch|call|invoke|do|apply|use|using|install|follow|obey|then|first|with)\s*(?:this|the following|it)?\s*[:(]*\s*$/i;

function quoteBefore(text: string, at: number): string | undefined {
  const before = text.slice(0, at);
  if ((before.match(/`/g)?.length ?? 0) % 2 === 1) return "`";
  if (text[at] === "`") return "`";
  if ((before.match(/"/g)?.length ?? 0) % 2 === 1) return '"';
  return before.lastIndexOf("“") > before.lastIndexOf("”") ? "“" : undefined;
}

/** True when the position is in quotation marks in a passage that discusses such text. */
export function readsAsMention(passage: string, at: number): boolean {
  const quote = quoteBefore(passage, at);
  if (quote === undefined || !STUDY.test(passage)) return false;
  const quoteStart = passage[at] === quote ? at : passage.lastIndexOf(quote, at - 1);
  const before = passage.slice(Math.max(0, quoteStart - 120), quoteStart);
  return (
    !ORDER_BEFORE.test(before.slice(-30)) &&
    !/\b(?:you must|must at once|at once|immediately|right away)\b/i.test(before)
  );
}

const blankAt = (lines: readonly string[], index: number): boolean => (lines[index] ?? "").trim() === "";

/** The paragraph that ends at a line. */
function paragraphUpTo(lines: readonly string[], end: number): string[] {
  let from = end;
  while (from > 0 && !blankAt(lines, from - 1)) from--;
  return end < 0 ? [] : lines.slice(from, end + 1);
}

function lastFilled(lines: readonly string[], from: number): number {
  let at = from;
  while (at > 0 && blankAt(lines, at)) at--;
  return at;
}

/** The code block around a line, with the paragraph before it. */
function passageAt(lines: readonly string[], line: number): string {
  let to = line - 1;
  while (to < lines.length - 1 && !blankAt(lines, to + 1)) to++;
  const block = paragraphUpTo(lines, to);
  const lead = lastFilled(lines, to - block.length);
  const leadIn = /:\s*$/.test(lines[lead] ?? "") ? paragraphUpTo(lines, lead) : [];
  return [...leadIn, ...block].join("\n").slice(0, 6_000);
}

/** True when a fenced block shows an example: it has no programming language, and the paragraph before it announces an example. */
export function isExample(lines: readonly string[], line: number): boolean {
  let fence = line - 2;
  while (fence >= 0 && !/^\s*(?:```|~~~)/.test(lines[fence] ?? "")) fence--;
  if (!/^\s*(?:```|~~~)\s*(?:text|txt|markdown|md|plain)?\s*$/i.test(lines[fence] ?? "")) return false;
  return STUDIES_TEXT.test(paragraphUpTo(lines, lastFilled(lines, fence - 1)).join(" "));
}

/** True when a finding in prose is discussed, not instructed. */
export function isMentioned(lines: readonly string[], line: number, found: string): boolean {
  const passage = unmasked(passageAt(lines, line));
  const at = passage.indexOf(unmasked(found).slice(0, 40));
  return at >= 0 && readsAsMention(passage, at);
}
