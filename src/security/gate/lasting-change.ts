// Rules about changes that last beyond the conversation: consent in the user's own words, guests, project instructions.
import type { GateContext, Intent } from "../../core/gate.ts";
import { isUsersOwnText } from "../own-words.ts";
import type { Analysis, Effect } from "./effects.ts";
import type { ExecutionIntent } from "./guest-access.ts";
import { isInstructionFile } from "./proposed-change.ts";
import { writeTargets } from "./rules/write-targets.ts";

/** True when the user asked for exactly this text in their own words. */
export function isAskedFor(intent: Extract<Intent, { kind: "durable" | "send" }>, context: GateContext): boolean {
  if (intent.kind !== "durable" || intent.text === undefined || !context.userTexts) return false;
  return isUsersOwnText(intent.text, context.userTexts());
}

export function taintedInstructions(path: string, context: GateContext): Effect {
  const origin = context.origin ? ` (${context.origin})` : "";
  const reason = `would change instructions for later conversations after reading untrusted text${origin}`;
  return { rule: "tainted_instructions", category: "durable", level: "dangerous", reason, targets: [path] };
}

/** Skills and settings affect every user of the home: a guest's change needs the owner's approval. */
export function guestReason(intent: Extract<Intent, { kind: "durable" }>, context: GateContext): string | undefined {
  if (!context.human.guest || intent.what === "memory" || intent.what === "cron") return undefined;
  return `would change ${intent.what === "skill" ? "a skill" : "the configuration"} for all users on behalf of a guest`;
}

/** The name of an instruction file in a script. */
const NAMED_IN_CODE = /(?:AGENTS|CLAUDE|GEMINI|HERMES|SOUL)\.md|\.cursorrules|\.mdc\b/i;

/** Effects of a command or script that would change a project's instructions, in a tainted turn. */
export function instructionWrites(
  intent: ExecutionIntent,
  analysis: Analysis,
  context: GateContext,
  homes: { readonly userHome: string; readonly hermesHome: string },
): Effect[] {
  const effects = (paths: readonly string[]) => paths.map((path) => taintedInstructions(path, context));
  if (intent.kind === "code") return NAMED_IN_CODE.test(intent.code) ? effects(["a project's instructions"]) : [];
  const host = { ...homes, cwd: intent.cwd, workspace: context.workspace };
  const written = analysis.invocations.flatMap((invocation) => writeTargets(invocation, host));
  return effects([...new Set(written.filter(isInstructionFile))]);
}

export function writesInstructions(effect: Effect): boolean {
  return effect.rule === "tainted_instructions";
}
