// Replaces a passage of a text: finds it, adapts the indentation of the new text, and rejects ambiguous requests.
import { closestRegions, type Found, findPassage, type Match } from "./fuzzy-match.ts";

export type Replacement =
  | { readonly ok: true; readonly text: string; readonly strategy: string; readonly count: number }
  | {
      readonly ok: false;
      readonly error: string;
      readonly suggestions?: readonly { line: number; text: string }[] | undefined;
    };

export interface ReplaceOptions {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
}

/** True when both texts contain escaped quotes that the file does not have: the model escaped once too often. */
function hasExtraEscapes(text: string, options: ReplaceOptions): boolean {
  return ["\\'", '\\"', "\\`"].some(
    (quote) => options.newText.includes(quote) && options.oldText.includes(quote) && !text.includes(quote),
  );
}

function firstIndent(text: string): string {
  return /^[ \t]*/.exec(text.split("\n").find((line) => line.trim() !== "") ?? "")?.[0] ?? "";
}

/** Gives the new lines the indentation of the passage, which may differ from that in the request. */
function reindent(found: Found, passage: string, options: ReplaceOptions): string {
  if (found.strategy === "exact" || found.strategy === "escape_normalized" || found.strategy === "trimmed_boundary")
    return options.newText;
  const from = firstIndent(options.oldText);
  const to = firstIndent(passage);
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
  if (options.oldText === "") return { ok: false, error: "old_string is empty; use write_file to create a file" };
  if (options.oldText === options.newText) return { ok: false, error: "old_string and new_string are the same" };
  const found = findPassage(text, options.oldText);
  if (!found) {
    const suggestions = closestRegions(text, options.oldText);
    return {
      ok: false,
      error: "old_string was not found",
      suggestions: suggestions.length > 0 ? suggestions : undefined,
    };
  }
  if (found.matches.length > 1 && !options.all) {
    return {
      ok: false,
      error: `old_string occurs ${found.matches.length} times; add lines around it to make it unique, or set replace_all`,
    };
  }
  if (found.strategy !== "exact" && hasExtraEscapes(text, options)) {
    return {
      ok: false,
      error: "the new text has backslash-quotes that the file does not have; send it without the extra escaping",
    };
  }
  return {
    ok: true,
    text: apply(text, found.matches, (passage) => reindent(found, passage, options)),
    strategy: found.strategy,
    count: found.matches.length,
  };
}
