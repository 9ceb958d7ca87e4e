// Large pages are converted beside the event loop, with the same result.
import { expect, it } from "vitest";
import { findWorkerFile } from "../../lib/worker-file.ts";
import { convertPage } from "./convert-page.ts";
import { htmlToMarkdown } from "./html-to-markdown.ts";

const row = "<tr><td>cell <b>one</b></td><td><a href='/two'>cell two</a></td></tr>";
const page = (rows: number) =>
  `<html><head><title>T</title></head><body><table>${row.repeat(rows)}</table></body></html>`;

it("gives the same text in a thread as here", async () => {
  for (const rows of [3, 10_000]) {
    const html = page(rows);
    expect(await convertPage(html, "https://example.org/a/")).toEqual(htmlToMarkdown(html, "https://example.org/a/"));
  }
});

it("lets the program go on meanwhile", async () => {
  expect(findWorkerFile("page-worker")).toBeDefined();
  const html = page(50_000);
  const began = performance.now();
  htmlToMarkdown(html);
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
  // Handing over the text and taking the result is a small part of the work.
  expect(longest).toBeLessThan(alone / 2);
});
