// Model names as their makers spell them. Gateways prefix the maker: `anthropic/claude-sonnet-4.6`.

const MAKERS: { readonly [provider: string]: readonly string[] } = {
  anthropic: ["anthropic"],
  openai: ["openai"],
  xai: ["x-ai", "xai"],
  gemini: ["google", "gemini"],
  zai: ["z-ai", "zai"],
  "kimi-coding": ["moonshotai", "kimi"],
  "kimi-coding-cn": ["moonshotai", "kimi"],
  minimax: ["minimax"],
  "minimax-cn": ["minimax"],
  alibaba: ["qwen", "alibaba"],
  deepseek: ["deepseek"],
  stepfun: ["stepfun", "stepfun-ai"],
  arcee: ["arcee-ai"],
  xiaomi: ["xiaomi"],
};

/** The name to send to that provider; unchanged where the provider uses such prefixes. */
export function nativeName(provider: string, model: string): string {
  const slash = model.indexOf("/");
  const maker = model.slice(0, slash).toLowerCase();
  const bare = slash > 0 && MAKERS[provider]?.includes(maker) ? model.slice(slash + 1) : model;
  return provider === "anthropic" ? bare.replace(/(?<=\d)\.(?=\d)/g, "-") : bare;
}
