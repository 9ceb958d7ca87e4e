// What a command does that matters: the currency of rules, denials and allow-lists.
import type { Invocation } from "./shell/shell-types.ts";

/** `hardline` is never allowed, `dangerous` needs consent, `note` matters only when a like thing was denied. */
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
  | "durable";

export interface Effect {
  readonly rule: string;
  readonly category: Category;
  readonly level: Level;
  /** For the person: why it was stopped. */
  readonly reason: string;
  /** Absolute paths or names it acts on; empty when they are not known. */
  readonly targets: readonly string[];
  /** The command that has the effect, where it is one of several: for the question to the person. */
  readonly command?: string | undefined;
}

export interface Analysis {
  readonly effects: readonly Effect[];
  /** The text without blanks at its ends: what an allow-list entry compares. */
  readonly normal: string;
  /** Why the text is not judged at all, with the way to write it instead. */
  readonly refusal?: string | undefined;
  /** Where text from outside the workspace comes from that the output may hold; null when it is plainly local. */
  readonly outside: string | null;
  /** Every command that would run, also inside others. */
  readonly invocations: readonly Invocation[];
  /** The grammar could read all of it, and it sets no variables. */
  readonly readable: boolean;
}

/** True for an effect that says: this text could not be checked. */
export function isUnchecked(effect: Effect): boolean {
  return effect.category === "unreadable";
}

/** The worst level, or null when nothing was found. */
export function worstOf(effects: readonly Effect[]): Level | null {
  if (effects.some((effect) => effect.level === "hardline")) return "hardline";
  if (effects.some((effect) => effect.level === "dangerous")) return "dangerous";
  return effects.length > 0 ? "note" : null;
}
