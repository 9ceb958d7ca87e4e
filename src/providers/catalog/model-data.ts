// What is known about models: context windows and list prices, with the page and the month each row was read.

/** US dollars per million tokens: input, output, cache read, cache write. */
export type PriceRow = readonly [
  input: number,
  output: number,
  cacheRead?: number | undefined,
  cacheWrite?: number | undefined,
];

export interface ModelRow {
  /** In lower case. Dots and dashes are equal; the longest matching name wins. */
  readonly name: string;
  /** Tokens. Applies to every model whose name contains `name`. */
  readonly window?: number | undefined;
  /** Applies to this model, its dated versions and its variants, on the hosts of the maker. */
  readonly price?: PriceRow | undefined;
}

export interface MakerData {
  /** Ids of the providers that charge these prices. */
  readonly providers: readonly string[];
  /** The page the rows come from. */
  readonly source: string;
  /** The page is not the maker's own. */
  readonly thirdParty?: boolean | undefined;
  /** The month in which the rows were read. */
  readonly read: string;
  readonly rows: readonly ModelRow[];
}

const MILLION = 1_000_000;

function row(name: string, window?: number, ...price: number[]): ModelRow {
  const [input, output, cacheRead, cacheWrite] = price;
  if (input === undefined || output === undefined) return { name, window };
  return { name, window, price: [input, output, cacheRead, cacheWrite] };
}

/** A price without a window. */
function priced(name: string, ...price: number[]): ModelRow {
  return row(name, undefined, ...price);
}

const ANTHROPIC: readonly ModelRow[] = [
  row("claude-fable-5", MILLION, 10, 50, 1, 12.5),
  row("claude-opus-5-5", MILLION, 4, 20, 0.4, 5),
  row("claude-opus-5", MILLION, 5, 25, 0.5, 6.25),
  row("claude-sonnet-5-5", MILLION, 2, 10, 0.2, 2.5),
  row("claude-sonnet-5", MILLION, 2, 10, 0.2, 2.5),
  // Up to 100,000 prompt tokens; longer prompts cost more, at a rate that the page does not state.
  row("claude-haiku-5-5", MILLION, 0.1, 0.5, 0.01, 0.125),
  row("claude-opus-4-8", MILLION, 5, 25, 0.5, 6.25),
  row("claude-opus-4-7", MILLION, 5, 25, 0.5, 6.25),
  row("claude-opus-4-6", MILLION, 5, 25, 0.5, 6.25),
  row("claude-sonnet-4-6", MILLION, 3, 15, 0.3, 3.75),
  priced("claude-opus-4-5", 5, 25, 0.5, 6.25),
  priced("claude-opus-4-1", 15, 75, 1.5, 18.75),
  priced("claude-opus-4", 15, 75, 1.5, 18.75),
  priced("claude-sonnet-4-5", 3, 15, 0.3, 3.75),
  priced("claude-sonnet-4", 3, 15, 0.3, 3.75),
  priced("claude-haiku-4-5", 1, 5, 0.1, 1.25),
  priced("claude-3-7-sonnet", 3, 15, 0.3, 3.75),
  priced("claude-3-5-sonnet", 3, 15, 0.3, 3.75),
  priced("claude-3-5-haiku", 0.8, 4, 0.08, 1),
  priced("claude-3-opus", 15, 75, 1.5, 18.75),
  priced("claude-3-haiku", 0.25, 1.25, 0.03, 0.3),
  row("claude-5", MILLION),
  row("claude", 200_000),
];

const OPENAI: readonly ModelRow[] = [
  row("gpt-6-1-sol", 1_050_000, 2, 10, 0.2),
  row("gpt-6", 1_050_000),
  row("gpt-5.6", 1_050_000),
  row("gpt-5.5", 1_050_000, 5, 30, 0.5),
  row("gpt-5.4-nano", 400_000, 0.2, 1.25, 0.02),
  row("gpt-5.4-mini", 400_000, 0.75, 4.5, 0.075),
  row("gpt-5.4", 1_050_000, 2.5, 15, 0.25),
  row("gpt-5.3-codex-spark", 128_000),
  row("gpt-5.1-chat", 128_000),
  priced("gpt-5.2", 1.75, 14, 0.175),
  priced("gpt-5.1", 1.25, 10, 0.125),
  priced("gpt-5-nano", 0.05, 0.4, 0.005),
  priced("gpt-5-mini", 0.25, 2, 0.025),
  row("gpt-5", 400_000, 1.25, 10, 0.125),
  priced("gpt-4.1-nano", 0.1, 0.4, 0.025),
  priced("gpt-4.1-mini", 0.4, 1.6, 0.1),
  row("gpt-4.1", 1_047_576, 2, 8, 0.5),
  priced("gpt-4o-mini", 0.15, 0.6, 0.075),
  priced("gpt-4o", 2.5, 10, 1.25),
  row("gpt-4", 128_000),
  row("gpt-oss", 131_072),
  priced("o4-mini", 1.1, 4.4, 0.275),
  priced("o3-mini", 1.1, 4.4, 0.55),
  priced("o3", 2, 8, 0.5),
];

const GOOGLE: readonly ModelRow[] = [
  priced("gemini-3.1-flash-lite", 0.25, 1.5, 0.025),
  priced("gemini-3.1-pro", 2, 12, 0.2),
  priced("gemini-3-pro", 2, 12, 0.2),
  priced("gemini-3-flash", 0.5, 3, 0.05),
  priced("gemini-2.5-pro", 1.25, 10, 0.125),
  priced("gemini-2.5-flash-lite", 0.1, 0.4, 0.01),
  priced("gemini-2.5-flash", 0.3, 2.5, 0.03),
  row("gemini", 1_048_576),
  row("gemma-4", 256_000),
  row("gemma4", 256_000),
  row("gemma-3", 131_072),
  row("gemma3", 131_072),
  row("gemma", 8_192),
];

const XAI: readonly ModelRow[] = [
  row("grok-4.6", 500_000, 2, 6),
  row("grok-4.5", 500_000, 2, 6),
  row("grok-4.3", MILLION, 1.25, 2.5, 0.2),
  row("grok-4.20", 2 * MILLION),
  row("grok-4-1-fast", 2 * MILLION),
  row("grok-4-fast", 2 * MILLION, 0.2, 0.5, 0.05),
  row("grok-4", 256_000, 3, 15, 0.75),
  priced("grok-3-mini", 0.3, 0.5, 0.075),
  row("grok-3", 131_072, 3, 15, 0.75),
  row("grok-2-vision", 8_192),
  row("grok-code-fast", 256_000),
  row("grok", 131_072),
];

const DEEPSEEK: readonly ModelRow[] = [
  row("deepseek-v4-pro", MILLION, 1.74, 3.48, 0.0145),
  row("deepseek-v4", MILLION),
  row("deepseek-flash", MILLION),
  row("deepseek-pro", MILLION),
  row("deepseek-chat", MILLION, 0.28, 0.42, 0.028),
  row("deepseek-reasoner", MILLION, 0.28, 0.42, 0.028),
  row("deepseek-v3.2", 65_536),
  priced("deepseek-v3", 0.28, 0.42, 0.028),
  row("deepseek", 128_000),
];

const MOONSHOT: readonly ModelRow[] = [
  priced("kimi-k2-turbo", 1.15, 8, 0.15),
  priced("kimi-k2", 0.6, 2.5, 0.15),
  row("kimi", 262_144),
];

const ZAI: readonly ModelRow[] = [
  row("glm-5.3", 1_050_000, 1.4, 4.4),
  priced("glm-5", 1, 3.2, 0.2),
  priced("glm-4.6", 0.6, 2.2, 0.11),
  priced("glm-4.5-flash", 0, 0, 0),
  priced("glm-4.5", 0.6, 2.2, 0.11),
  row("glm", 202_752),
];

const MINIMAX: readonly ModelRow[] = [
  // The maker names half a million to a million tokens; the lower figure is safe.
  row("minimax-m3", 500_000),
  priced("minimax-m2.7", 0.3, 1.2, 0.06, 0.375),
  priced("minimax-m2.5", 0.3, 1.2, 0.03, 0.375),
  priced("minimax-m2", 0.3, 1.2, 0.03, 0.375),
  row("minimax", 204_800),
];

/** Prices of Anthropic's and Amazon's models on Bedrock, which has other names. */
const BEDROCK: readonly ModelRow[] = [
  priced("anthropic.claude-opus-4-6", 15, 75),
  priced("anthropic.claude-sonnet-4-6", 3, 15),
  priced("anthropic.claude-sonnet-4-5", 3, 15),
  priced("anthropic.claude-haiku-4-5", 0.8, 4),
  priced("amazon.nova-pro", 0.8, 3.2),
  priced("amazon.nova-lite", 0.06, 0.24),
  priced("amazon.nova-micro", 0.035, 0.14),
];

/** Windows of models that several hosts serve. */
const OPEN_WEIGHTS: readonly ModelRow[] = [
  row("qwen3.8", MILLION),
  row("qwen3-coder-plus", MILLION),
  row("qwen3-coder", 262_144),
  row("qwen", 131_072),
  row("llama", 131_072),
  row("nemotron", 131_072),
  row("trinity", 262_144),
  row("hy3-preview", 262_144),
  row("mimo-v2.5", 1_048_576),
  row("mimo-v2-pro", 1_048_576),
  row("mimo-v2-omni", 262_144),
  row("mimo-v2-flash", 262_144),
  row("codestral", 256_000),
  row("devstral", 256_000),
  row("mistral", 131_072),
  row("magistral", 131_072),
  row("ministral", 131_072),
  row("command-a", 256_000),
  row("sonar", 128_000),
];

export const MODEL_DATA: readonly MakerData[] = [
  {
    providers: ["anthropic"],
    source: "https://platform.claude.com/docs/en/about-claude/pricing",
    read: "2026-11",
    rows: ANTHROPIC,
  },
  {
    providers: ["openai"],
    source: "https://developers.openai.com/api/docs/pricing",
    read: "2026-11",
    rows: OPENAI,
  },
  {
    providers: ["openai"],
    source: "https://benchr.org/pricing",
    thirdParty: true,
    read: "2026-11",
    rows: [priced("gpt-5.5-pro", 30, 180)],
  },
  {
    providers: ["gemini"],
    source: "https://ai.google.dev/gemini-api/docs/pricing",
    read: "2026-05",
    rows: GOOGLE,
  },
  {
    providers: ["gemini"],
    source: "https://vercel.com/ai-gateway/models",
    thirdParty: true,
    read: "2026-11",
    rows: [priced("gemini-3.8-flash", 0.75, 3.75)],
  },
  { providers: ["xai"], source: "https://docs.x.ai/docs/models", read: "2026-11", rows: XAI },
  {
    providers: ["deepseek"],
    source: "https://api-docs.deepseek.com/quick_start/pricing",
    read: "2026-11",
    rows: DEEPSEEK,
  },
  {
    providers: ["kimi-coding"],
    source: "https://platform.moonshot.ai/docs/pricing",
    read: "2026-05",
    rows: MOONSHOT,
  },
  {
    providers: ["kimi-coding"],
    source: "https://docs.venice.ai/overview/pricing",
    thirdParty: true,
    read: "2026-11",
    rows: [priced("kimi-k3", 3.75, 18.75)],
  },
  { providers: ["zai"], source: "https://docs.z.ai/guides/overview/pricing", read: "2026-11", rows: ZAI },
  {
    providers: ["minimax", "minimax-cn"],
    source: "https://platform.minimax.io/docs/guides/pricing",
    read: "2026-05",
    rows: MINIMAX,
  },
  { providers: ["bedrock"], source: "https://aws.amazon.com/bedrock/pricing/", read: "2026-04", rows: BEDROCK },
  { providers: [], source: "model cards of the makers", read: "2026-05", rows: OPEN_WEIGHTS },
];
