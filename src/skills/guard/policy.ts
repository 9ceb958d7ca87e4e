// Decides from trust and verdict. A dangerous verdict is overridden only by a user who has read its findings.
import type { GuardReport, GuardVerdict } from "./finding.ts";

export type TrustLevel = "builtin" | "official" | "trusted" | "community" | "agent-created";
export type GuardAction = "allow" | "block" | "ask";

const POLICY: { readonly [trust in TrustLevel]: { readonly [verdict in GuardVerdict]: GuardAction } } = {
  builtin: { safe: "allow", caution: "allow", dangerous: "allow" },
  official: { safe: "allow", caution: "allow", dangerous: "allow" },
  trusted: { safe: "allow", caution: "allow", dangerous: "block" },
  community: { safe: "allow", caution: "block", dangerous: "block" },
  "agent-created": { safe: "allow", caution: "allow", dangerous: "ask" },
};

export interface GuardDecision {
  readonly action: GuardAction;
  /** True when `--force` lifts the block. */
  readonly overridable: boolean;
  readonly reason: string;
}

function summarizeFindings(report: GuardReport): string {
  const serious = report.findings.filter((finding) => finding.severity !== "low");
  if (serious.length === 0) return "nothing found";
  const kinds = [...new Set(serious.map((finding) => finding.pattern_id))];
  return `${serious.length} finding${serious.length === 1 ? "" : "s"}: ${kinds.slice(0, 6).join(", ")}${kinds.length > 6 ? " …" : ""}`;
}

export function decide(
  report: GuardReport,
  trust: TrustLevel,
  options: { readonly force?: boolean | undefined } = {},
): GuardDecision {
  // A conversation may have been manipulated into writing a skill, so a suspicion is enough to ask the user.
  const suspect = trust === "agent-created" && report.findings.some((finding) => finding.unconfirmed);
  const action = suspect ? "ask" : POLICY[trust][report.verdict];
  const overridable = action === "block" && report.verdict !== "dangerous";
  const reason = `${trust} skill, verdict ${report.verdict} (${summarizeFindings(report)})`;
  if (overridable && options.force) return { action: "allow", overridable, reason: `${reason}; allowed by --force` };
  return { action, overridable, reason };
}

const TRUSTED_REPOSITORIES = ["openai/skills", "anthropics/skills", "huggingface/skills"];

/** The trust level of a hub identifier. A trusted name must match a whole path component. */
export function trustLevel(identifier: string): TrustLevel {
  const id = identifier.replace(/^(?:skills-sh|skills\.sh)\//, "");
  if (id === "builtin") return "builtin";
  if (id === "agent-created") return "agent-created";
  if (id === "official" || id.startsWith("official/")) return "official";
  const trusted = TRUSTED_REPOSITORIES.some((repository) => id === repository || id.startsWith(`${repository}/`));
  return trusted ? "trusted" : "community";
}
