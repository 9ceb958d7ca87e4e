// The stored form of a goal: JSON under `goal:<session>` with the names that Hermes Agent uses.
import type { Goal, GoalStatus } from "../../core/goal.ts";
import { isRecord } from "../../lib/json/is-record.ts";

export interface GoalRecord {
  readonly goal: string;
  readonly status: GoalStatus;
  readonly turns_used: number;
  readonly max_turns: number;
  readonly created_at: number;
  readonly last_turn_at: number;
  readonly last_verdict: string | null;
  readonly last_reason: string | null;
  readonly paused_reason: string | null;
  readonly consecutive_parse_failures: number;
  readonly subgoals: readonly string[];
}

const STATUSES: readonly unknown[] = ["active", "paused", "done", "cleared"] satisfies GoalStatus[];

export function goalKey(sessionId: string): string {
  return `goal:${sessionId}`;
}

export function newGoal(text: string, maxTurns: number, now: number): GoalRecord {
  return {
    goal: text,
    status: "active",
    turns_used: 0,
    max_turns: maxTurns,
    created_at: now,
    last_turn_at: 0,
    last_verdict: null,
    last_reason: null,
    paused_reason: null,
    consecutive_parse_failures: 0,
    subgoals: [],
  };
}

const number = (value: unknown, fallback: number): number => (typeof value === "number" ? value : fallback);
const textOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Null for a text that is not a goal. */
export function parseGoal(text: string | null, maxTurns: number): GoalRecord | null {
  if (text === null) return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Not written by this program or by Hermes Agent.
    return null;
  }
  if (!isRecord(value) || typeof value.goal !== "string" || !STATUSES.includes(value.status)) return null;
  const subgoals = Array.isArray(value.subgoals) ? value.subgoals : [];
  return {
    goal: value.goal,
    status: value.status as GoalStatus,
    turns_used: number(value.turns_used, 0),
    max_turns: number(value.max_turns, maxTurns),
    created_at: number(value.created_at, 0),
    last_turn_at: number(value.last_turn_at, 0),
    last_verdict: textOrNull(value.last_verdict),
    last_reason: textOrNull(value.last_reason),
    paused_reason: textOrNull(value.paused_reason),
    consecutive_parse_failures: number(value.consecutive_parse_failures, 0),
    subgoals: subgoals.filter((each): each is string => typeof each === "string"),
  };
}

export function toGoal(record: GoalRecord): Goal {
  return {
    text: record.goal,
    status: record.status,
    turnsUsed: record.turns_used,
    maxTurns: record.max_turns,
    subgoals: record.subgoals,
    lastReason: record.last_reason ?? undefined,
    pausedReason: record.paused_reason ?? undefined,
  };
}
