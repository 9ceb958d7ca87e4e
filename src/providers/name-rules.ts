// What the name of a model says about its interface. Read in 2026-11 from the makers' documentation.
import type { ReasoningEffort } from "../core/model/provider.ts";

/** The name of the model without its maker: `openai/gpt-5` → `gpt-5`. */
export function bareModel(model: string): string {
  return model.slice(model.lastIndexOf("/") + 1).toLowerCase();
}

/** The version of a GPT model: 5.4 for `gpt-5.4-mini`; undefined for other names. */
function gptVersion(model: string): number | undefined {
  const found = /^gpt-(\d+)(?:[.-](\d{1,2})(?!\d))?(?![\da-z])/.exec(bareModel(model));
  return found ? Number(found[1]) + Number(found[2] ?? 0) / 100 : undefined;
}

/** GPT since version 5: tools and reasoning need the Responses interface. */
export function isResponsesModel(model: string): boolean {
  return (gptVersion(model) ?? 0) >= 5;
}

/** OpenAI's reasoning models accept no temperature and have another field for the output limit. */
export function isReasoningModel(model: string): boolean {
  return isResponsesModel(model) || /^(o[1345](-|$)|codex)/.test(bareModel(model));
}

/** Models that take the system prompt in the role `developer`. */
export function takesDeveloperRole(model: string): boolean {
  return isResponsesModel(model) || bareModel(model).includes("codex");
}

/** The efforts that GPT accepts changed with its versions; the nearest accepted one is sent. */
export function gptEffort(model: string, effort: ReasoningEffort): ReasoningEffort {
  const version = gptVersion(model);
  if (version === undefined) return effort;
  if (version < 5.01) return effort === "none" ? "minimal" : effort === "xhigh" ? "high" : effort;
  if (version >= 6 && effort === "none") return "low";
  if (effort === "minimal") return "low";
  return effort === "xhigh" && version < 5.02 ? "high" : effort;
}

/** The `thinking_level` of Gemini since version 3. Pro models cannot stop thinking. */
export function geminiLevel(model: string, effort: ReasoningEffort): string {
  const pro = /pro/.test(model);
  if (effort === "none" || effort === "minimal") return pro ? "low" : "minimal";
  if (effort === "low") return "low";
  if (effort === "medium") return /gemini-3-pro/.test(model) ? "high" : "medium";
  return "high";
}
