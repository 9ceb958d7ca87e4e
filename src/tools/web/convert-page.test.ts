// Large pages are converted in a thread, with the same result.
import { expect, it } from "vitest";
import { htmlToMarkdown } from "../../lib/html/to-markdown.ts";
import { findWorkerFile } from "../../lib/worker-file.ts";
import { convertPage } from "./convert-page.ts";

const row = "<tr><td>cell <b>one</b></td><td><a href='/two'>cell two</a></td></tr>";
const page = (rows: number) =>
  `<html><head><title>T</title></head><body><table>${row.repeat(rows)}</table></body></html>`;

it("returns the same text from a thread", async () => {
  for (const rows of [3, 10_000]) {
    const html = page(rows);
    expect(await convertPage(html, "https://example.org/a/")).toEqual(
      await htmlToMarkdown(html, "https://example.org/a/"),
    );
  }
});

it("does not block the event loop", async () => {
  expect(findWorkerFile("page-worker")).toBeDefined();
  const html = page(50_000);
  const began = performance.now();
  await htmlToMarkdown(html);
  const alone = performance.now() - began;
  let [last, longest, done] = [performance.now(), 0, false];
  const watch = () => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
    if (!done) setImmediate(watch);
  };
  setImmediate(watch);
  await convertPage(html);
  done = true;
  // Sending the page and receiving the result takes a fraction of the conversion time.
  expect(longest).toBeLessThan(alone / 2);
});
