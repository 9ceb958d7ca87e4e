// Cuts HTML into tags and text. Any input is taken, each character is looked at a bounded number of times.
import { decodeEntities } from "./html-entities.ts";

export type Attributes = ReadonlyMap<string, string>;

export type HtmlToken =
  | { readonly kind: "open"; readonly name: string; readonly attributes: Attributes; readonly closed: boolean }
  | { readonly kind: "close"; readonly name: string }
  | { readonly kind: "text"; readonly text: string };

/** Their content is text up to their own end tag, whatever it looks like. */
const RAW = new Set(["script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"]);
/** Raw text in which references still count. */
const DECODED = new Set(["textarea", "title"]);
const MOST_ATTRIBUTES = 64;
const NO_ATTRIBUTES: Attributes = new Map();

const NAME = /[A-Za-z][^\s/>]*/y;
const ATTRIBUTE = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*))?)?/y;
const TAG_END = /[\s/]*>/y;
const GAP = /[\s/]*/y;

interface Tag {
  readonly token: HtmlToken;
  readonly end: number;
}

/** The attributes from `start` on, and where the tag ends; null when it never does. */
function readAttributes(html: string, start: number): { attributes: Attributes; end: number; closed: boolean } | null {
  let attributes: Map<string, string> | undefined;
  let at = start;
  for (;;) {
    TAG_END.lastIndex = at;
    const end = TAG_END.exec(html);
    if (end)
      return {
        attributes: attributes ?? NO_ATTRIBUTES,
        end: TAG_END.lastIndex,
        closed: html[TAG_END.lastIndex - 2] === "/",
      };
    ATTRIBUTE.lastIndex = at;
    const found = ATTRIBUTE.exec(html);
    if (!found) {
      // Something that is no attribute, such as a stray equals sign: pass over it.
      GAP.lastIndex = at;
      GAP.exec(html);
      at = GAP.lastIndex + 1;
      if (at > html.length) return null;
      continue;
    }
    at = ATTRIBUTE.lastIndex;
    attributes ??= new Map();
    const name = (found[1] ?? "").toLowerCase();
    if (attributes.size < MOST_ATTRIBUTES && !attributes.has(name))
      attributes.set(name, decodeEntities(found[2] ?? found[3] ?? found[4] ?? ""));
  }
}

function readTag(html: string, start: number): Tag | null {
  const closing = html[start + 1] === "/";
  NAME.lastIndex = start + (closing ? 2 : 1);
  const name = NAME.exec(html)?.[0].toLowerCase();
  if (name === undefined) return null;
  if (closing) {
    const end = html.indexOf(">", NAME.lastIndex);
    return { token: { kind: "close", name }, end: end === -1 ? html.length : end + 1 };
  }
  const rest = readAttributes(html, NAME.lastIndex);
  if (!rest) return { token: { kind: "text", text: "" }, end: html.length };
  return { token: { kind: "open", name, attributes: rest.attributes, closed: rest.closed }, end: rest.end };
}

/** Past a comment, a doctype, a CDATA mark or a processing instruction. */
function skipDeclaration(html: string, start: number): number {
  const [mark, length] = html.startsWith("<!--", start) ? ["-->", 3] : [">", 1];
  // `<!-->` is a whole comment.
  const end = html.indexOf(mark, start + (mark === ">" ? 1 : 2));
  return end === -1 ? html.length : end + length;
}

function rawEnd(html: string, name: string, start: number): number {
  const close = new RegExp(`</${name}(?=[\\s/>])`, "gi");
  close.lastIndex = start;
  const found = close.exec(html);
  return found ? found.index : html.length;
}

export function* htmlTokens(html: string): Generator<HtmlToken> {
  let at = 0;
  while (at < html.length) {
    const next = html.indexOf("<", at);
    const textEnd = next === -1 ? html.length : next;
    if (textEnd > at) yield { kind: "text", text: decodeEntities(html.slice(at, textEnd)) };
    if (next === -1) return;
    const after = html[next + 1] ?? "";
    if (html.startsWith("<![CDATA[", next)) {
      const end = html.indexOf("]]>", next);
      yield { kind: "text", text: html.slice(next + 9, end === -1 ? html.length : end) };
      at = end === -1 ? html.length : end + 3;
      continue;
    }
    if (after === "!" || after === "?") {
      at = skipDeclaration(html, next);
      continue;
    }
    const tag = readTag(html, next);
    if (!tag) {
      yield { kind: "text", text: "<" };
      at = next + 1;
      continue;
    }
    yield tag.token;
    at = tag.end;
    if (tag.token.kind !== "open" || tag.token.closed || !RAW.has(tag.token.name)) continue;
    const end = rawEnd(html, tag.token.name, at);
    const text = html.slice(at, end);
    if (text !== "") yield { kind: "text", text: DECODED.has(tag.token.name) ? decodeEntities(text) : text };
    at = end;
  }
}
