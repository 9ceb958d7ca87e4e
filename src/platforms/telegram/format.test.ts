// Markdown in Telegram's HTML.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toTelegramHtml } from "./format.ts";

describe("toTelegramHtml", () => {
  it.each([
    ["**bold** _it_ ~~gone~~", "<b>bold</b> <i>it</i> <s>gone</s>"],
    ["a < b & `c < d`", "a &lt; b &amp; <code>c &lt; d</code>"],
    ["# Title", "<b>Title</b>"],
    ["- one\n- two", "• one\n• two"],
    ["[label](https://example.com/?a=1&b=2)", '<a href="https://example.com/?a=1&amp;b=2">label</a>'],
    ["> said\n> so", "<blockquote>said\nso</blockquote>"],
    ["```js\nif (a < b) {}\n```", '<pre><code class="language-js">if (a &lt; b) {}</code></pre>'],
    ["snake_case_name and 2*3*4", "snake_case_name and 2*3*4"],
    ["| a | bb |\n|---|----|\n| 1 | 2 |", "<pre>a  bb\n1  2</pre>"],
    ["```\nopen **block**", "<pre>open **block**</pre>"],
  ])("%s", (markdown, html) => {
    expect(toTelegramHtml(markdown)).toBe(html);
  });

  it("closes every tag it opens and loses no letter, whatever it is given", () => {
    const piece = fc.oneof(
      fc.string({ maxLength: 8 }),
      fc.constantFrom(
        "**",
        "*",
        "_",
        "__",
        "`",
        "```",
        "~~",
        "\n",
        "> ",
        "- ",
        "|",
        "|-|\n",
        "[a](https://x.y)",
        "<b>",
        "&amp;",
      ),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const html = toTelegramHtml(pieces.join(""));
        const stack: string[] = [];
        for (const [, close, name] of html.matchAll(/<(\/?)([a-z-]+)[^>]*>/g)) {
          if (close) expect(stack.pop()).toBe(name);
          else stack.push(name ?? "");
        }
        expect(stack).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
