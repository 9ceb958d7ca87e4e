// Limits of users who are not owners: messages per hour and spending per day, told in words.
import type { Source } from "../../core/chat/platform.ts";
import type { Role } from "../../core/chat/role.ts";
import { UserError } from "../../core/failure.ts";
import type { UsageLedger } from "../../core/store/usage.ts";

const HOUR_MS = 3_600_000;
const MAX_USERS = 10_000;

/** 0 for no limit. */
export interface RoleLimits {
  readonly turnsPerHour: number;
  readonly dailyUsd: number;
}

export interface UserLimitsParts {
  limits(role: Exclude<Role, "owner">): RoleLimits;
  /** What the user's own sessions cost. */
  ledger(source: Source): Pick<UsageLedger, "report">;
  tenant(source: Source): string;
  now(): number;
}

function startOfDay(now: number): number {
  return new Date(now).setHours(0, 0, 0, 0) / 1000;
}

export class UserLimits {
  readonly #parts: UserLimitsParts;
  /** The times of a user's turns in the last hour; the least recently active user first. */
  readonly #turns = new Map<string, number[]>();

  constructor(parts: UserLimitsParts) {
    this.#parts = parts;
  }

  /** Rejects with a UserError when the user must wait. */
  async check(source: Source, role: Role): Promise<void> {
    const refusal = await this.refusal(source, role);
    if (refusal !== undefined) throw new UserError(refusal);
  }

  /** Why the user must wait; undefined when the turn may start, which is then counted. */
  async refusal(source: Source, role: Role): Promise<string | undefined> {
    if (role === "owner") return undefined;
    const { limits, now } = this.#parts;
    const { turnsPerHour, dailyUsd } = limits(role);
    const time = now();
    const recent = this.#recent(source, time);
    const [oldest = time] = recent;
    if (turnsPerHour > 0 && recent.length >= turnsPerHour) {
      const minutes = Math.max(1, Math.ceil((oldest + HOUR_MS - time) / 60_000));
      return `You have reached the limit of ${turnsPerHour} messages per hour. Try again in ${minutes} min.`;
    }
    if (dailyUsd > 0) {
      const spent = await this.#spentToday(source, time);
      if (spent >= dailyUsd)
        return `Your messages of today have cost $${spent.toFixed(2)}; the limit is $${dailyUsd.toFixed(2)} per day. Try again tomorrow, or ask the owner to raise it.`;
    }
    recent.push(time);
    return undefined;
  }

  #recent(source: Source, time: number): number[] {
    const tenant = this.#parts.tenant(source);
    const recent = (this.#turns.get(tenant) ?? []).filter((at) => time - at < HOUR_MS);
    this.#turns.delete(tenant);
    this.#turns.set(tenant, recent);
    const oldest = this.#turns.size > MAX_USERS ? this.#turns.keys().next().value : undefined;
    if (oldest !== undefined) this.#turns.delete(oldest);
    return recent;
  }

  async #spentToday(source: Source, time: number): Promise<number> {
    const groups = await this.#parts.ledger(source).report({ since: startOfDay(time), by: "model" });
    return groups.reduce((sum, group) => sum + group.usd, 0);
  }
}
