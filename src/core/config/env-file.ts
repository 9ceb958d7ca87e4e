// The `.env` format as pure functions: bytes to text, text to values, and edits that keep every other line.
import { knownEnvNames } from "./env-names.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** UTF-8 with or without a byte order mark; a file that is not UTF-8 is read as Latin-1. */
export function decodeEnvFile(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder("latin1").decode(bytes);
  }
}

export function isEnvName(name: string): boolean {
  return NAME.test(name);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where `KNOWN_NAME=` occurs; of overlapping names the longest wins (`GLM_API_KEY`, not the `LM_API_KEY` inside). */
function knownPairs(line: string, from: number): Span[] {
  const found: Span[] = [];
  for (let at = line.indexOf("=", from); at >= 0; at = line.indexOf("=", at + 1)) {
    let start = at;
    while (start > from && /[A-Za-z0-9_]/.test(line[start - 1] ?? "")) start--;
    for (let begin = start; begin < at; begin++) {
      if (!knownEnvNames.has(line.slice(begin, at))) continue;
      found.push({ start: begin, end: at });
      break;
    }
  }
  return found;
}

function isQuotedWhole(value: string): boolean {
  const quote = value[0];
  return value.length > 1 && (quote === '"' || quote === "'") && value.endsWith(quote);
}

/** Splits a line in which an editor or a script joined several known pairs; other lines are returned unchanged. */
export function splitJoinedPairs(line: string): string[] {
  const equals = line.indexOf("=");
  const name = line
    .slice(0, Math.max(0, equals))
    .trim()
    .replace(/^export\s+/, "");
  if (equals < 0 || !knownEnvNames.has(name) || isQuotedWhole(line.slice(equals + 1).trim())) return [line];
  const starts = knownPairs(line, equals + 1).map((span) => span.start);
  if (starts.length === 0) return [line];
  const cuts = [0, ...starts, line.length];
  return cuts.slice(0, -1).map((cut, index) => line.slice(cut, cuts[index + 1]).trim());
}

function unquote(raw: string): string {
  const value = raw.trim();
  const quote = value[0];
  if (quote === '"' || quote === "'") {
    for (let at = 1; at < value.length; at++) {
      if (value[at] === "\\") at++;
      else if (value[at] === quote) {
        const inner = value.slice(1, at);
        if (quote === "'") return inner.replace(/\\(['\\])/g, "$1");
        return inner.replace(/\\(["\\n$])/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
      }
    }
    return value.slice(1);
  }
  return value.replace(/(^|\s+)#.*$/, "");
}

/** Names and values in the order of the file; a later line wins. Lines that are not pairs are skipped. */
export function parseEnvFile(text: string): Map<string, string> {
  const values = new Map<string, string>();
  for (const whole of text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/)) {
    if (whole.trim() === "" || whole.trimStart().startsWith("#")) continue;
    for (const line of splitJoinedPairs(whole)) {
      const equals = line.indexOf("=");
      if (equals < 0) continue;
      const name = line
        .slice(0, equals)
        .trim()
        .replace(/^export\s+/, "");
      if (isEnvName(name)) values.set(name, unquote(line.slice(equals + 1)));
    }
  }
  return values;
}

const SECRET_ENDING = /(_API_KEY|_TOKEN|_SECRET|_KEY)$/;

/** Removes non-ASCII characters that copying from a web page leaves in secrets; returns the names of the changed variables. */
export function cleanSecrets(values: Map<string, string>): string[] {
  const changed: string[] = [];
  for (const [name, value] of values) {
    if (!SECRET_ENDING.test(name)) continue;
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole ASCII range is meant
    const ascii = value.replace(/[^\x00-\x7f]/g, "");
    if (ascii === value) continue;
    values.set(name, ascii);
    changed.push(name);
  }
  return changed;
}

/** Quotes a value that would otherwise be cut, split or unquoted when it is read. */
function quoteForFile(name: string, value: string): string {
  const line = value.replace(/[\r\n]/g, "");
  if (!/[\s#"'\\$]/.test(line) && splitJoinedPairs(`${name}=${line}`).length === 1) return line;
  return `"${line.replace(/(["\\])/g, "\\$1")}"`;
}

function lineName(line: string): string {
  if (line.trimStart().startsWith("#")) return "";
  return (line.split("=", 1)[0] ?? "").trim().replace(/^export\s+/, "");
}

function splitLines(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  if (lines.at(-1) === "") lines.pop();
  return lines.flatMap((line) => (line.trimStart().startsWith("#") ? [line] : splitJoinedPairs(line)));
}

/** The file's text with NAME set: the last line of that name is replaced and the others are removed; a new name is appended. */
export function withEnvValue(text: string, name: string, value: string): string {
  const lines = splitLines(text);
  const at = lines.findLastIndex((line) => lineName(line) === name);
  const pair = `${name}=${quoteForFile(name, value)}`;
  if (at < 0) lines.push(pair);
  else lines[at] = pair;
  const remaining = lines.filter((line, index) => index === at || at < 0 || lineName(line) !== name);
  return `${remaining.join("\n")}\n`;
}

/** The file's text without NAME; unchanged when it was not there. */
export function withoutEnvValue(text: string, name: string): string {
  const lines = splitLines(text);
  const remaining = lines.filter((line) => lineName(line) !== name);
  if (remaining.length === lines.length) return text;
  return remaining.length === 0 ? "" : `${remaining.join("\n")}\n`;
}
