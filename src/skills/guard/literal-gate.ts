// Skips regular expressions that cannot match a text: one pass finds which of their required literals the text contains.
import { requiredLiterals } from "./required-literals.ts";

/** Texts whose result is kept: the same line is tested by many rules. */
const MAX_KEPT = 20_000;

/** An Aho-Corasick automaton over the literals of many rules. */
class Automaton {
  /** Character code → column; 0 for characters that no literal has. */
  readonly #column = new Uint8Array(65_536);
  readonly #columns: number;
  readonly #next: Int32Array;
  readonly #found: readonly (readonly number[])[];

  constructor(literals: ReadonlyMap<string, readonly number[]>) {
    let columns = 1;
    for (const literal of literals.keys())
      for (let at = 0; at < literal.length; at++) {
        const code = literal.charCodeAt(at);
        if (this.#column[code] === 0 && columns < 255) this.#column[code] = columns++;
      }
    this.#columns = columns;
    const size = 1 + [...literals.keys()].reduce((sum, literal) => sum + literal.length, 0);
    this.#next = new Int32Array(size * columns);
    const found: number[][] = [[]];
    for (const [literal, rules] of literals) {
      let node = 0;
      for (let at = 0; at < literal.length; at++) {
        const edge = node * columns + (this.#column[literal.charCodeAt(at)] ?? 0);
        if (this.#next[edge] === 0) {
          this.#next[edge] = found.length;
          found.push([]);
        }
        node = this.#next[edge] ?? 0;
      }
      found[node]?.push(...rules);
    }
    this.#found = found;
    this.#link(found);
  }

  /** Completes the transitions, breadth first, so that the scan never goes back. */
  #link(found: number[][]): void {
    const columns = this.#columns;
    const suffix = new Int32Array(found.length);
    const queue: number[] = [];
    for (let column = 0; column < columns; column++) {
      const child = this.#next[column] ?? 0;
      if (child !== 0) queue.push(child);
    }
    for (let head = 0; head < queue.length; head++) {
      const node = queue[head] ?? 0;
      const fallback = suffix[node] ?? 0;
      found[node]?.push(...(found[fallback] ?? []));
      for (let column = 0; column < columns; column++) {
        const edge = node * columns + column;
        const target = this.#next[fallback * columns + column] ?? 0;
        const child = this.#next[edge] ?? 0;
        if (child === 0) this.#next[edge] = target;
        else {
          suffix[child] = target;
          queue.push(child);
        }
      }
    }
  }

  /** Marks the rules of which a literal is in the text. */
  mark(text: string, marks: Uint32Array): void {
    const next = this.#next;
    const columns = this.#columns;
    let node = 0;
    for (let at = 0; at < text.length; at++) {
      node = next[node * columns + (this.#column[text.charCodeAt(at)] ?? 0)] ?? 0;
      const rules = this.#found[node];
      if (rules && rules.length > 0)
        for (const rule of rules) marks[rule >>> 5] = (marks[rule >>> 5] ?? 0) | (1 << (rule & 31));
    }
  }
}

const registered: RegExp[] = [];
const gatedRules = new Map<RegExp, number>();
let automaton: Automaton | undefined;
const kept = new Map<string, Uint32Array>();

/** Registers rules when a module loads; the work is done at the first scan. Rules without required literals are always tried. */
export function registerRules(rules: readonly RegExp[]): void {
  registered.push(...rules);
  automaton = undefined;
}

function buildAutomaton(): Automaton {
  const literals = new Map<string, number[]>();
  gatedRules.clear();
  kept.clear();
  for (const rule of registered) {
    if (gatedRules.has(rule)) continue;
    const needed = requiredLiterals(rule);
    if (needed === null || needed.length === 0) continue;
    const id = gatedRules.size;
    gatedRules.set(rule, id);
    for (const literal of needed) literals.set(literal, [...(literals.get(literal) ?? []), id]);
  }
  return new Automaton(literals);
}

/** Which registered rules may match the text; see `isMarked`. */
export function marksOf(text: string): Uint32Array {
  automaton ??= buildAutomaton();
  const known = kept.get(text);
  if (known) return known;
  const marks = new Uint32Array((gatedRules.size >>> 5) + 1);
  automaton.mark(text.toLowerCase(), marks);
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(text, marks);
  return marks;
}

/** False only when the rule cannot match the text of the marks. */
export function isMarked(rule: RegExp, marks: Uint32Array): boolean {
  const id = gatedRules.get(rule);
  return id === undefined || ((marks[id >>> 5] ?? 0) & (1 << (id & 31))) !== 0;
}

/** `rule.test(text)`, faster for registered rules. The rule must not be global. */
export function matches(rule: RegExp, text: string): boolean {
  return isMarked(rule, marksOf(text)) && rule.test(text);
}

/** Forgets the texts of the last scan. */
export function forgetTexts(): void {
  kept.clear();
}
