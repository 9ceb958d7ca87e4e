// Reads the texts of a language from the `locales/` folder that comes with the program.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isRecord } from "../../../lib/json/is-record.ts";
import { parseJson } from "../../../lib/json/parse-json.ts";
import { createTexts, ENGLISH_TEXTS, LANGUAGES, type Language, type Texts, type TextTable } from "./texts.ts";

/** The file of a language, beside the nearest package.json above this file. */
export function localeFile(language: string): string | undefined {
  let at = import.meta.dirname;
  for (let up = 0; up < 8; up++) {
    const file = join(at, "locales", `${language}.json`);
    if (existsSync(join(at, "package.json")) && existsSync(file)) return file;
    at = dirname(at);
  }
  return undefined;
}

/** The texts of `display.language`; English when the language or its file is missing. */
export async function loadTexts(language: string): Promise<Texts> {
  const known = LANGUAGES.find((one) => one === language) satisfies Language | undefined;
  const file = known === undefined || known === "en" ? undefined : localeFile(known);
  if (known === undefined || file === undefined) return ENGLISH_TEXTS;
  const table = parseJson(await readFile(file, "utf8"));
  return isRecord(table) ? createTexts(known, table as TextTable) : ENGLISH_TEXTS;
}
