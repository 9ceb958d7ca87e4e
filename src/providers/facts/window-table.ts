// Context windows of model families, in tokens. The longest matching part of the model name wins.

export const DEFAULT_WINDOW = 256_000;

const FAMILIES: readonly (readonly [string, number])[] = [
  ["claude-opus-4-7", 1_000_000],
  ["claude-opus-4-6", 1_000_000],
  ["claude-sonnet-4-6", 1_000_000],
  ["claude", 200_000],
  ["gpt-5-5", 1_050_000],
  ["gpt-5-4", 1_050_000],
  ["gpt-5-4-mini", 400_000],
  ["gpt-5-4-nano", 400_000],
  ["gpt-5", 400_000],
  ["gpt-4-1", 1_047_576],
  ["gpt-4", 128_000],
  ["gemini", 1_048_576],
  ["gemma-4", 256_000],
  ["gemma-3", 131_072],
  ["deepseek-v4", 1_000_000],
  ["deepseek-chat", 1_000_000],
  ["deepseek-reasoner", 1_000_000],
  ["deepseek", 128_000],
  ["llama", 131_072],
  ["qwen", 131_072],
  ["qwen3-coder", 262_144],
  ["qwen3-coder-plus", 1_000_000],
  ["minimax", 204_800],
  ["glm", 202_752],
  ["grok-4", 256_000],
  ["grok-4-fast", 2_000_000],
  ["grok-4-3", 1_000_000],
  ["grok", 131_072],
  ["kimi", 262_144],
  ["nemotron", 131_072],
  ["trinity", 262_144],
];

/** The window of the family; undefined for unknown names. Dots and underscores count as dashes. */
export function familyWindow(model: string): number | undefined {
  const name = model.toLowerCase().replace(/[._]/g, "-");
  let best: readonly [string, number] | undefined;
  for (const family of FAMILIES) {
    if (name.includes(family[0]) && family[0].length > (best?.[0].length ?? 0)) best = family;
  }
  return best?.[1];
}
