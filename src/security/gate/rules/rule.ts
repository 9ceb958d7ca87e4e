// The form of a shell rule: one row says which programs it looks at and what it finds.
import type { Category, Effect, Level } from "../effects.ts";
import { type Invocation, programOf, type ShellEnvironment, UNKNOWN, type Word } from "../shell/shell-types.ts";
import { absolutePath } from "../shell/shell-walk.ts";

export interface ShellRule {
  readonly id: string;
  readonly category: Category;
  readonly level: Level;
  readonly reason: string;
  /** Descriptions under which older homes keep a permanent approval for this rule. */
  readonly legacy?: readonly string[] | undefined;
  /** Programs it looks at; all when absent. */
  readonly programs?: readonly string[] | undefined;
  /** The targets when it applies, null when it does not. */
  match(invocation: Invocation, host: ShellEnvironment): readonly string[] | null;
}

/** The paths of words, for targets. */
export function paths(words: readonly Word[], invocation: Invocation, host: ShellEnvironment): string[] {
  return words.map((word) => absolutePath(word.text, invocation.cwd, host));
}

/** The invocation as one line; parts that are only known at run time are `…`. */
function commandText({ name, args }: Invocation): string {
  return [name, ...args].map(({ text }) => text.replaceAll(UNKNOWN, "…")).join(" ");
}

/** Applies the rules to one invocation. */
export function applyRules(rules: readonly ShellRule[], invocation: Invocation, host: ShellEnvironment): Effect[] {
  const program = programOf(invocation);
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
