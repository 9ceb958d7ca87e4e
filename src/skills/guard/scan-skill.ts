// The guard: scans the files of a skill and returns a report. Pure: no I/O.
import { computeVerdict, type Finding, type GuardReport, type Pattern, type SkillFile } from "./finding.ts";
import { flowHits, toFinding } from "./flows.ts";
import { forgetTexts, isMarked, marksOf, registerRules } from "./literal-gate.ts";
import { LOOKALIKE_PATTERNS } from "./lookalike.ts";
import { isExample, isMentioned, isWarned } from "./mention.ts";
import { COMMAND_PATTERNS } from "./patterns-commands.ts";
import { FAMILY_PATTERNS } from "./patterns-families.ts";
import { INSTRUCTION_PATTERNS } from "./patterns-instructions.ts";
import { SCOPE_PATTERNS } from "./patterns-scope.ts";
import { TEXT_PATTERNS } from "./patterns-text.ts";
import { proseHits } from "./prose.ts";
import { fileBytes, isScript, structureFindings } from "./structure.ts";
import { splitUnits } from "./units.ts";
import { hasInvisible, textViews, type View } from "./views.ts";
import { weighFindings } from "./weigh.ts";

const PATTERNS: readonly Pattern[] = [
  ...COMMAND_PATTERNS,
  ...TEXT_PATTERNS,
  ...INSTRUCTION_PATTERNS,
  ...SCOPE_PATTERNS,
  ...FAMILY_PATTERNS,
  ...LOOKALIKE_PATTERNS,
];
registerRules(PATTERNS.map((pattern) => pattern.match));

const MAX_MATCH = 120;
const MAX_SCANNED = 1024 * 1024;
/** Longer lines are scanned in overlapping windows, because matching time grows faster than the length. */
const WINDOW = 2_000;
const OVERLAP = 300;

interface Source {
  readonly file: string;
  readonly program: boolean;
  readonly lines: readonly string[];
  /** The lines inside code fences. */
  readonly code: ReadonlySet<number>;
}

function codeLines(text: string): Set<number> {
  const lines = new Set<number>();
  let open = false;
  text.split("\n").forEach((line, index) => {
    if (/^\s*(?:```|~~~)/.test(line)) open = !open;
    else if (open) lines.add(index + 1);
  });
  return lines;
}

function isWarning(view: View, at: number, source: Source): boolean {
  if (source.program || source.code.has(view.line) || view.how === "decoded") return false;
  return isWarned(view.text, at);
}

function tryPattern(pattern: Pattern, view: View, source: Source): Finding | undefined {
  if (pattern.where === "program" && !source.program && !source.code.has(view.line)) return undefined;
  if (pattern.where === "text" && source.program) return undefined;
  const match = pattern.match.exec(view.text);
  if (!match || pattern.unless?.(view.text)) return undefined;
  if (pattern.unlessWarned && isWarning(view, match.index, source)) return undefined;
  const decoded = view.how === "decoded";
  const mentioned =
    pattern.severity !== "low" &&
    !source.program &&
    !decoded &&
    (source.code.has(view.line)
      ? pattern.category === "injection" && isExample(source.lines, view.line)
      : isMentioned(source.lines, view.line, match[0].trim()));
  return {
    pattern_id: pattern.id,
    severity: mentioned ? "low" : decoded && pattern.severity !== "low" ? "critical" : pattern.severity,
    category: pattern.category,
    file: source.file,
    line: view.line,
    match: match[0].trim().slice(0, MAX_MATCH),
    description: decoded ? `${pattern.description} (in encoded text)` : pattern.description,
  };
}

function invisibleFindings(text: string, file: string): Finding[] {
  const found: Finding[] = [];
  text.split("\n").forEach((line, index) => {
    const runs = hasInvisible(index === 0 ? line.replace(/^\ufeff/, "") : line);
    const hidden = (runs ?? []).filter((char) => !isLegitimate(line, char));
    if (hidden.length === 0) return;
    const tags = hidden.some((char) => (char.codePointAt(0) ?? 0) >= 0xe0000);
    const reorders = hidden.some((char) => /[\u202d\u202e]/.test(char));
    found.push({
      pattern_id: tags ? "hidden_tag_characters" : reorders ? "reordered_text" : "invisible_characters",
      severity: tags || reorders ? "critical" : "high",
      category: "injection",
      file,
      line: index + 1,
      match: hidden
        .map((char) => `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase()}`)
        .join(" ")
        .slice(0, MAX_MATCH),
      description: "invisible characters",
    });
  });
  return found;
}

/** Joiners in emoji and in writing systems that need them. */
function isLegitimate(line: string, char: string): boolean {
  if (char === "\u200d" || char === "\u200c")
    return /[\p{Extended_Pictographic}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Tamil}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}]/u.test(
      line,
    );
  if (char === "\u200b") return /[\p{Script=Thai}\p{Script=Khmer}\p{Script=Lao}\p{Script=Myanmar}]/u.test(line);
  if (char === "\u200e" || char === "\u200f" || char === "\u061c")
    return /[\p{Script=Arabic}\p{Script=Hebrew}]/u.test(line);
  if (char >= "\u{e0000}") return line.includes("\u{1f3f4}");
  return char === "\u00ad";
}

function splitWindows(view: View): View[] {
  if (view.text.length <= WINDOW) return [view];
  const windows: View[] = [];
  for (let at = 0; at < view.text.length; at += WINDOW - OVERLAP)
    windows.push({ ...view, text: view.text.slice(at, at + WINDOW) });
  return windows;
}

function scanText(text: string, path: string): Finding[] {
  const lines = text.split("\n");
  const source: Source = { file: path, program: isScript(path, text), lines, code: codeLines(text) };
  const findings = new Map<string, Finding>();
  const units = splitUnits(path, text);
  // A folded line that equals its original has been seen as the original.
  const folded = units.programs.flatMap((program) =>
    program.lines
      .filter((line) => line.text !== lines[line.line - 1])
      .map((line): View => ({ line: line.line, text: line.text, how: "folded" })),
  );
  for (const view of [...textViews(text, source.program), ...folded].flatMap(splitWindows)) {
    const marks = marksOf(view.text);
    for (const pattern of PATTERNS) {
      if (!isMarked(pattern.match, marks)) continue;
      const finding = tryPattern(pattern, view, source);
      const key = finding ? `${finding.pattern_id}:${finding.line}` : "";
      if (finding && !findings.has(key)) findings.set(key, finding);
    }
  }
  const hits = [...units.programs.flatMap(flowHits), ...units.sections.flatMap((section) => proseHits(section, lines))];
  const reported = new Set(
    [...findings.values()].map((finding) => `${finding.severity}:${finding.category}:${finding.line}`),
  );
  for (const hit of hits) {
    // Skip findings that repeat another one on the same line.
    if (reported.has(`${hit.severity}:${hit.category}:${hit.line}`)) continue;
    const key = `${hit.id}:${hit.line}`;
    if (!findings.has(key)) findings.set(key, toFinding(hit, path));
  }
  return [...findings.values(), ...invisibleFindings(text, path)];
}

/** The readable runs of a binary file: comments of images, text of documents. */
function readableRuns(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  return (text.match(/[\t -~]{24,}/g) ?? []).filter((run) => /[a-z]{3} [a-z]/i.test(run)).join("\n\n");
}

function decodeText(file: SkillFile): string | undefined {
  if (file.link) return undefined;
  const bytes = fileBytes(file).subarray(0, MAX_SCANNED);
  return bytes.subarray(0, 8_192).includes(0) ? readableRuns(bytes) : new TextDecoder().decode(bytes);
}

/** Scans every file with any extension; binaries are checked by type. */
export function scanSkill(files: readonly SkillFile[]): GuardReport {
  const findings = structureFindings(files);
  for (const file of files) {
    const text = decodeText(file);
    if (text !== undefined) findings.push(...scanText(text, file.path));
    forgetTexts();
  }
  const bytes = files.reduce((sum, file) => sum + fileBytes(file).length, 0);
  const weighed = weighFindings(findings);
  return { verdict: computeVerdict(weighed), findings: weighed, files: files.length, bytes };
}
