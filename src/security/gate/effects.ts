// The effects of a command: what rules produce and what denials and allow lists compare.
import type { Invocation } from "./shell/shell-types.ts";

/** `hardline` is never allowed, `dangerous` needs approval, `note` is only compared with earlier denials. */
export type Level = "hardline" | "dangerous" | "note";

export type Category =
  | "deletion"
  | "permissions"
  | "disk"
  | "sql"
  | "protected_file"
  | "service"
  | "execution"
  | "self"
  | "git"
  | "sudo"
  | "persistence"
  | "container"
  | "credentials"
  | "remote"
  | "shutdown"
  | "unreadable"
  | "address"
  | "guest"
  | "publishing"
  | "policy"
  | "durable";

export interface Effect {
  readonly rule: string;
  readonly category: Category;
  readonly level: Level;
  /** Why it was stopped, shown to the user; completes the sentence "it …". */
  readonly reason: string;
  /** Absolute paths or names that it acts on; empty when unknown. */
  readonly targets: readonly string[];
  /** The single command with this effect, highlighted in the approval prompt when the text has several. */
  readonly command?: string | undefined;
}

export interface Analysis {
  readonly effects: readonly Effect[];
  /** The normalised text that allow-list entries are compared with. */
  readonly normal: string;
  /** Why the text is refused without analysis, and how to write it instead. */
  readonly refusal?: string | undefined;
  /** The source of text from outside the workspace that the output may contain; null for local output. */
  readonly outside: string | null;
  /** Every command that would run, nested ones included. */
  readonly invocations: readonly Invocation[];
  /** True when the whole text was parsed and sets no variables. */
  readonly readable: boolean;
}

/** True for an effect that reports text that could not be checked. */
export function isUnchecked(effect: Effect): boolean {
  return effect.category === "unreadable";
}

/** The worst level; null without effects. */
export function worstLevel(effects: readonly Effect[]): Level | null {
  if (effects.some((effect) => effect.level === "hardline")) return "hardline";
  if (effects.some((effect) => effect.level === "dangerous")) return "dangerous";
  return effects.length > 0 ? "note" : null;
}
