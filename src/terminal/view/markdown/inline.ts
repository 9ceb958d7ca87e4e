// Inline Markdown as styled text: emphasis, code, links.
import { childTokens, type MarkdownToken } from "../../../lib/markdown/lexer.ts";
import { joinSgr, type Line, type Span } from "../text/span.ts";
import type { Theme } from "../theme/theme.ts";

/** Only these targets become hyperlinks: others may run programs or open local files. */
const SAFE_TARGET = /^(?:https?:\/\/|mailto:)[\x21-\x7e]{1,2000}$/;

function linkSpans(token: MarkdownToken & { href: string }, theme: Theme, sgr: string): Span[] {
  const children = childTokens(token);
  const style = joinSgr(sgr, theme.sgr("link"));
  const text = inlineSpans(children, theme, style);
  const { href } = token;
  const link = theme.hyperlinks && SAFE_TARGET.test(href) ? href : undefined;
  const shown = text.map((part) => ({ ...part, link }));
  const plain = text.map((part) => part.text).join("");
  if (plain === href || `mailto:${plain}` === href || href === "") return shown;
  const target: Span = { text: ` (${href})`, sgr: joinSgr(sgr, theme.sgr("dim")) };
  return [...shown, target];
}

/** A terminal without styles shows the marks of code, which would otherwise run into the text. */
function codeSpan(text: string, theme: Theme, sgr: string): Span {
  return theme.depth === "none" ? { text: `\`${text}\``, sgr } : { text, sgr: joinSgr(sgr, theme.sgr("code")) };
}

function tokenSpans(token: MarkdownToken, theme: Theme, sgr: string): Line {
  switch (token.type) {
    case "strong":
      return inlineSpans(childTokens(token), theme, joinSgr(sgr, theme.sgr("strong")));
    case "em":
      return inlineSpans(childTokens(token), theme, joinSgr(sgr, theme.sgr("emphasis")));
    case "del":
      return inlineSpans(childTokens(token), theme, joinSgr(sgr, theme.sgr("strike")));
    case "codespan":
      return [codeSpan(token.text, theme, sgr)];
    case "br":
      return [{ text: "\n", sgr: "" }];
    case "link":
      return linkSpans(token, theme, sgr);
    case "image":
      return [
        { text: token.text === "" ? "image" : token.text, sgr: joinSgr(sgr, theme.sgr("link")) },
        { text: ` (${token.href})`, sgr: joinSgr(sgr, theme.sgr("dim")) },
      ];
    default: {
      const children = childTokens(token);
      if (children.length > 0) return inlineSpans(children, theme, sgr);
      return [{ text: "text" in token ? token.text : token.raw, sgr }];
    }
  }
}

export function inlineSpans(tokens: readonly MarkdownToken[], theme: Theme, sgr = ""): Span[] {
  return tokens.flatMap((token) => tokenSpans(token, theme, sgr));
}
