import fc from "fast-check";
import { expect, it } from "vitest";
import { htmlToText } from "./to-text.ts";

it("keeps paragraphs, list items and links, and drops scripts and styles", async () => {
  const html = `<html><head><style>p{}</style></head><body><p>Hello&nbsp;&amp; welcome</p><ul><li>one</li><li>two</li></ul>
    <a href="https://x.test/a">here</a><script>alert(1)</script></body></html>`;
  expect(await htmlToText(html)).toBe("Hello & welcome\n- one\n- two\nhere (https://x.test/a)");
});

it("reads HTML without end tags", async () => {
  expect(await htmlToText("<p>one<p>two<br>three &lt;3")).toBe("one\ntwo\nthree <3");
});

it("accepts any text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), async (text) => {
      expect(typeof (await htmlToText(text))).toBe("string");
    }),
  );
});
