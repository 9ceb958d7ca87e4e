// Finds the main content of a page: removes navigation and clutter, then picks the element with most of the text.
import { type HtmlElement, plainText } from "./tree.ts";

const DROPPED = new Set(
  "applet area audio button canvas datalist dialog embed footer frame frameset head iframe input link map meta nav noframes noscript object param progress script search select source style svg template textarea title track video".split(
    " ",
  ),
);
const DROPPED_ROLES = new Set([
  "navigation",
  "banner",
  "contentinfo",
  "complementary",
  "search",
  "dialog",
  "alertdialog",
  "menu",
  "menubar",
]);
/** Class names and ids of elements around the content. Elements with much text are kept in spite of their name. */
const CLUTTER =
  /(?:^|[\s_-])(?:cookie|consent|gdpr|newsletter|subscribe|breadcrumbs?|share|sharing|social|sidebar|related|promo|advert(?:isement)?|ads?|sponsor(?:ed)?|popup|modal|skip-?link|toc-?toggle|edit-?section|mw-editsection|pagination|pager|site-?(?:header|footer|nav)|menu|toolbar)(?:$|[\s_-])/i;
const INVISIBLE =
  /(?:^|[;\s])(?:display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0+)?\s*(?:;|$)|font-size\s*:\s*0(?:px|pt|em|rem)?\s*(?:;|$))/i;
/** Cannot be shown without the table around them. */
const TABLE_PARTS = new Set(["tr", "tbody", "thead", "tfoot"]);
/** Elements with more letters than this are not clutter. */
const CLUTTER_CHARS = 600;
/** Letters that a `main` element needs to be used. */
const MIN_MAIN_LETTERS = 200;

/** True for text that a browser would not show: it may be meant for models only, to mislead them. */
function isInvisible(node: HtmlElement): boolean {
  if (node.attributes.size === 0) return false;
  const { attributes } = node;
  return (
    (attributes.has("hidden") && attributes.get("hidden") !== "until-found") ||
    attributes.get("aria-hidden") === "true" ||
    INVISIBLE.test(attributes.get("style") ?? "")
  );
}

function isDropped(node: HtmlElement, text: number, inContent: boolean): boolean {
  if (node.name === "input") return node.attributes.get("type") !== "checkbox";
  if (DROPPED.has(node.name) || isInvisible(node)) return true;
  if (DROPPED_ROLES.has(node.attributes.get("role") ?? "")) return true;
  if (node.name === "aside" && !inContent) return true;
  if (node.name === "header" && !inContent) return text < CLUTTER_CHARS;
  if (node.attributes.size === 0 || node.name === "body" || node.name === "html") return false;
  if (text > CLUTTER_CHARS || node.name === "pre" || node.name === "code") return false;
  return CLUTTER.test(`${node.attributes.get("class") ?? ""} ${node.attributes.get("id") ?? ""}`);
}

interface Weight {
  /** Characters of text inside, without white space. */
  text: number;
  /** Those of them inside links. */
  linked: number;
}

function countLetters(text: string): number {
  let count = 0;
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 32) count++;
  return count;
}

function isContent(node: HtmlElement): boolean {
  return node.name === "main" || node.name === "article" || node.attributes.get("role") === "main";
}

/** Removes what is not content and measures the rest. */
function prune(node: HtmlElement, weights: Map<HtmlElement, Weight>, inContent: boolean): Weight {
  const weight: Weight = { text: 0, linked: 0 };
  const kept: typeof node.children = [];
  const inside = inContent || isContent(node);
  for (const child of node.children) {
    if (typeof child === "string") {
      weight.text += countLetters(child);
      kept.push(child);
      continue;
    }
    const below = DROPPED.has(child.name) && child.name !== "input" ? null : prune(child, weights, inside);
    if (below === null || isDropped(child, below.text, inside)) continue;
    weight.text += below.text;
    weight.linked += child.name === "a" ? below.text : below.linked;
    kept.push(child);
  }
  node.children.length = 0;
  for (const child of kept) node.children.push(child);
  weights.set(node, weight);
  return weight;
}

/** The element with most prose: text outside of links counts for its parent, and half for its grandparent. */
function findDensest(weights: ReadonlyMap<HtmlElement, Weight>): HtmlElement | undefined {
  const scores = new Map<HtmlElement, number>();
  for (const [node, weight] of weights) {
    if (!["p", "pre", "blockquote", "li", "td", "dd"].includes(node.name) || weight.text < 25) continue;
    const score = weight.text - weight.linked;
    const parent = node.parent;
    if (!parent) continue;
    scores.set(parent, (scores.get(parent) ?? 0) + score);
    if (parent.parent) scores.set(parent.parent, (scores.get(parent.parent) ?? 0) + score / 2);
  }
  let best: HtmlElement | undefined;
  for (const [node, score] of scores) if (best === undefined || score > (scores.get(best) ?? 0)) best = node;
  return best;
}

/** The part of the page to show. It contains at least a quarter of the prose, without `main` at least half. */
export function mainContent(root: HtmlElement): HtmlElement {
  const weights = new Map<HtmlElement, Weight>();
  const whole = prune(root, weights, false);
  const prose = (node: HtmlElement) => {
    const weight = weights.get(node);
    return weight ? weight.text - weight.linked : 0;
  };
  const all = whole.text - whole.linked;
  const named = [...weights.keys()].filter(isContent);
  const mains = named.filter((node) => node.name !== "article");
  const main = mains.find((node) => prose(node) >= Math.min(MIN_MAIN_LETTERS, all / 4));
  if (main && prose(main) >= all / 4) return main;
  const articles = named.filter((node) => node.name === "article");
  const article = articles.find((node) => prose(node) >= all / 2);
  if (article) return article;
  let best: HtmlElement | null = findDensest(weights) ?? null;
  while (best && (prose(best) < all / 2 || TABLE_PARTS.has(best.name))) best = best.parent;
  return best ?? root;
}

/** The title of the page: `title`, `og:title` or the first heading. */
export function pageTitle(elements: Iterable<HtmlElement>): string {
  let social = "";
  let heading = "";
  for (const node of elements) {
    if (node.name === "title" && node.parent?.name !== "svg") {
      const title = plainText(node);
      if (title !== "") return title.slice(0, 300);
    }
    if (node.name === "meta" && node.attributes.get("property") === "og:title")
      social ||= node.attributes.get("content") ?? "";
    if (node.name === "h1") heading ||= plainText(node);
  }
  return (social || heading).trim().slice(0, 300);
}
