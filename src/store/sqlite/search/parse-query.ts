// Parses search input. Any text is a valid query: what cannot be an operator is a word.

export type Query =
  | { readonly kind: "and" | "or"; readonly parts: readonly Query[] }
  /** `keep` without those that match `drop`. */
  | { readonly kind: "not"; readonly keep: Query; readonly drop: Query }
  | Leaf;

export interface Leaf {
  readonly kind: "text";
  readonly text: string;
  readonly prefix: boolean;
}

const CJK = /[\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u{20000}-\u{2a6df}]/u;
const WORD_CHARACTER = /[\p{L}\p{N}\p{Co}]/u;
/** Longer than any typed query; of a pasted page only the beginning is searched. */
const MAX_QUERY_CHARS = 4000;
const MAX_WORDS = 100;
const DEEPEST = 20;

/** Chinese, Japanese or Korean: scripts that the ordinary tokenizer cannot split into words. */
export function hasCjk(text: string): boolean {
  return CJK.test(text);
}

type Token = Leaf | { readonly kind: "AND" | "OR" | "NOT" | "(" | ")" };

/** Without the punctuation around it. Characters are tried one by one: a pattern for both ends can take very long. */
function core(text: string): string {
  const characters = [...text];
  const isWord = (character: string) => WORD_CHARACTER.test(character);
  return characters.slice(characters.findIndex(isWord), characters.findLastIndex(isWord) + 1).join("");
}

function parseLeaf(raw: string, quoted: boolean, star: boolean): Leaf | undefined {
  const text = hasCjk(raw) && !quoted ? core(raw) : raw.trim();
  return WORD_CHARACTER.test(text) ? { kind: "text", text, prefix: star } : undefined;
}

/** One whitespace-free run outside quotes: its brackets, then its operator or word. */
function* wordTokens(run: string): Generator<Token> {
  let from = 0;
  while (run[from] === "(") from++;
  for (let i = 0; i < from; i++) yield { kind: "(" };
  let surplus = 0;
  for (const character of run.slice(from)) surplus += character === ")" ? 1 : character === "(" ? -1 : 0;
  let to = run.length;
  while (surplus > 0 && to > from && run[to - 1] === ")") {
    to--;
    surplus--;
  }
  const closing = run.length - to;
  const word = run.slice(from, to);
  if (word === "AND" || word === "OR" || word === "NOT") {
    yield { kind: word };
  } else {
    const leaf = parseLeaf(word.replace(/\*+$/, ""), false, word.endsWith("*"));
    if (leaf) yield leaf;
  }
  for (let i = 0; i < closing; i++) yield { kind: ")" };
}

function tokenize(query: string): Token[] {
  const tokens: Token[] = [];
  for (const match of query.matchAll(/"([^"]*)"(\*?)|([^\s"]+)/gu)) {
    const [, phrase, star, run] = match;
    if (run !== undefined) tokens.push(...wordTokens(run));
    else if (phrase !== undefined) {
      const leaf = parseLeaf(phrase, true, star === "*");
      if (leaf) tokens.push(leaf);
    }
  }
  return capped(tokens);
}

/** The first words and the outermost brackets. */
function capped(tokens: readonly Token[]): Token[] {
  let words = 0;
  let depth = 0;
  return tokens.filter(({ kind }) => {
    if (kind === "text") return ++words <= MAX_WORDS;
    if (kind === "(") return ++depth <= DEEPEST;
    if (kind === ")") return depth-- <= DEEPEST;
    return true;
  });
}

/** Removes an `and`, `or` or `not` of any case at either end, as long as words remain. */
function withoutDanglingOperators(query: string): string {
  const trimmed = query.trim();
  const shorter = trimmed
    .replace(/^(?:and|or|not)(?=\s)/i, "")
    .replace(/\s(?:and|or|not)$/i, "")
    .trim();
  return shorter === "" ? trimmed : shorter;
}

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get done(): boolean {
    return this.#at >= this.#tokens.length;
  }

  #peek(): Token["kind"] | undefined {
    return this.#tokens[this.#at]?.kind;
  }

  #take(kind: Token["kind"]): boolean {
    if (this.#peek() !== kind) return false;
    this.#at++;
    return true;
  }

  /** Skips a bracket that closes nothing. */
  skip(): void {
    this.#at++;
  }

  or(): Query | undefined {
    const parts = [this.#and()];
    while (this.#take("OR")) parts.push(this.#and());
    return joined("or", parts);
  }

  #and(): Query | undefined {
    let result = this.#not();
    for (;;) {
      if (!this.#take("AND")) return result;
      // `a AND NOT b` means `a NOT b`.
      if (this.#take("NOT")) result = without(result, this.#adjacent());
      else result = joined("and", [result, this.#not()]);
    }
  }

  #not(): Query | undefined {
    // A NOT at the start is ignored, and the term after it is searched for.
    while (this.#take("NOT") || this.#take("AND"));
    let result = this.#adjacent();
    while (this.#take("NOT")) result = without(result, this.#adjacent());
    return result;
  }

  /** Adjacent words bind more tightly than any operator. */
  #adjacent(): Query | undefined {
    const parts: (Query | undefined)[] = [];
    for (;;) {
      const token = this.#tokens[this.#at];
      if (token?.kind === "text") {
        parts.push(token);
        this.#at++;
      } else if (this.#take("(")) {
        parts.push(this.or());
        this.#take(")");
      } else return joined("and", parts);
    }
  }
}

function joined(kind: "and" | "or", parts: readonly (Query | undefined)[]): Query | undefined {
  const present = parts.filter((part) => part !== undefined);
  return present.length > 1 ? { kind, parts: present } : present[0];
}

function without(keep: Query | undefined, drop: Query | undefined): Query | undefined {
  return keep && drop ? { kind: "not", keep, drop } : (keep ?? drop);
}

/** The parsed query; undefined when it has no word. Precedence as in FTS5: adjacency, NOT, AND, OR. */
export function parseQuery(query: string): Query | undefined {
  const parser = new Parser(
    tokenize(withoutDanglingOperators(query.slice(0, MAX_QUERY_CHARS).replaceAll("\u0000", " "))),
  );
  const parts: (Query | undefined)[] = [];
  while (!parser.done) {
    parts.push(parser.or());
    parser.skip();
  }
  return joined("and", parts);
}

export function listLeaves(query: Query): Leaf[] {
  if (query.kind === "text") return [query];
  if (query.kind === "not") return [...listLeaves(query.keep), ...listLeaves(query.drop)];
  return query.parts.flatMap(listLeaves);
}

/** The leaves that a match can contain: everything except what NOT takes away. */
export function positiveLeaves(query: Query): Leaf[] {
  if (query.kind === "text") return [query];
  return query.kind === "not" ? positiveLeaves(query.keep) : query.parts.flatMap(positiveLeaves);
}
