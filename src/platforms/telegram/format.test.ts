// Markdown rendered as Telegram's HTML.
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
    ["**bold with `code` and _italic_**", "<b>bold with <code>code</code> and <i>italic</i></b>"],
    ["***both***", "<i><b>both</b></i>"],
    ["# A **bold** title", "<b>A bold title</b>"],
    ["- one\n  - **two**\n    1. three\n- four", "• one\n  • <b>two</b>\n    1. three\n• four"],
    ["- [x] done\n- [ ] open", "• ☑ done\n• ☐ open"],
    ["3. three\n4. four", "3. three\n4. four"],
    ["[**bold** label](https://x.test)", '<a href="https://x.test"><b>bold</b> label</a>'],
    ["[no](javascript:alert(1)) https://x.test", "[no](javascript:alert(1)) https://x.test"],
    ["||hidden _words_|| a || b", "<tg-spoiler>hidden <i>words</i></tg-spoiler> a || b"],
    ["> a\n> > b\n> - **c**", "<blockquote>a\nb\n• <b>c</b></blockquote>"],
    ["one\n\n\ntwo\nthree", "one\n\n\ntwo\nthree"],
    ["<b>no tag</b> \\*no emphasis\\*", "&lt;b&gt;no tag&lt;/b&gt; *no emphasis*"],
    ["| a | b |\n|---|---|\n| **x** | `y` |", "<pre>a  b\nx  y</pre>"],
  ])("%s", async (markdown, html) => {
    expect(await toTelegramHtml(markdown)).toBe(html);
  });

  it("closes every tag for any input", async () => {
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
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 40 }), async (pieces) => {
        const html = await toTelegramHtml(pieces.join(""));
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
