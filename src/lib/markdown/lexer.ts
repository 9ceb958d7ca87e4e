// Markdown as language models write it, as a tree of tokens. Renderers turn the tree into the format of their surface.
import type { MarkedToken, TokenizerExtension, Tokens } from "marked";

export type MarkdownToken = MarkedToken | ExtensionToken;

/** A span between two marks, see `InlineMark`. */
export interface ExtensionToken {
  readonly type: "extension";
  readonly name: string;
  readonly raw: string;
  readonly tokens: MarkdownToken[];
}

/** An inline span between two equal marks, for example `||`. */
export interface InlineMark {
  readonly name: string;
  readonly mark: string;
}

export type MarkdownLexer = (markdown: string) => MarkdownToken[];

/** A backslash before other characters stays, for example in JSON and in paths. */
const ESCAPED = /^\\[*_`~[\]#|>]/;
const WORD = /[\p{L}\p{N}_]/u;

function spanExtension({ name, mark }: InlineMark): TokenizerExtension {
  const escaped = mark.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const span = new RegExp(`^${escaped}(?=\\S)([^\\n]+?)(?<=\\S)${escaped}`);
  return {
    name,
    level: "inline",
    start: (source) => {
      const at = source.indexOf(mark);
      return at === -1 ? undefined : at;
    },
    tokenizer(source) {
      const found = span.exec(source);
      if (!found) return undefined;
      const inner = this.lexer.inlineTokens(found[1] ?? "", []);
      return { type: "extension", name, raw: found[0], tokens: inner } as Tokens.Generic;
    },
  };
}

/**
 * Loads the lexer. It differs from CommonMark where that helps with text that was not written as Markdown: HTML, indented
 * lines, reference definitions and underlined headings stay text, `2*3*4` has no emphasis, only `~~` strikes out, and a
 * backslash escapes formatting characters only.
 */
export async function loadMarkdownLexer(marks: readonly InlineMark[] = []): Promise<MarkdownLexer> {
  const { Marked, Tokenizer } = await import("marked");
  const base = Tokenizer.prototype;
  const marked = new Marked({
    gfm: true,
    extensions: marks.map(spanExtension),
    tokenizer: {
      html: () => undefined,
      tag: () => undefined,
      code: () => undefined,
      def: () => undefined,
      lheading: () => undefined,
      escape(source) {
        return ESCAPED.test(source) ? base.escape.call(this, source) : undefined;
      },
      del(source, masked, before) {
        return source.startsWith("~~") ? base.del.call(this, source, masked, before) : undefined;
      },
      emStrong(source, masked, before) {
        const token = base.emStrong.call(this, source, masked, before);
        if (token?.type !== "em" || !token.raw.startsWith("*")) return token;
        const after = source.charAt(token.raw.length);
        return WORD.test(before ?? "") || WORD.test(after) ? undefined : token;
      },
    },
  });
  return (markdown) => {
    try {
      return marked.lexer(markdown) as MarkdownToken[];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      // Thousands of nested quotes exceed the stack: such a text is not Markdown.
      return [
        { type: "paragraph", raw: markdown, text: markdown, tokens: [{ type: "text", raw: markdown, text: markdown }] },
      ];
    }
  };
}

/** The children of a token. */
export function childTokens(token: MarkdownToken): MarkdownToken[] {
  return "tokens" in token ? ((token.tokens ?? []) as MarkdownToken[]) : [];
}

/** The text of inline tokens without their formatting. */
export function plainText(tokens: readonly MarkdownToken[]): string {
  return tokens
    .map((token) => {
      if (token.type === "br") return "\n";
      const children = childTokens(token);
      if (children.length > 0) return plainText(children);
      return "text" in token ? token.text : token.raw;
    })
    .join("");
}
