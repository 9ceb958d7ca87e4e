// One case that the gate decides, and the question that a user is asked about it.
import type { GateContext, Intent } from "../../core/gate.ts";
import type { ApprovalRequest } from "../../core/human.ts";
import type { Effect } from "./effects.ts";
import type { ExecutionIntent } from "./guest-access.ts";
import { HOME_RULES } from "./rules/places.ts";

export interface Case {
  readonly intent: Intent;
  readonly context: GateContext;
  readonly effects: readonly Effect[];
  readonly key: string;
  readonly action: string;
}

export function actionOf(intent: ExecutionIntent): string {
  if (intent.kind === "command") return intent.command;
  if (intent.kind === "input") return `input for "${intent.command}":\n${intent.text}`;
  return `${intent.language} program:\n${intent.code}`;
}

export function reasonOf(effects: readonly Effect[]): string {
  return [...new Set(effects.filter((effect) => effect.level !== "note").map((effect) => effect.reason))].join("; ");
}

/** The same question, with where the text of the conversation came from. */
export function afterOutside(subject: Case): Case {
  const origin = subject.context.origin ? ` (${subject.context.origin})` : "";
  const told = (effect: Effect): Effect =>
    HOME_RULES.has(effect.rule)
      ? { ...effect, reason: `${effect.reason} after reading text from outside${origin}` }
      : effect;
  // The name of the rule in the key tells those who answer for the owner that nobody may say yes by rule.
  const key = `exact [tainted_home] in session: ${subject.action}`;
  return { ...subject, key, effects: subject.effects.map(told) };
}

export function requestOf(subject: Case, choices: ApprovalRequest["choices"]): ApprovalRequest {
  const { action, effects, key, context } = subject;
  const stopping = effects.filter(({ level, command }) => level !== "note" && command !== undefined);
  const flagged = [...new Set(stopping.map(({ command }) => command ?? ""))];
  const parts = flagged.length > 0 ? { flagged } : {};
  return { action, reason: reasonOf(effects), intent: key, choices, toolName: context.toolName, ...parts };
}
