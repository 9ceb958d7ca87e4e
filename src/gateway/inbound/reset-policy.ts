// The reset policy: when a chat starts a new session automatically.

export interface ResetPolicy {
  readonly mode: "both" | "idle" | "daily" | "none";
  readonly idleMinutes: number;
  /** Local hour of the daily reset. */
  readonly atHour: number;
}

export type ResetReason = "idle" | "daily" | "suspended";

/** The time of the last daily reset before `now`. */
function lastBoundary(now: Date, hour: number): number {
  const boundary = new Date(now);
  boundary.setHours(hour, 0, 0, 0);
  if (boundary.getTime() > now.getTime()) boundary.setDate(boundary.getDate() - 1);
  return boundary.getTime();
}

/** Null when no reset is due. Times are Unix milliseconds. */
export function resetReason(lastActive: number, policy: ResetPolicy, now: number): ResetReason | null {
  const { mode } = policy;
  if ((mode === "idle" || mode === "both") && now > lastActive + policy.idleMinutes * 60_000) return "idle";
  if ((mode === "daily" || mode === "both") && lastActive < lastBoundary(new Date(now), policy.atHour)) return "daily";
  return null;
}

export function resetNotice(reason: ResetReason, policy: ResetPolicy): string {
  const why =
    reason === "idle"
      ? `there was no message for ${policy.idleMinutes >= 120 ? `${Math.round(policy.idleMinutes / 60)} hours` : policy.idleMinutes === 1 ? "a minute" : `${policy.idleMinutes} minutes`}`
      : reason === "daily"
        ? "a new day began"
        : "the last one could not be continued";
  return `New session, because ${why}. /resume returns to an older one.`;
}
