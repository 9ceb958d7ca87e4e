// One replacement in a text: finds the passage, fits the new text to its indentation, refuses what would do damage.
import { closestRegions, type Found, findPassage, type Match } from "./fuzzy-match.ts";

export type Replacement =
  | { readonly ok: true; readonly text: string; readonly strategy: string; readonly count: number }
  | { readonly ok: false; readonly error: string; readonly suggestions?: readonly { line: number; text: string }[] };

export interface ReplaceOptions {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

/** Backslash quotes that the model added and the file does not have: a sign of one escaping too many. */
function escapeDrift(text: string, options: ReplaceOptions): boolean {
  return ["\\'", '\\"', "\\`"].some(
    (quote) => options.newText.includes(quote) && options.oldText.includes(quote) && !text.includes(quote),
  );
}

function indentOf(text: string): string {
  return /^[ \t]*/.exec(text.split("\n").find((line) => line.trim() !== "") ?? "")?.[0] ?? "";
}

/** A forgiving match may stand deeper than the model wrote: the new lines move along. */
function reindented(found: Found, passage: string, options: ReplaceOptions): string {
  if (found.strategy === "exact" || found.strategy === "escape_normalized" || found.strategy === "trimmed_boundary")
    return options.newText;
  const from = indentOf(options.oldText);
  const to = indentOf(passage);
  if (from === to) return options.newText;
  return options.newText
    .split("\n")
    .map((line) => {
      if (line.trim() === "") return line;
      if (line.startsWith(from)) return to + line.slice(from.length);
      return line;
    })
    .join("\n");
}

function apply(text: string, matches: readonly Match[], replacement: (passage: string) => string): string {
  let result = "";
  let from = 0;
  for (const match of matches) {
    result += text.slice(from, match.start) + replacement(text.slice(match.start, match.end));
    from = match.end;
  }
  return result + text.slice(from);
}

export function replaceIn(text: string, options: ReplaceOptions): Replacement {
  if (options.oldText === "") return { ok: false, error: "old_string is empty; use write_file to make a file" };
  if (options.oldText === options.newText) return { ok: false, error: "old_string and new_string are the same" };
  const found = findPassage(text, options.oldText);
  if (!found) {
    const suggestions = closestRegions(text, options.oldText);
    return { ok: false, error: "old_string was not found", ...(suggestions.length > 0 ? { suggestions } : {}) };
  }
  if (found.matches.length > 1 && !options.all) {
    return {
      ok: false,
      error: `old_string is there ${found.matches.length} times; add lines around it to make it unique, or set replace_all`,
    };
  }
  if (found.strategy !== "exact" && escapeDrift(text, options)) {
    return {
      ok: false,
      error: "the new text has backslash-quotes that the file does not have; send it without the extra escaping",
    };
  }
  return {
    ok: true,
    text: apply(text, found.matches, (passage) => reindented(found, passage, options)),
    strategy: found.strategy,
    count: found.matches.length,
  };
}
