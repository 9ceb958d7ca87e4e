// The shape of a shell rule, and how rules are applied to an invocation.
import type { Category, Effect, Level } from "../effects.ts";
import { type Invocation, programName, type ShellEnvironment, UNKNOWN, type Word } from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";

export interface ShellRule {
  readonly id: string;
  readonly category: Category;
  readonly level: Level;
  readonly reason: string;
  /** Descriptions under which Hermes 0.14 stored permanent approvals for this rule. */
  readonly legacy?: readonly string[] | undefined;
  /** Programs that the rule applies to; all when absent. */
  readonly programs?: readonly string[] | undefined;
  /** The targets when the rule matches, null otherwise. */
  match(invocation: Invocation, host: ShellEnvironment): readonly string[] | null;
}

/** The list without duplicates; null when it is empty: a rule without targets does not match. */
export function nonEmpty(list: readonly string[]): readonly string[] | null {
  return list.length > 0 ? [...new Set(list)] : null;
}

/** The absolute paths of words. */
export function paths(words: readonly Word[], invocation: Invocation, host: ShellEnvironment): string[] {
  return words.map((word) => absolutePath(word.text, invocation.cwd, host));
}

/** The invocation as one line; parts that are only known at run time are `…`. */
function commandText({ name, args }: Invocation): string {
  return [name, ...args].map(({ text }) => text.replaceAll(UNKNOWN, "…")).join(" ");
}

/** Applies the rules to one invocation. */
export function applyRules(rules: readonly ShellRule[], invocation: Invocation, host: ShellEnvironment): Effect[] {
  const program = programName(invocation);
  const effects: Effect[] = [];
  for (const rule of rules) {
    if (rule.programs && !rule.programs.includes(program)) continue;
    const targets = rule.match(invocation, host);
    if (targets === null) continue;
    const known = targets.filter((target) => !target.startsWith(UNKNOWN));
    const command = commandText(invocation);
    const { id, category, level, reason } = rule;
    effects.push({ rule: id, category, level, reason, targets: known, command });
  }
  return effects;
}
