// One case that the gate decides, and the approval request for it.
import type { GateContext, Intent } from "../../core/gate.ts";
import type { ApprovalRequest } from "../../core/human.ts";
import type { Effect } from "./effects.ts";
import type { ExecutionIntent } from "./guest-access.ts";
import { HOME_RULES } from "./rules/protected-path-rules.ts";

export interface GateCase {
  readonly intent: Intent;
  readonly context: GateContext;
  readonly effects: readonly Effect[];
  readonly key: string;
  readonly action: string;
}

/** A script that runs without a sandbox always needs approval. */
export const UNCONTAINED: Effect = {
  rule: "uncontained_script",
  category: "execution",
  level: "dangerous",
  reason:
    "runs a script with all permissions of your account, because bubblewrap is not available (install the package bubblewrap to sandbox scripts, or turn approvals off with --yolo)",
  targets: [],
};

export function describeAction(intent: ExecutionIntent): string {
  if (intent.kind === "command") return intent.command;
  if (intent.kind === "input") return `input for "${intent.command}":\n${intent.text}`;
  return `${intent.language} program:\n${intent.code}`;
}

export function joinReasons(effects: readonly Effect[]): string {
  return [...new Set(effects.filter((effect) => effect.level !== "note").map((effect) => effect.reason))].join("; ");
}

/** The same case for a tainted turn: names the source of the untrusted text. */
export function withTaintOrigin(subject: GateCase): GateCase {
  const origin = subject.context.origin ? ` (${subject.context.origin})` : "";
  const explain = (effect: Effect): Effect =>
    HOME_RULES.has(effect.rule)
      ? { ...effect, reason: `${effect.reason} after reading untrusted text${origin}` }
      : effect;
  // Automatic approvers recognise `tainted_home` in the key and must not approve it.
  const key = `exact [tainted_home] in session: ${subject.action}`;
  return { ...subject, key, effects: subject.effects.map(explain) };
}

const OWNER_CATEGORIES: ReadonlySet<Effect["category"]> = new Set([
  "self",
  "credentials",
  "protected_file",
  "persistence",
  "sudo",
  "guest",
]);

/** True when the action concerns the agent, the machine or the keys of the owner. */
function concernsOwner({ intent, effects }: GateCase): boolean {
  if (intent.kind === "durable") return intent.what === "skill" || intent.what === "config";
  return effects.some(({ category, level }) => level !== "note" && OWNER_CATEGORIES.has(category));
}

export function buildApprovalRequest(subject: GateCase, choices: ApprovalRequest["choices"]): ApprovalRequest {
  const { action, effects, key, context } = subject;
  const stopping = effects.filter(({ level, command }) => level !== "note" && command !== undefined);
  const flagged = [...new Set(stopping.map(({ command }) => command ?? ""))];
  const parts = flagged.length > 0 ? { flagged } : {};
  const ownerOnly = context.human.guest === true && concernsOwner(subject);
  const request = { action, reason: joinReasons(effects), intent: key, choices, toolName: context.toolName, ...parts };
  return ownerOnly ? { ...request, ownerOnly } : request;
}
