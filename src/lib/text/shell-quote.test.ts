import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { shellQuote } from "./shell-quote.ts";

test("a shell reads every word back as it was", () => {
  const words = ["plain", "", "two words", "it's", '$HOME `id` \\ "x"', "a\nb", "*", "~", "-n"];
  const script = `printf '%s\\0' ${words.map(shellQuote).join(" ")}`;
  expect(execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1)).toEqual(words);
  expect(shellQuote("/usr/bin/env")).toBe("/usr/bin/env");
});
