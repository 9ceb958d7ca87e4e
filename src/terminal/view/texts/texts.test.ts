import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ENGLISH, type TextKey } from "./english.ts";
import { loadTexts, localeFile } from "./load-texts.ts";
import { ENGLISH_TEXTS, LANGUAGES } from "./texts.ts";

/** The placeholders of a text by name. */
const placeholders = (text: string) => [...new Set([...text.matchAll(/\{(\w+)/g)].map((match) => match[1]))].sort();

const folder = join(import.meta.dirname, "../../../../locales");
const others = LANGUAGES.filter((language) => language !== "en");

describe.each(others)("the texts in %s", (language) => {
  const table = JSON.parse(readFileSync(localeFile(language) ?? "", "utf8")) as { [key: string]: string };

  it("have every key and no other", () => {
    expect(Object.keys(table).sort()).toEqual(Object.keys(ENGLISH).sort());
  });

  it("have the placeholders of the English texts", () => {
    const different = Object.entries(ENGLISH).filter(
      ([key, english]) => placeholders(english).join() !== placeholders(table[key] ?? "").join(),
    );
    expect(different.map(([key]) => key)).toEqual([]);
  });

  it("are translated", () => {
    const same = Object.entries(ENGLISH).filter(([key, english]) => english.length > 12 && english === table[key]);
    expect(same).toEqual([]);
  });
});

it("has a file for each language and no other file", () => {
  expect(readdirSync(folder).sort()).toEqual(others.map((language) => `${language}.json`).sort());
});

it("chooses the form of a word by the number, as the language does", async () => {
  const lines = (texts: typeof ENGLISH_TEXTS, count: number) => texts.text("tool.lines", { count });
  expect([1, 2].map((count) => lines(ENGLISH_TEXTS, count))).toEqual(["1 line", "2 lines"]);
  const ukrainian = await loadTexts("uk");
  expect([1, 2, 5, 21].map((count) => lines(ukrainian, count))).toEqual(["1 рядок", "2 рядки", "5 рядків", "21 рядок"]);
  expect(lines(await loadTexts("ja"), 1)).toBe("1 行");
});

it("falls back to English for an unknown language", async () => {
  expect((await loadTexts("xx")).text("working")).toBe("Working");
  const key: TextKey = "approval.once";
  expect((await loadTexts("de")).text(key)).toBe("Einmal erlauben");
});
