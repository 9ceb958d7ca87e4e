// Parses HTML: the tokenizer of htmlparser2 reads tags, text and character references, our builder makes the tree.
import type { TokenizerCallbacks } from "htmlparser2";
import type { HtmlElement } from "./tree.ts";
import { HtmlTreeBuilder } from "./tree-builder.ts";

const MAX_ATTRIBUTES = 64;
/** Characters that are parsed between two pauses. */
const STEP_CHARS = 16_384;

/** Parses in steps, so that the caller can pause between them; returns the root. Any input is accepted. */
export type StepParser = (html: string) => Generator<undefined, HtmlElement>;

const NO_ATTRIBUTES: HtmlElement["attributes"] = new Map();

/** How often the rest of a page is read again after a quote that is never closed. */
const MAX_RESTARTS = 3;

/** Passes tokens of `html` on to a builder. The tokenizer reports positions; adjacent pieces of text are joined. */
class TokenReader implements TokenizerCallbacks {
  readonly #html: string;
  readonly #builder: HtmlTreeBuilder;
  /** The end of the name of a tag that has not ended yet; -1 outside of opening tags. */
  #tagAt = -1;
  #text = "";
  #tag = "";
  #attributes: Map<string, string> | undefined;
  #attribute = "";
  #value = "";

  constructor(html: string, builder: HtmlTreeBuilder) {
    this.#html = html;
    this.#builder = builder;
  }

  #flushText(): void {
    this.#builder.text(this.#text);
    this.#text = "";
  }

  ontext(start: number, end: number): void {
    this.#text += this.#html.slice(start, end);
  }

  ontextentity(codePoint: number): void {
    this.#text += String.fromCodePoint(codePoint);
  }

  oncdata(start: number, end: number, endOffset: number): void {
    this.ontext(start, end - endOffset);
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#html.slice(start, end).toLowerCase();
    this.#attributes = undefined;
    this.#tagAt = end;
  }

  onattribname(start: number, end: number): void {
    this.#attribute = this.#html.slice(start, end).toLowerCase();
    this.#value = "";
  }

  onattribdata(start: number, end: number): void {
    this.#value += this.#html.slice(start, end);
  }

  onattribentity(codePoint: number): void {
    this.#value += String.fromCodePoint(codePoint);
  }

  onattribend(): void {
    this.#attributes ??= new Map();
    if (this.#attributes.size < MAX_ATTRIBUTES && !this.#attributes.has(this.#attribute))
      this.#attributes.set(this.#attribute, this.#value);
  }

  #open(selfClosing: boolean): void {
    this.#tagAt = -1;
    this.#flushText();
    this.#builder.open(this.#tag, this.#attributes ?? NO_ATTRIBUTES, selfClosing);
  }

  onopentagend(): void {
    this.#open(false);
  }

  onselfclosingtag(): void {
    this.#open(true);
  }

  onclosetag(start: number, end: number): void {
    this.#flushText();
    this.#builder.close(this.#html.slice(start, end).toLowerCase());
  }

  onend(): void {
    this.#flushText();
  }

  /**
   * After the end: when a quote that is never closed has swallowed the rest of the page, ends its tag at the next `>`
   * and returns the text from there. Empty when everything was read.
   */
  recover(): string {
    const end = this.#tagAt === -1 ? -1 : this.#html.indexOf(">", this.#tagAt);
    if (end === -1) return "";
    this.#open(false);
    return this.#html.slice(end + 1);
  }

  oncomment = (): void => undefined;
  ondeclaration = (): void => undefined;
  onprocessinginstruction = (): void => undefined;
}

/** Loads htmlparser2 at the first call. */
export async function loadHtmlParser(): Promise<StepParser> {
  const { Tokenizer } = await import("htmlparser2");
  return function* parse(html) {
    const builder = new HtmlTreeBuilder();
    let rest = html;
    for (let restarts = 0; rest !== "" && restarts <= MAX_RESTARTS; restarts++) {
      const reader = new TokenReader(rest, builder);
      const tokenizer = new Tokenizer({ decodeEntities: true, recognizeSelfClosing: true }, reader);
      for (let at = 0; at < rest.length; at += STEP_CHARS) {
        tokenizer.write(rest.slice(at, at + STEP_CHARS));
        yield;
      }
      tokenizer.end();
      rest = reader.recover();
    }
    return builder.root;
  };
}

/** Runs a generator to its end without pausing. */
export function runSteps<T>(steps: Generator<undefined, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

export async function parseHtml(html: string): Promise<HtmlElement> {
  const parse = await loadHtmlParser();
  return runSteps(parse(html));
}
