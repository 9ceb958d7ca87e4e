// Applies the hunks of a patch to one file, in order, each near its hint.
import { findPassage } from "./fuzzy-match.ts";
import type { Hunk } from "./v4a.ts";

const HINT_BEFORE = 500;
const HINT_AFTER = 2_000;

export type HunkResult = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly error: string };

/** The part of the text that is searched first; null when the hint is missing or not unique. */
function hintWindow(text: string, hint: string): { start: number; end: number } | null {
  if (hint === "") return null;
  const at = text.indexOf(hint);
  if (at < 0 || text.indexOf(hint, at + 1) >= 0) return null;
  return { start: Math.max(0, at - HINT_BEFORE), end: Math.min(text.length, at + HINT_AFTER) };
}

/** Without a hint the lines go to the end of the file; a hint must be there, and only once. */
function insertAfterHint(text: string, hunk: Hunk, number: number): HunkResult {
  const added = hunk.newLines.join("\n");
  if (hunk.hint === "")
    return { ok: true, text: text === "" || text.endsWith("\n") ? `${text}${added}\n` : `${text}\n${added}` };
  const at = text.indexOf(hunk.hint);
  if (at < 0) return { ok: false, error: `hunk ${number}: its hint was not found: ${JSON.stringify(hunk.hint)}` };
  if (text.indexOf(hunk.hint, at + 1) >= 0)
    return {
      ok: false,
      error: `hunk ${number}: its hint ${JSON.stringify(hunk.hint)} is not unique; give more context`,
    };
  const lineEnd = text.indexOf("\n", at);
  const inserted =
    lineEnd < 0 ? `${text}\n${added}` : `${text.slice(0, lineEnd + 1)}${added}\n${text.slice(lineEnd + 1)}`;
  return { ok: true, text: inserted };
}

function applyHunk(text: string, hunk: Hunk, number: number): HunkResult {
  if (hunk.oldLines.length === 0) return insertAfterHint(text, hunk, number);
  const wanted = hunk.oldLines.join("\n");
  const window = hintWindow(text, hunk.hint);
  const near = window ? findPassage(text.slice(window.start, window.end), wanted, { careful: true }) : null;
  const offset = near && near.matches.length === 1 ? (window?.start ?? 0) : 0;
  const found = near && near.matches.length === 1 ? near : findPassage(text, wanted, { careful: true });
  if (!found)
    return { ok: false, error: `hunk ${number}: its lines were not found: ${JSON.stringify(wanted.slice(0, 200))}` };
  if (found.matches.length > 1)
    return {
      ok: false,
      error: `hunk ${number}: its lines occur ${found.matches.length} times; give a unique @@ hint or more context`,
    };
  const match = found.matches[0] ?? { start: 0, end: 0 };
  const start = match.start + offset;
  const end = match.end + offset;
  return {
    ok: true,
    text:
      text.slice(0, start) +
      hunk.newLines.join("\n") +
      text.slice(end === start ? end : removeLineEnd(text, end, hunk)),
  };
}

/** Deleting whole lines also deletes their line end. */
function removeLineEnd(text: string, end: number, hunk: Hunk): number {
  return hunk.newLines.length === 0 && text[end] === "\n" ? end + 1 : end;
}

export function applyHunks(text: string, hunks: readonly Hunk[]): HunkResult {
  let current = text;
  for (const [index, hunk] of hunks.entries()) {
    const result = applyHunk(current, hunk, index + 1);
    if (!result.ok) return result;
    current = result.text;
  }
  return { ok: true, text: current };
}
