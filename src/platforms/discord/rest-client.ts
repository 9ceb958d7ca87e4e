// The client of Discord's REST API, and how its errors are classified for sending.
import type { REST } from "discord.js";
import type { SendResult } from "../../core/chat/platform.ts";

const TIMEOUT_MS = 20_000;
const NOT_SENT_CODES = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "ENETDOWN"];

/** The client does not retry: the outbox does, and it survives a crash. */
export async function openRest(token: string, apiRoot: string): Promise<REST> {
  const { REST: Rest } = await import("@discordjs/rest");
  return new Rest({
    version: "10",
    api: apiRoot,
    retries: 0,
    timeout: TIMEOUT_MS,
    // Reads and new threads may wait for the rate limit; messages wait in the outbox instead.
    rejectOnRateLimit: ({ method, route }) => method !== "GET" && !route.endsWith("/threads"),
  }).setToken(token);
}

interface DiscordErrorInfo {
  readonly status: number;
  /** Discord's error code. */
  readonly code: number | string;
  readonly text: string;
  readonly retryAfterMs?: number | undefined;
}

export function describeDiscordError(error: unknown): DiscordErrorInfo {
  if (!(error instanceof Error)) return { status: 0, code: 0, text: String(error) };
  const { status, code, retryAfter, cause } = error as Error & {
    status?: number | undefined;
    code?: number | string | undefined;
    retryAfter?: number | undefined;
    cause?: unknown;
  };
  if (retryAfter !== undefined) return { status: 429, code: 0, text: "rate limited", retryAfterMs: retryAfter };
  const inner = cause instanceof Error && "code" in cause ? String(cause.code) : undefined;
  return { status: status ?? 0, code: code ?? inner ?? 0, text: error.message };
}

export function sendFailure(error: unknown): Extract<SendResult, { ok: false }> {
  const { status, code, text, retryAfterMs } = describeDiscordError(error);
  if (status === 429) return { ok: false, kind: "retry", reason: text, retryAfterMs };
  if (NOT_SENT_CODES.includes(String(code))) return { ok: false, kind: "retry", reason: text };
  if (status === 0 || status >= 500) return { ok: false, kind: "unknown", reason: text };
  return { ok: false, kind: "refused", reason: text };
}
