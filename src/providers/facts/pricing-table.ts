// List prices in US dollars per million tokens, as published by the makers. The longest matching family name wins.
import type { Prices } from "../settings.ts";

export const PRICING_VERSION = "2026-05";

/** [input, output, cache read, cache write]; without a cache price, cached tokens are not priced separately. */
type Row = readonly [string, number, number, number?, number?];

const ANTHROPIC: readonly Row[] = [
  ["claude-opus-4-7", 5, 25, 0.5, 6.25],
  ["claude-opus-4-6", 5, 25, 0.5, 6.25],
  ["claude-opus-4-5", 5, 25, 0.5, 6.25],
  ["claude-opus-4-1", 15, 75, 1.5, 18.75],
  ["claude-opus-4", 15, 75, 1.5, 18.75],
  ["claude-sonnet-4-6", 3, 15, 0.3, 3.75],
  ["claude-sonnet-4-5", 3, 15, 0.3, 3.75],
  ["claude-sonnet-4", 3, 15, 0.3, 3.75],
  ["claude-haiku-4-5", 1, 5, 0.1, 1.25],
  ["claude-3-7-sonnet", 3, 15, 0.3, 3.75],
  ["claude-3-5-sonnet", 3, 15, 0.3, 3.75],
  ["claude-3-5-haiku", 0.8, 4, 0.08, 1],
  ["claude-3-opus", 15, 75, 1.5, 18.75],
  ["claude-3-haiku", 0.25, 1.25, 0.03, 0.3],
];

const OPENAI: readonly Row[] = [
  ["gpt-5.5", 5, 30, 0.5],
  ["gpt-5.4-nano", 0.2, 1.25, 0.02],
  ["gpt-5.4-mini", 0.75, 4.5, 0.075],
  ["gpt-5.4", 2.5, 15, 0.25],
  ["gpt-5.2", 1.75, 14, 0.175],
  ["gpt-5.1", 1.25, 10, 0.125],
  ["gpt-5-nano", 0.05, 0.4, 0.005],
  ["gpt-5-mini", 0.25, 2, 0.025],
  ["gpt-5", 1.25, 10, 0.125],
  ["gpt-4.1-nano", 0.1, 0.4, 0.025],
  ["gpt-4.1-mini", 0.4, 1.6, 0.1],
  ["gpt-4.1", 2, 8, 0.5],
  ["gpt-4o-mini", 0.15, 0.6, 0.075],
  ["gpt-4o", 2.5, 10, 1.25],
  ["o4-mini", 1.1, 4.4, 0.275],
  ["o3-mini", 1.1, 4.4, 0.55],
  ["o3", 2, 8, 0.5],
];

const GOOGLE: readonly Row[] = [
  ["gemini-3.1-flash-lite", 0.25, 1.5, 0.025],
  ["gemini-3.1-pro", 2, 12, 0.2],
  ["gemini-3-pro", 2, 12, 0.2],
  ["gemini-3-flash", 0.5, 3, 0.05],
  ["gemini-2.5-pro", 1.25, 10, 0.125],
  ["gemini-2.5-flash-lite", 0.1, 0.4, 0.01],
  ["gemini-2.5-flash", 0.3, 2.5, 0.03],
];

const OTHERS: { readonly [maker: string]: readonly Row[] } = {
  deepseek: [
    ["deepseek-chat", 0.28, 0.42, 0.028],
    ["deepseek-reasoner", 0.28, 0.42, 0.028],
    ["deepseek-v3", 0.28, 0.42, 0.028],
  ],
  minimax: [
    ["minimax-m2.7", 0.3, 1.2, 0.06, 0.375],
    ["minimax-m2.5", 0.3, 1.2, 0.03, 0.375],
    ["minimax-m2", 0.3, 1.2, 0.03, 0.375],
  ],
  xai: [
    ["grok-4.3", 1.25, 2.5, 0.2],
    ["grok-4-fast", 0.2, 0.5, 0.05],
    ["grok-4", 3, 15, 0.75],
    ["grok-3-mini", 0.3, 0.5, 0.075],
    ["grok-3", 3, 15, 0.75],
  ],
  moonshot: [
    ["kimi-k2-turbo", 1.15, 8, 0.15],
    ["kimi-k2", 0.6, 2.5, 0.15],
  ],
  zai: [
    ["glm-5", 1, 3.2, 0.2],
    ["glm-4.6", 0.6, 2.2, 0.11],
    ["glm-4.5-flash", 0, 0, 0],
    ["glm-4.5", 0.6, 2.2, 0.11],
  ],
};

/** The rows of each provider. Gateways charge other prices. */
const BY_PROVIDER: { readonly [provider: string]: readonly Row[] } = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
  gemini: GOOGLE,
  deepseek: OTHERS.deepseek ?? [],
  minimax: OTHERS.minimax ?? [],
  "minimax-cn": OTHERS.minimax ?? [],
  xai: OTHERS.xai ?? [],
  "kimi-coding": OTHERS.moonshot ?? [],
  zai: OTHERS.zai ?? [],
};

/** Services spell names differently: `claude-sonnet-4.6` and `claude-sonnet-4-6` are one model. */
function plain(name: string): string {
  return name.toLowerCase().replace(/[._]/g, "-");
}

/** Suffixes that do not change the price: a date, a snapshot, a variant. */
const SAME_MODEL =
  /^(-(\d{4,8}|\d{2}-\d{2,4}|\d{4}-\d{2}-\d{2}|latest|preview|exp|beta|chat|codex|max|thinking|reasoning|instruct|v\d+))*$/;

/** The list price for a model of that provider; undefined when it is not in the table. */
export function listPrices(provider: string, model: string): Prices | undefined {
  const name = plain(model.slice(model.lastIndexOf("/") + 1));
  let best: Row | undefined;
  for (const row of BY_PROVIDER[provider] ?? []) {
    const family = plain(row[0]);
    const same = name.startsWith(family) && SAME_MODEL.test(name.slice(family.length));
    if (same && family.length > plain(best?.[0] ?? "").length) best = row;
  }
  if (!best) return undefined;
  const [, input, output, cacheRead, cacheWrite] = best;
  return {
    input,
    output,
    cacheRead,
    cacheWrite,
  };
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
