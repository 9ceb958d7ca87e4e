// Markdown as tokens: where the lexer differs from CommonMark, and the text without formatting.
import { expect, it } from "vitest";
import { childTokens, loadMarkdownLexer, type MarkdownToken, plainText } from "./lexer.ts";

function shape(tokens: readonly MarkdownToken[]): string {
  return tokens
    .map((token) => (childTokens(token).length > 0 ? `${token.type}(${shape(childTokens(token))})` : token.type))
    .join(" ");
}

it.each([
  ["2*3*4 and snake_case_name", "paragraph(text)"],
  ["*yes*, **yes** and ***both***", "paragraph(em(text) text strong(text) text em(strong(text)))"],
  ["~one~ ~~two~~", "paragraph(text del(text))"],
  ["<b>html</b> <!-- note -->", "paragraph(text)"],
  ["text\n---", "paragraph(text) hr"],
  ["text\n\n    indented", "paragraph(text) space paragraph(text)"],
  ["[a]: https://x.test", "paragraph(text link(text))"],
  ["a || b || c ||hidden **word**||", "paragraph(text extension(text strong(text)))"],
])("%s", async (markdown, expected) => {
  const lex = await loadMarkdownLexer([{ name: "spoiler", mark: "||" }]);
  expect(shape(lex(markdown))).toBe(expected);
});

it("has a text without formatting", async () => {
  const lex = await loadMarkdownLexer();
  expect(plainText(lex("**a _b_** `c` [d](https://x.test) \\*"))).toBe("a b c d *");
  expect(plainText(lex('{"a":"\\"b\\" C:\\dir\\n"}'))).toBe('{"a":"\\"b\\" C:\\dir\\n"}');
});

it("takes text that is nested too deep as plain text", async () => {
  const lex = await loadMarkdownLexer();
  const text = `${">".repeat(40_000)}x`;
  expect(plainText(lex(text))).toBe(text);
});
