// Which denied actions are kept for the user's review, and how they are described there.
import { basename } from "node:path";
import { relativeTo } from "../protected-paths.ts";
import type { GateCase } from "./gate-case.ts";
import { HOME_RULES } from "./rules/protected-path-rules.ts";

/** Files in a project that become part of the prompt of later conversations. */
export const INSTRUCTION_FILES = /^(?:agents|claude|gemini|\.?hermes|soul)\.md$|^\.cursorrules$|\.mdc$/i;

export function isInstructionFile(path: string): boolean {
  return INSTRUCTION_FILES.test(basename(path));
}

/** Text files of a home that a user can judge. Databases, logs and keys are never proposed. */
const PROPOSABLE =
  /^(?:profiles\/[^/]+\/)?(?:soul\.md|memories\/.*\.md|config\.yaml|webhook_subscriptions\.json|cron\/jobs\.json|(?:skills|hooks|plugins|scripts)\/.+)$/i;

export function isProposableFile(path: string, hermesHomes: readonly string[]): boolean {
  const own = relativeTo(hermesHomes, path);
  return own === null ? isInstructionFile(path) : PROPOSABLE.test(own);
}

export interface Proposal {
  readonly what: string;
  readonly summary: string;
  readonly origin: string;
}

/** The tools whose call can be repeated later with the same effect. */
const FILE_TOOLS = new Set(["write_file", "patch"]);

/** Undefined when the action is not kept: it is no lasting change, or repeating it later could do something else. */
export function proposalFor(subject: GateCase, hermesHomes: readonly string[]): Proposal | undefined {
  const { intent, context, effects } = subject;
  const origin = context.origin ?? "no untrusted text";
  if (intent.kind === "durable") return { what: intent.what, summary: intent.summary, origin };
  if (intent.kind !== "write" || !FILE_TOOLS.has(context.toolName)) return undefined;
  const target = effects.find(({ rule }) => HOME_RULES.has(rule) || rule === "tainted_instructions")?.targets[0];
  if (target === undefined || !isProposableFile(target, hermesHomes)) return undefined;
  return { what: "file", summary: `write ${target}`, origin };
}
