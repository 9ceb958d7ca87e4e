// Finds injected instructions in a text and replaces only those spans.
import { truncate } from "../lib/text/truncate.ts";
import {
  HIDDEN_INSTRUCTION,
  INJECTION_RULES,
  type InjectionRule,
  MENTIONED,
  type ScanKind,
  type Severity,
} from "./injection-rules.ts";
import { decodedRuns, joinedView, lookAlikeView, plainView, type View } from "./injection-views.ts";
import { invisibleRuns } from "./invisible-characters.ts";

export interface InjectionFinding {
  readonly rule: string;
  /** Position in the given text. */
  readonly start: number;
  readonly end: number;
  readonly excerpt: string;
  readonly severity: Severity;
}

export interface ScanResult {
  /** The text with quarantined spans replaced by a visible marker. */
  readonly text: string;
  readonly findings: readonly InjectionFinding[];
  readonly verdict: "clean" | "suspicious" | "hostile";
}

const WEIGHT: { readonly [severity in Severity]: number } = { low: 1, medium: 2, high: 4 };
const MAX_SCANNED = 1_000_000;
const MAX_FINDINGS = 200;

/** `low` findings are reported and left in place; `medium` and `high` ones are quarantined. */
export function scanText(text: string, options: { readonly kind: ScanKind }): ScanResult {
  const scanned = text.slice(0, MAX_SCANNED);
  const found: InjectionFinding[] = [];
  const report = (finding: Omit<InjectionFinding, "excerpt">): void => {
    if (found.length < MAX_FINDINGS) found.push({ ...finding, excerpt: makeExcerpt(text, finding.start, finding.end) });
  };
  scanPhrases(scanned, options.kind, report);
  for (const run of invisibleRuns(scanned)) {
    const spells = run.hidden !== "" || run.severity === "high";
    report({ rule: "invisible_unicode", start: run.start, end: run.end, severity: spells ? "high" : run.severity });
  }
  for (const run of decodedRuns(scanned)) {
    scanPhrases(run.text, options.kind, (inner) =>
      report({ rule: inner.rule, start: run.start, end: run.end, severity: inner.severity === "low" ? "low" : "high" }),
    );
  }
  scanMarkup(scanned, found, report);
  const findings = mergeOverlaps(found);
  const score = findings.reduce((sum, finding) => sum + WEIGHT[finding.severity], 0);
  const hostile = findings.some((finding) => finding.severity === "high") || score >= 5;
  return {
    text: quarantine(text, findings),
    findings,
    verdict: hostile ? "hostile" : score > 0 ? "suspicious" : "clean",
  };
}

type Report = (finding: Omit<InjectionFinding, "excerpt">) => void;

function scanPhrases(text: string, kind: ScanKind, report: Report): void {
  const plain = plainView(text);
  const latin = lookAlikeView(plain);
  const joined = joinedView(latin);
  for (const rule of INJECTION_RULES) {
    const severity = rule.severity[kind] ?? rule.severity.otherwise;
    if (severity === "none") continue;
    matchRule(rule, severity, plain, { text, report });
    if (latin !== plain && rule.speech) matchRule(rule, severity, latin, { text, report });
    if (joined && rule.speech)
      matchRule({ ...rule, pattern: withoutGaps(rule.pattern) }, severity, joined, { text, report });
  }
}

function matchRule(rule: InjectionRule, severity: Severity, view: View, place: { text: string; report: Report }): void {
  for (const match of view.text.matchAll(rule.pattern)) {
    const start = view.at[match.index] ?? 0;
    const end = Math.max(start + 1, view.at[match.index + match[0].length] ?? place.text.length);
    if (isExempt(rule, view.text.slice(match.index, match.index + match[0].length + 200))) continue;
    const mild = rule.speech && isMentioned(view.text, match.index, match.index + match[0].length);
    const span = rule.speech ? sentenceAround(place.text, start, end) : lineAround(place.text, start, end);
    place.report({ rule: rule.id, ...span, severity: mild ? "low" : severity });
  }
}

const GAPLESS = new Map<RegExp, RegExp>();

/** The pattern for text whose spaces were lost: gaps between words become optional. */
function withoutGaps(pattern: RegExp): RegExp {
  const known = GAPLESS.get(pattern);
  if (known) return known;
  const source = pattern.source.replaceAll("[\\s,:*_\"'`]{1,6}", "[\\s,:*_\"'`]{0,6}").replaceAll("\\b", "");
  const made = new RegExp(source, "gu");
  GAPLESS.set(pattern, made);
  return made;
}

/** Calls to the GitHub API with a token are ordinary scripting. */
function isExempt(rule: InjectionRule, line: string): boolean {
  const addresses = line.match(/https?:\/\/[^\s"']+/g) ?? [];
  return (
    rule.id === "exfil_curl" &&
    addresses.length > 0 &&
    addresses.every((address) => address.startsWith("https://api.github.com/"))
  );
}

/** True when the match is quoted and its context discusses attacks: documentation, not an attempt. */
function isMentioned(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 160), start);
  const after = text.slice(end, end + 100);
  const quoted = /["'“‘`«「][^"'“‘`«「\n]{0,60}$/u.test(before) && /^[^"'”’`»」\n]{0,80}["'”’`»」]/u.test(after);
  return quoted && MENTIONED.test(`${before} ${after}`);
}

const COMMENT = /<!--([\s\S]{1,4000}?)-->/g;
const HIDDEN_ELEMENT =
  /<(?:div|span|p|font|section|td)\b[^>]{0,300}style\s{0,3}=\s{0,3}["'][^"'>]{0,300}(?:display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|font-size\s{0,3}:\s{0,3}0|opacity\s{0,3}:\s{0,3}0(?![.\d])|color\s{0,3}:\s{0,3}(?:white|#fff(?:fff)?)\b)[^>]{0,300}>([^<]{1,4000})/gi;
const LINK_COMMENT = /^\[(?:\/\/|comment)\]:\s{0,3}#\s{0,3}[("']([^\n]{1,2000})[)"']/gim;

function scanMarkup(text: string, found: readonly InjectionFinding[], report: Report): void {
  const speech = found.filter((finding) => finding.severity !== "low").map((finding) => finding.start);
  const hidden: readonly [string, RegExp][] = [
    ["html_comment_injection", COMMENT],
    ["html_comment_injection", LINK_COMMENT],
    ["hidden_div", HIDDEN_ELEMENT],
  ];
  for (const [id, pattern] of hidden) {
    for (const match of text.matchAll(pattern)) {
      const start = match.index;
      const end = start + match[0].length;
      const spoken = speech.some((at) => at >= start && at < end);
      if (spoken) report({ rule: id, start, end, severity: "high" });
      else if (HIDDEN_INSTRUCTION.test(plainView(match[1] ?? "").text))
        report({ rule: id, start, end, severity: "medium" });
    }
  }
}

const SENTENCE_END = /[.!?。！？\n]/;

function sentenceAround(text: string, start: number, end: number): { start: number; end: number } {
  let from = start;
  while (from > 0 && start - from < 200 && !SENTENCE_END.test(text[from - 1] ?? "")) from--;
  while (/\s/.test(text[from] ?? "") && from < start) from++;
  let to = end;
  while (to < text.length && to - end < 300 && !SENTENCE_END.test(text[to] ?? "")) to++;
  return { start: from, end: to < text.length && text[to] !== "\n" && to - end < 300 ? to + 1 : to };
}

function lineAround(text: string, start: number, end: number): { start: number; end: number } {
  const from = Math.max(text.lastIndexOf("\n", start) + 1, start - 300);
  const stop = text.indexOf("\n", end);
  return { start: Math.min(from, start), end: Math.min(stop === -1 ? text.length : stop, end + 300) };
}

function makeExcerpt(text: string, start: number, end: number): string {
  return truncate(text.slice(start, end).replace(/\s+/g, " "), 120);
}

/** Merges overlapping findings of one rule, keeping the worst severity. */
function mergeOverlaps(findings: readonly InjectionFinding[]): InjectionFinding[] {
  const kept: InjectionFinding[] = [];
  for (const finding of [...findings].sort((a, b) => a.start - b.start || b.end - a.end)) {
    const same = kept.findIndex((other) => other.rule === finding.rule && finding.start < other.end);
    const other = kept[same];
    if (!other) kept.push(finding);
    else if (WEIGHT[finding.severity] > WEIGHT[other.severity])
      kept[same] = { ...other, severity: finding.severity, end: Math.max(other.end, finding.end) };
  }
  return kept;
}

function quarantine(text: string, findings: readonly InjectionFinding[]): string {
  let result = "";
  let at = 0;
  let pending: { start: number; end: number; rules: Set<string> } | undefined;
  const flush = (): void => {
    if (!pending) return;
    result += `${text.slice(at, pending.start)}[quarantined: ${[...pending.rules].join(", ")}]`;
    at = pending.end;
  };
  for (const finding of findings) {
    if (finding.severity === "low") continue;
    if (pending && finding.start <= pending.end) {
      pending.end = Math.max(pending.end, finding.end);
      pending.rules.add(finding.rule);
      continue;
    }
    flush();
    pending = { start: finding.start, end: finding.end, rules: new Set([finding.rule]) };
  }
  flush();
  return result + text.slice(at);
}
