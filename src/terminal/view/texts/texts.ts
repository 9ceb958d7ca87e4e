// The fixed texts of the screen in the language of the user.
import { ENGLISH, type TextKey } from "./english.ts";

export const LANGUAGES = ["en", "zh", "ja", "de", "es", "fr", "tr", "uk"] as const;
export type Language = (typeof LANGUAGES)[number];

export interface TextValues {
  readonly [name: string]: string | number;
}

export interface Texts {
  readonly language: Language;
  text(key: TextKey, values?: TextValues): string;
}

/** A table of texts by key; missing keys are taken from English. */
export type TextTable = { readonly [key in TextKey]?: string | undefined };

const PLACEHOLDER = /\{(\w+)((?:\|[^{}|]*)*)\}/g;

function pluralForm(forms: readonly string[], count: number, rules: Intl.PluralRules): string {
  const category = rules.select(count);
  const last = forms.at(-1) ?? "";
  if (category === "one") return forms[0] ?? last;
  return category === "few" && forms.length > 2 ? (forms[1] ?? last) : last;
}

export function createTexts(language: Language, table: TextTable): Texts {
  let rules: Intl.PluralRules | undefined;
  let numbers: Intl.NumberFormat | undefined;
  const fill = (template: string, values: TextValues): string =>
    template.replaceAll(PLACEHOLDER, (whole, name: string, list: string) => {
      const value = values[name];
      if (value === undefined) return whole;
      if (list === "") {
        if (typeof value === "string") return value;
        numbers ??= new Intl.NumberFormat(language);
        return numbers.format(value);
      }
      rules ??= new Intl.PluralRules(language);
      return pluralForm(list.slice(1).split("|"), Number(value), rules);
    });
  return { language, text: (key, values = {}) => fill(table[key] ?? ENGLISH[key], values) };
}

export const ENGLISH_TEXTS: Texts = createTexts("en", ENGLISH);
