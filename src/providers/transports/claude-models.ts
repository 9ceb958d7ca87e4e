// Differences between Claude models: output limits, thinking, sampling parameters.
import type { ReasoningEffort } from "../../core/model/provider.ts";

export interface ClaudeModel {
  readonly family: "opus" | "sonnet" | "haiku" | "other";
  /** 4.6 for `claude-opus-4-6`; 3.5 for `claude-3-5-sonnet`. */
  readonly version: number;
}

/** Family and version from a model's name, with or without a vendor prefix and a date; null for other models. */
export function claudeModel(name: string): ClaudeModel | null {
  const model = name.toLowerCase();
  if (!model.includes("claude")) return null;
  const family = (["opus", "sonnet", "haiku"] as const).find((name) => model.includes(name)) ?? "other";
  // A minor version has one or two digits; a date has eight.
  const after = /claude-[a-z]+-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  const before = /claude-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  const found = after ?? before;
  return { family, version: found ? Number(found[1]) + Math.min(9, Number(found[2] ?? 0)) / 10 : 0 };
}

/** The most output tokens of one answer. */
export function outputCeiling(name: string): number {
  const model = claudeModel(name);
  if (!model || model.version === 0) return 128_000;
  const { family, version } = model;
  if (version >= 5) return 128_000;
  if (version < 3.5) return 4_096;
  if (version < 3.7) return 8_192;
  if (family === "opus") return version >= 4.6 ? 128_000 : version >= 4.5 ? 64_000 : 32_000;
  return 64_000;
}

/** Since version 4.7 sampling parameters are refused. */
export function takesSampling(name: string): boolean {
  return (claudeModel(name)?.version ?? 0) < 4.7;
}

export type ThinkingMode = "adaptive" | "budget" | "none";

export function thinkingMode(name: string): ThinkingMode {
  const model = claudeModel(name);
  if (!model || model.version < 3.7 || (model.family === "haiku" && model.version < 5)) return "none";
  return model.version >= 4.6 ? "adaptive" : "budget";
}

export const THINKING_BUDGET: Record<ReasoningEffort, number> = {
  none: 0,
  minimal: 4_000,
  low: 4_000,
  medium: 8_000,
  high: 16_000,
  xhigh: 32_000,
};

/** The effort value for adaptive thinking; the highest one has another name before 4.7. */
export function adaptiveEffort(name: string, effort: ReasoningEffort): string {
  if (effort === "minimal") return "low";
  if (effort !== "xhigh") return effort;
  return (claudeModel(name)?.version ?? 0) >= 4.7 ? "xhigh" : "max";
}
