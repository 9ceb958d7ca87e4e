// The elements of a parsed page, and how to read them.

export interface HtmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: (HtmlElement | string)[];
  readonly parent: HtmlElement | null;
  /** True when a descendant is a block element. */
  hasBlocks: boolean;
}

export type HtmlNode = HtmlElement | string;

export const BLOCKS = new Set(
  "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main menu nav ol optgroup option p pre search section summary table tbody td tfoot th thead tr ul xmp".split(
    " ",
  ),
);

/** Every descendant in document order. */
export function* descendants(root: HtmlElement): Generator<HtmlElement> {
  const waiting: HtmlElement[] = [root];
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node !== root) yield node;
    for (let index = node.children.length - 1; index >= 0; index--) {
      const child = node.children[index];
      if (typeof child === "object") waiting.push(child);
    }
  }
}

/** The text of a node on one line, without scripts and styles. */
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
