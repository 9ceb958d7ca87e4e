// Builds a tree from tags and text, and repairs it: implied ends, void elements, tags closed in the wrong order or never.
import { BLOCKS, type HtmlElement } from "./tree.ts";

type Attributes = HtmlElement["attributes"];

const VOID = new Set(
  "area base basefont bgsound br col command embed frame hr img input keygen link meta param source track wbr".split(
    " ",
  ),
);

/** An opening tag closes these open elements, searching up to the nearest boundary. */
const CLOSES: { readonly [name: string]: readonly string[] } = {
  li: ["li"],
  dt: ["dt", "dd"],
  dd: ["dt", "dd"],
  tr: ["tr", "td", "th"],
  td: ["td", "th"],
  th: ["td", "th"],
  thead: ["tr", "td", "th", "tbody", "thead", "tfoot"],
  tbody: ["tr", "td", "th", "tbody", "thead", "tfoot"],
  tfoot: ["tr", "td", "th", "tbody", "thead", "tfoot"],
  option: ["option"],
  optgroup: ["option", "optgroup"],
};

const BOUNDARIES: { readonly [name: string]: readonly string[] } = {
  li: ["ul", "ol", "menu", "dir", "table"],
  dt: ["dl", "table"],
  dd: ["dl", "table"],
  option: ["select", "table"],
  optgroup: ["select", "table"],
};

/** Opening one of these closes an open paragraph. */
const CLOSES_PARAGRAPH = new Set(
  "address article aside blockquote center details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul".split(
    " ",
  ),
);

/** Tags beyond this number are ignored; their text is kept. */
const MAX_ELEMENTS = 150_000;
/** Deeper elements become siblings, so that recursive functions cannot overflow the stack. */
const MAX_DEPTH = 200;

function createElement(name: string, attributes: Attributes, parent: HtmlElement | null): HtmlElement {
  return { name, attributes, children: [], parent, hasBlocks: false };
}

export class HtmlTreeBuilder {
  readonly root = createElement("#root", new Map(), null);
  readonly #stack: HtmlElement[] = [this.root];
  /** The number of open elements by name, which answers most questions about the stack without a search. */
  readonly #openCount = new Map<string, number>();
  #elements = 0;

  #top(): HtmlElement {
    return this.#stack.at(-1) ?? this.root;
  }

  #pop(): void {
    const closed = this.#stack.length === 1 ? undefined : this.#stack.pop();
    if (closed) this.#openCount.set(closed.name, (this.#openCount.get(closed.name) ?? 1) - 1);
  }

  /** Closes the nearest open element of one of the names, unless a boundary is nearer. */
  #closeNearest(names: readonly string[], boundaries: readonly string[]): void {
    if (!names.some((name) => (this.#openCount.get(name) ?? 0) > 0)) return;
    let found = -1;
    for (let index = this.#stack.length - 1; index > 0; index--) {
      const name = this.#stack[index]?.name ?? "";
      if (names.includes(name)) found = index;
      else if (boundaries.includes(name)) break;
      if (found === index && names.length === 1) break;
    }
    if (found === -1) return;
    while (this.#stack.length > found) this.#pop();
  }

  text(text: string): void {
    if (text !== "") this.#top().children.push(text);
  }

  open(name: string, attributes: Attributes, selfClosing: boolean): void {
    if (++this.#elements > MAX_ELEMENTS) return;
    if (CLOSES_PARAGRAPH.has(name))
      this.#closeNearest(["p"], ["table", "td", "th", "li", "div", "section", "button", "object"]);
    const closes = CLOSES[name];
    if (closes) this.#closeNearest(closes, BOUNDARIES[name] ?? ["table"]);
    if (name === "a") this.#closeNearest(["a"], ["td", "th", "table", "div", "li", "section", "article"]);
    const parent = this.#top();
    const child = createElement(name, attributes, parent);
    parent.children.push(child);
    if (BLOCKS.has(name))
      for (let up: HtmlElement | null = parent; up && !up.hasBlocks; up = up.parent) up.hasBlocks = true;
    if (VOID.has(name) || (selfClosing && !BLOCKS.has(name)) || this.#stack.length >= MAX_DEPTH) return;
    this.#stack.push(child);
    this.#openCount.set(name, (this.#openCount.get(name) ?? 0) + 1);
  }

  close(name: string): void {
    if (name === "br") this.open("br", new Map(), true);
    // A stray end tag inside a cell does not close the table around it.
    const boundaries = BOUNDARIES[name] ?? (name === "table" ? [] : CLOSES[name] ? ["table"] : ["table", "td", "th"]);
    this.#closeNearest([name], boundaries);
  }
}
