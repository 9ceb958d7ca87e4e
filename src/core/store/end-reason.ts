// Why a session ended: the values of `sessions.end_reason`. v0.14 writes the same words where it ends sessions.
import type { TurnEnd } from "../event.ts";

export type ClosingReason =
  /** The terminal, `-q` or `-z` closed. */
  | "cli_close"
  /** `/new` and `/clear` in the terminal. */
  | "new_session"
  /** `/resume` in the terminal. */
  | "resumed_other"
  | "branched"
  /** A program that uses the library closed the conversation. */
  | "library_close"
  /** The API server answered a request; the next one of the same client opens the session again. */
  | "api_close";

/** The reason to store when a conversation closes: a turn that ran out of model calls is worth more than the way it closed. */
export function endReason(closing: ClosingReason, lastTurn?: TurnEnd | undefined): string {
  return lastTurn === "budget" ? "max_iterations" : closing;
}
