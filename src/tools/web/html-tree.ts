// A tolerant tree of a page: implied ends, void elements, tags closed in the wrong order or never.
import { type Attributes, type HtmlToken, htmlTokens } from "./html-tokens.ts";

export interface HtmlElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: (HtmlElement | string)[];
  readonly parent: HtmlElement | null;
  /** Something inside starts a line of its own. */
  holdsBlocks: boolean;
}

export type HtmlNode = HtmlElement | string;

const VOID = new Set(
  "area base basefont bgsound br col command embed frame hr img input keygen link meta param source track wbr".split(
    " ",
  ),
);

export const BLOCKS = new Set(
  "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead tr ul xmp".split(
    " ",
  ),
);

/** An opening tag ends these open elements, looking up no further than a boundary. */
const ENDS: { readonly [name: string]: readonly string[] } = {
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

/** A paragraph ends where one of these begins. */
const ENDS_PARAGRAPH = new Set(
  "address article aside blockquote center details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul".split(
    " ",
  ),
);

/** Further tags of a page are passed over, their text stays. */
const MOST_ELEMENTS = 150_000;
/** Deeper elements are hung up flat: no page needs more, and every walk may then recurse. */
const MAX_DEPTH = 200;

function element(name: string, attributes: Attributes, parent: HtmlElement | null): HtmlElement {
  return { name, attributes, children: [], parent, holdsBlocks: false };
}

export class HtmlTreeBuilder {
  readonly root = element("#root", new Map(), null);
  readonly #stack: HtmlElement[] = [this.root];
  /** How many elements of a name are open: most questions about the stack end here. */
  readonly #open = new Map<string, number>();

  #count = 0;

  #top(): HtmlElement {
    return this.#stack.at(-1) ?? this.root;
  }

  #isOpen(name: string): boolean {
    return (this.#open.get(name) ?? 0) > 0;
  }

  #pop(): HtmlElement | undefined {
    if (this.#stack.length === 1) return undefined;
    const gone = this.#stack.pop();
    if (gone) this.#open.set(gone.name, (this.#open.get(gone.name) ?? 1) - 1);
    return gone;
  }

  /** Closes the nearest open element of one of the names, unless a boundary stands before it. */
  #closeNearest(names: readonly string[], boundaries: readonly string[]): void {
    if (!names.some((name) => this.#isOpen(name))) return;
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

  #openTag(name: string, attributes: Attributes, closed: boolean): void {
    if (++this.#count > MOST_ELEMENTS) return;
    if (ENDS_PARAGRAPH.has(name))
      this.#closeNearest(["p"], ["table", "td", "th", "li", "div", "section", "button", "object"]);
    const ends = ENDS[name];
    if (ends) this.#closeNearest(ends, BOUNDARIES[name] ?? ["table"]);
    if (name === "a") this.#closeNearest(["a"], ["td", "th", "table", "div", "li", "section", "article"]);
    const parent = this.#top();
    const child = element(name, attributes, parent);
    parent.children.push(child);
    if (BLOCKS.has(name))
      for (let up: HtmlElement | null = parent; up && !up.holdsBlocks; up = up.parent) up.holdsBlocks = true;
    if (VOID.has(name) || (closed && !BLOCKS.has(name)) || this.#stack.length >= MAX_DEPTH) return;
    this.#stack.push(child);
    this.#open.set(name, (this.#open.get(name) ?? 0) + 1);
  }

  #closeTag(name: string): void {
    if (name === "br") this.#openTag("br", new Map(), true);
    // A stray end tag inside a cell does not end the table around it.
    const boundaries = BOUNDARIES[name] ?? (name === "table" ? [] : ENDS[name] ? ["table"] : ["table", "td", "th"]);
    this.#closeNearest([name], boundaries);
  }

  push(token: HtmlToken): void {
    if (token.kind === "text") {
      if (token.text !== "") this.#top().children.push(token.text);
    } else if (token.kind === "open") this.#openTag(token.name, token.attributes, token.closed);
    else this.#closeTag(token.name);
  }
}

/** The whole page at once; for long pages a builder can be fed in portions. */
export function parseHtml(html: string): HtmlElement {
  const builder = new HtmlTreeBuilder();
  for (const token of htmlTokens(html)) builder.push(token);
  return builder.root;
}

/** Every element below, in the order of the page. */
export function* elementsOf(root: HtmlElement): Generator<HtmlElement> {
  const waiting: HtmlElement[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node !== root) yield node;
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index];
      if (typeof child === "object") waiting.push(child);
    }
  }
}

/** All text inside, with white space as one space. */
export function plainText(node: HtmlNode): string {
  const pieces: string[] = [];
  const collect = (at: HtmlNode): void => {
    if (typeof at === "string") pieces.push(at);
    else if (at.name === "br") pieces.push(" ");
    else if (at.name !== "script" && at.name !== "style") {
      for (const child of at.children) collect(child);
      if (BLOCKS.has(at.name)) pieces.push(" ");
    }
  };
  collect(node);
  return pieces.join("").replace(/\s+/g, " ").trim();
}

export function hasClass(node: HtmlElement, name: string): boolean {
  return (node.attributes.get("class") ?? "").split(/\s+/).includes(name);
}
