// Finds the texts of which a regular expression needs at least one, so that most lines can be skipped without matching.

/** Literals in lower case; null when the expression may match without any known text. */
type Needed = readonly string[] | null;

const MAX_LITERALS = 400;
/** Escapes that stand for a class or a position, not for their own character. */
const SPECIAL_ESCAPE = /[bBdDwWsSnrtfv0-9cpPuxk]/;

interface Reader {
  readonly source: string;
  at: number;
}

function shortest(list: readonly string[]): number {
  return Math.min(...list.map((text) => text.length));
}

/** The better of two requirements: the one whose shortest text is longer. */
function better(one: Needed, other: Needed): Needed {
  if (one === null || one.length === 0) return other;
  if (other === null || other.length === 0) return one;
  return shortest(other) > shortest(one) ? other : one;
}

/** True when the quantifier at the position allows zero repetitions; the position moves behind it. */
function readQuantifier(reader: Reader): { present: boolean; optional: boolean } {
  const found = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(reader.source.slice(reader.at, reader.at + 12))?.[0];
  if (found === undefined) return { present: false, optional: false };
  reader.at += found.length;
  return { present: true, optional: /^(?:[*?]|\{0[,}])/.test(found) };
}

function skipClass(reader: Reader): void {
  reader.at++;
  while (reader.at < reader.source.length && reader.source[reader.at] !== "]")
    reader.at += reader.source[reader.at] === "\\" ? 2 : 1;
  reader.at++;
}

/** Moves behind an escape; returns its character when it is literal. */
function readEscape(reader: Reader): string | null {
  const char = reader.source[reader.at + 1] ?? "";
  const long = /^\\(?:u\{[^}]*\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[pP]\{[^}]*\}|k<[^>]*>|\d+)/.exec(
    reader.source.slice(reader.at, reader.at + 40),
  )?.[0];
  reader.at += long?.length ?? 2;
  return SPECIAL_ESCAPE.test(char) ? null : char;
}

function readGroup(reader: Reader): Needed {
  const opening = /^\((?:\?(?:[:=!]|<[=!]|<\w+>))?/.exec(reader.source.slice(reader.at, reader.at + 40))?.[0] ?? "(";
  reader.at += opening.length;
  const inner = readAlternatives(reader);
  reader.at++;
  // What must not follow, or only follows, is not part of the match.
  return /[=!]$/.test(opening) ? null : inner;
}

type Atom = { readonly char: string } | { readonly needed: Needed };

function readAtom(reader: Reader): Atom {
  const char = reader.source[reader.at] ?? "";
  if (char === "(") return { needed: readGroup(reader) };
  if (char === "[") {
    skipClass(reader);
    return { needed: null };
  }
  if (char === "\\") {
    const escaped = readEscape(reader);
    return escaped === null ? { needed: null } : { char: escaped };
  }
  reader.at++;
  return /[.^$]/.test(char) ? { needed: null } : { char };
}

function readSequence(reader: Reader): Needed {
  let best: Needed = null;
  let run = "";
  const endRun = (): void => {
    if (run !== "") best = better(best, [run.toLowerCase()]);
    run = "";
  };
  while (reader.at < reader.source.length && !"|)".includes(reader.source[reader.at] ?? "")) {
    const atom = readAtom(reader);
    const { present, optional } = readQuantifier(reader);
    if ("char" in atom && !optional) run += atom.char;
    if (!("char" in atom) || present) endRun();
    if ("needed" in atom && !optional) best = better(best, atom.needed);
  }
  endRun();
  return best;
}

function readAlternatives(reader: Reader): Needed {
  const all: string[] = [];
  let known = true;
  for (;;) {
    const needed = readSequence(reader);
    if (needed === null) known = false;
    else all.push(...needed);
    if (reader.source[reader.at] !== "|") break;
    reader.at++;
  }
  return known && all.length <= MAX_LITERALS ? [...new Set(all)] : null;
}

/** At least one of these texts is in every match, in any case; null when that cannot be said. */
export function requiredLiterals({ source }: RegExp): Needed {
  return readAlternatives({ source, at: 0 });
}
