// A standing goal of a session: the agent continues after each turn until a judge says that the goal is reached.
import type { TurnEnd } from "./event.ts";

export type GoalStatus = "active" | "paused" | "done" | "cleared";

export interface Goal {
  readonly text: string;
  readonly status: GoalStatus;
  /** Turns that were judged since the goal was set or resumed. */
  readonly turnsUsed: number;
  readonly maxTurns: number;
  /** Further criteria, which the judge checks too. */
  readonly subgoals: readonly string[];
  readonly lastReason?: string | undefined;
  readonly pausedReason?: string | undefined;
}

/** What follows a turn: the message that continues toward the goal, and a line for the user. */
export interface GoalStep {
  readonly send?: string | undefined;
  readonly notice?: string | undefined;
}

/** The goal of one conversation; stored with its session, so that it survives a restart and a compaction. */
export interface Goals {
  /** Null when there is none, or it was cleared. */
  get(): Promise<Goal | null>;
  /** Replaces the goal. */
  set(text: string): Promise<Goal>;
  /** Null when there is no goal. Only an active goal is paused; resuming resets the count of turns. */
  pause(reason?: string): Promise<Goal | null>;
  resume(): Promise<Goal | null>;
  clear(): Promise<boolean>;
  setSubgoals(subgoals: readonly string[]): Promise<Goal | null>;
  /** The message that starts or continues work on an active goal. */
  continuation(goal: Goal): string;
  /** Judges the turn. An empty step when there is no active goal. Never throws. */
  afterTurn(turn: { readonly end: TurnEnd; readonly text: string }, signal: AbortSignal): Promise<GoalStep>;
}
