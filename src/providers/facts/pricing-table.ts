// List prices in US dollars per million tokens, from the model data. The longest matching family name wins.
import { MODEL_DATA } from "../catalog/model-data.ts";
import type { Prices } from "../settings.ts";

/** A price, the page it comes from and the month in which the page was read. */
export interface ListedPrice {
  readonly prices: Prices;
  readonly source: string;
  readonly thirdParty: boolean;
  readonly read: string;
}

/** Services spell names differently: `claude-sonnet-4.6` and `claude-sonnet-4-6` are one model. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[._]/g, "-");
}

/** Suffixes that do not change the price: a date, a snapshot, a variant. */
const SAME_MODEL =
  /^(-(\d{4,8}|\d{2}-\d{2,4}|\d{4}-\d{2}-\d{2}|latest|preview|exp|beta|chat|codex|max|thinking|reasoning|instruct|v\d+))*$/;

/** The list price of a model of that provider; undefined when it is not in the table. */
export function listedPrice(provider: string, model: string): ListedPrice | undefined {
  const name = plain(model.slice(model.lastIndexOf("/") + 1));
  let best: { readonly length: number; readonly listed: ListedPrice } | undefined;
  for (const { providers, source, thirdParty = false, read, rows } of MODEL_DATA) {
    if (!providers.includes(provider)) continue;
    for (const row of rows) {
      const family = plain(row.name);
      const same = row.price && name.startsWith(family) && SAME_MODEL.test(name.slice(family.length));
      if (!same || family.length <= (best?.length ?? 0)) continue;
      const [input, output, cacheRead, cacheWrite] = row.price;
      const prices = { input, output, cacheRead, cacheWrite };
      best = { length: family.length, listed: { prices, source, thirdParty, read } };
    }
  }
  return best?.listed;
}

/** Assumed prices by a word in the name; the first match wins. They are high, so that spending caps hold. */
const ASSUMED: readonly (readonly [RegExp, number, number])[] = [
  [/(^|-)pro($|-)/, 30, 180],
  [/opus|fable|(^|-)o\d($|-)/, 15, 75],
  [/nano|flash-lite|(^|-)(tiny|micro)($|-)/, 0.5, 2],
  [/mini|flash|haiku|lite|small|fast|air|turbo/, 2, 10],
  [/sonnet|gpt|gemini|grok|kimi|qwen|glm|minimax|deepseek|llama|mistral/, 5, 30],
];
const ASSUMED_OTHERWISE = [15, 75] as const;

/** Assumed prices of a model without a known price. Cache writes cost a quarter more than input, reads the same. */
export function assumedPrices(model: string): Required<Prices> {
  const name = plain(model.slice(model.lastIndexOf("/") + 1));
  const row = ASSUMED.find(([pattern]) => pattern.test(name));
  const [input, output] = row ? [row[1], row[2]] : ASSUMED_OTHERWISE;
  return { input, output, cacheRead: input, cacheWrite: input * 1.25 };
}
