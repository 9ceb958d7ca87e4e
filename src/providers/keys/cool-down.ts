// How long a key is not used after a refusal, and parsing of the times that providers name.
import type { AuthEntry } from "./auth-file.ts";

const REJECTED_MS = 300_000;
const EXHAUSTED_MS = 3_600_000;

/** A 401 may be a short failure of the sign-in service; other refusals last for a quota window. */
export function coolDownMs(status: number | null | undefined): number {
  return status === 401 ? REJECTED_MS : EXHAUSTED_MS;
}

/** Milliseconds since the epoch from epoch seconds, epoch milliseconds or ISO text. */
export function epochMs(value: unknown): number | undefined {
  if (typeof value === "string" && value.trim() !== "" && Number.isNaN(Number(value))) {
    const parsed = Date.parse(value);
    return Number.isNaN(parsed) ? undefined : parsed;
  }
  const number = typeof value === "number" || typeof value === "string" ? Number(value) : Number.NaN;
  if (!Number.isFinite(number) || number <= 0) return undefined;
  return number > 1e11 ? number : number * 1000;
}

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A delay in the text of an error: `retry after 30 s`, `try again in 1m30s`, `quotaResetDelay: "12.5s"`. */
export function parseDelay(text: string): number | undefined {
  const match =
    /(?:retry[ -]?after|try again in|reset(?:s)? in|quotaResetDelay"?\s*[:=])\D{0,4}((?:\d+(?:\.\d+)?\s*(?:ms|s|m|h)?[a-z]*\s*)+)/i.exec(
      text,
    );
  if (!match?.[1]) return undefined;
  let total = 0;
  for (const [, amount, unit] of match[1].matchAll(/(\d+(?:\.\d+)?)\s*(ms|s|m|h)?/gi)) {
    total += Number(amount) * (UNITS[(unit ?? "s").toLowerCase()] ?? 1_000);
  }
  return total > 0 ? Math.round(total) : undefined;
}

/** When the entry may be used again, in milliseconds since the epoch; 0 when it may now. */
export function coolDownEnd(entry: AuthEntry, now: number): number {
  if (entry.last_status !== "exhausted") return 0;
  const reset = epochMs(entry.last_error_reset_at);
  const since = epochMs(entry.last_status_at) ?? 0;
  const until = reset ?? since + coolDownMs(entry.last_error_code);
  return until > now ? until : 0;
}
