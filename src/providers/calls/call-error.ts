// Converts errors of transports to the facts that the classification needs.
import type { ModelRequest } from "../../core/model/provider.ts";
import { estimateMessagesTokens, estimateSchemaTokens, estimateTextTokens } from "../../core/model/tokens.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { epochMs } from "../keys/cool-down.ts";
import { TransportError } from "../transports/transport.ts";
import type { CallError } from "./classify.ts";

const CONNECTION_BY_KIND: { readonly [kind: string]: CallError["transport"] } = {
  cut: "cut",
  malformed: "malformed",
  network: "connection",
  first_token_timeout: "timeout",
  idle_timeout: "timeout",
  total_timeout: "timeout",
};

function header(headers: { readonly [name: string]: string }, name: string): string | undefined {
  const found = Object.keys(headers).find((key) => key.toLowerCase() === name);
  return found === undefined ? undefined : headers[found];
}

/** `Retry-After` in seconds or as a date, and the variants that some services use. */
export function retryAfterMs(headers: { readonly [name: string]: string }, now: number): number | undefined {
  const precise = Number(header(headers, "retry-after-ms") ?? Number.NaN);
  if (Number.isFinite(precise) && precise >= 0) return precise;
  const value = header(headers, "retry-after");
  if (value !== undefined) {
    const asSeconds = Number(value);
    if (Number.isFinite(asSeconds) && asSeconds >= 0) return asSeconds * 1000;
    const at = Date.parse(value);
    if (!Number.isNaN(at)) return Math.max(0, at - now);
  }
  const reset = epochMs(header(headers, "x-ratelimit-reset"));
  return reset !== undefined && reset > now ? reset - now : undefined;
}

/** The messages of an error body. OpenRouter wraps the error of the upstream host in `metadata.raw`. */
function messageIn(body: string): string {
  try {
    const parsed = JSON.parse(body) as {
      error?: { message?: unknown; metadata?: { raw?: unknown } } | string;
      message?: unknown;
    };
    const error = typeof parsed.error === "object" && parsed.error !== null ? parsed.error : undefined;
    const texts = [
      error?.message,
      parsed.message,
      typeof parsed.error === "string" ? parsed.error : undefined,
      error?.metadata?.raw,
    ];
    const found = texts.filter((text): text is string => typeof text === "string" && text !== "");
    return found.length > 0 ? found.join(" | ") : body;
  } catch {
    return body;
  }
}

/** The size of the request: a disconnect on a large one may be an overflow. */
export function bodySize(request: ModelRequest, window: number): NonNullable<CallError["size"]> {
  const tokens =
    estimateTextTokens(request.system) + estimateMessagesTokens(request.messages) + estimateSchemaTokens(request.tools);
  return { tokens, messages: request.messages.length, window };
}

export function toCallError(error: unknown, size: () => NonNullable<CallError["size"]>, now: number): CallError {
  if (!(error instanceof TransportError)) {
    return { message: errorMessage(error), size: size() };
  }
  return {
    message: error.body ? messageIn(error.body).slice(0, 4_000) : error.message,
    size: size(),
    status: error.status,
    code: error.code,
    retryAfterMs: retryAfterMs(error.headers, now),
    transport: error.status === undefined ? CONNECTION_BY_KIND[error.kind] : undefined,
  };
}
