// Classifies a failed call and decides what to do about it. Pure.
import type { Failure, FailureKind } from "../../core/failure.ts";
import { parseDelay } from "../keys/cool-down.ts";
import * as phrases from "./classify-phrases.ts";

/** The facts about a failed call. */
export interface CallError {
  readonly status?: number | undefined;
  /** The code or type in the error body. */
  readonly code?: string | undefined;
  /** The text of the provider, with inner messages. */
  readonly message: string;
  readonly retryAfterMs?: number | undefined;
  /** How the connection ended, when no status decides. */
  readonly transport?: "timeout" | "connection" | "tls" | "cut" | "malformed" | undefined;
  /** Size of the request: a disconnect on a large one may be an overflow. */
  readonly size?: { readonly tokens: number; readonly messages: number; readonly window: number };
}

/** A change to the request that may make it acceptable; each is tried once. */
export type Recovery =
  | "strip_thinking"
  | "strip_schema_patterns"
  | "shrink_images"
  | "drop_images"
  | "drop_temperature"
  | "drop_max_tokens"
  | "drop_reasoning"
  | "lower_max_tokens"
  | "no_stream";

export interface Actions {
  /** Repeat after a pause. */
  readonly retry: boolean;
  /** The caller must compact the conversation first. */
  readonly compact: boolean;
  /** Try another key of the same provider. */
  readonly rotate: boolean;
  /** Use the next provider when there is one. */
  readonly fallback: boolean;
  readonly recovery?: Recovery | undefined;
  /** For `lower_max_tokens`: what the provider would accept. */
  readonly maxOutputTokens?: number | undefined;
}

export interface Verdict {
  readonly failure: Failure;
  readonly actions: Actions;
}

const ACTIONS: { readonly [kind in FailureKind]: Actions } = {
  thinking_signature: { retry: true, compact: false, rotate: false, fallback: false, recovery: "strip_thinking" },
  long_context_tier: { retry: true, compact: true, rotate: false, fallback: false },
  llama_cpp_grammar_pattern: {
    retry: true,
    compact: false,
    rotate: false,
    fallback: false,
    recovery: "strip_schema_patterns",
  },
  auth: { retry: false, compact: false, rotate: true, fallback: true },
  billing: { retry: false, compact: false, rotate: true, fallback: true },
  rate_limit: { retry: true, compact: false, rotate: true, fallback: true },
  overloaded: { retry: true, compact: false, rotate: false, fallback: false },
  server_error: { retry: true, compact: false, rotate: false, fallback: false },
  timeout: { retry: true, compact: false, rotate: false, fallback: false },
  context_overflow: { retry: true, compact: true, rotate: false, fallback: false },
  payload_too_large: { retry: true, compact: true, rotate: false, fallback: false },
  image_too_large: { retry: true, compact: false, rotate: false, fallback: false, recovery: "shrink_images" },
  model_not_found: { retry: false, compact: false, rotate: false, fallback: true },
  provider_policy_blocked: { retry: false, compact: false, rotate: false, fallback: false },
  content_filter: { retry: false, compact: false, rotate: false, fallback: true },
  format_error: { retry: false, compact: false, rotate: false, fallback: true },
  budget_exceeded: { retry: false, compact: false, rotate: false, fallback: false },
  not_configured: { retry: false, compact: false, rotate: false, fallback: true },
  interrupted: { retry: false, compact: false, rotate: false, fallback: false },
  unknown: { retry: true, compact: false, rotate: false, fallback: false },
};

const LONG_TIER_WINDOW = 200_000;

function has(text: string, list: readonly string[]): boolean {
  return list.some((phrase) => text.includes(phrase));
}

/** `usage limit` and similar texts mean a rate limit only if the text says that the limit is temporary. */
function limitKind(text: string): "billing" | "rate_limit" | undefined {
  if (has(text, phrases.BILLING)) return "billing";
  if (has(text, phrases.RATE)) return "rate_limit";
  if (!has(text, phrases.AMBIGUOUS_LIMIT)) return undefined;
  return has(text, phrases.TRANSIENT_CUES) ? "rate_limit" : "billing";
}

/** OpenRouter has no host that the user's data policy allows. It says so with several statuses, or with none. */
function isPolicyRefusal({ status }: CallError, text: string): boolean {
  const refused = status === undefined || status === 400 || status === 403 || status === 404;
  return (
    refused && has(text, phrases.POLICY) && /no (allowed |available )?(endpoints?|providers?)|guardrail/.test(text)
  );
}

function special(failure: CallError, text: string): FailureKind | undefined {
  const { status } = failure;
  if (isPolicyRefusal(failure, text)) return "provider_policy_blocked";
  if (status === 400 && text.includes("signature") && text.includes("thinking")) return "thinking_signature";
  if (status === 429 && text.includes("extra usage") && text.includes("long context")) return "long_context_tier";
  if ((status === undefined || status === 400 || status >= 500) && has(text, phrases.GRAMMAR))
    return "llama_cpp_grammar_pattern";
  return undefined;
}

function largeFor400(size: CallError["size"]): boolean {
  if (!size) return false;
  return size.tokens > size.window * 0.4 || (size.window <= 256_000 && (size.tokens > 80_000 || size.messages > 80));
}

function largeForDisconnect(size: CallError["size"]): boolean {
  if (!size) return false;
  return size.tokens > size.window * 0.6 || (size.window <= 256_000 && (size.tokens > 120_000 || size.messages > 200));
}

function isFiltered(failure: CallError, text: string): boolean {
  return phrases.FILTER_CODES.has(failure.code?.toLowerCase() ?? "") || has(text, phrases.FILTER);
}

function badRequest(failure: CallError, text: string): FailureKind {
  if (isFiltered(failure, text)) return "content_filter";
  if (has(text, phrases.IMAGE_SIZE)) return "image_too_large";
  if (phrases.OVERFLOW_CODES.has(failure.code?.toLowerCase() ?? "") || has(text, phrases.OVERFLOW))
    return "context_overflow";
  if (
    phrases.MODEL_CODES.has(failure.code?.toLowerCase() ?? "") ||
    (text.includes("model") && has(text, phrases.MODEL_MISSING))
  )
    return "model_not_found";
  const limit = limitKind(text);
  if (limit) return limit;
  if (text.trim().length < 30 && largeFor400(failure.size)) return "context_overflow";
  return "format_error";
}

function byStatus(failure: CallError, text: string): FailureKind | undefined {
  const { status } = failure;
  switch (status) {
    case undefined:
      return undefined;
    case 401:
      return "auth";
    case 402:
      return limitKind(text) === "rate_limit" || has(text, phrases.TRANSIENT_CUES) ? "rate_limit" : "billing";
    case 403:
      return /(key|spend\w*|credit) limit/.test(text) || has(text, phrases.BILLING) ? "billing" : "auth";
    case 404:
      if (has(text, phrases.POLICY)) return "provider_policy_blocked";
      return has(text, phrases.MODEL_MISSING) || text.includes("model") ? "model_not_found" : "unknown";
    case 408:
      return "timeout";
    case 413:
      return "payload_too_large";
    case 429:
      return has(text, phrases.BILLING) && !has(text, phrases.TRANSIENT_CUES) ? "billing" : "rate_limit";
    case 503:
    case 529:
      return "overloaded";
    default:
      if (status >= 500)
        return has(text, phrases.OVERFLOW) && !has(text, phrases.RATE) ? "context_overflow" : "server_error";
      return status >= 400 ? badRequest(failure, text) : undefined;
  }
}

function byCode(failure: CallError): FailureKind | undefined {
  const code = failure.code?.toLowerCase() ?? "";
  if (phrases.BILLING_CODES.has(code)) return "billing";
  if (phrases.RATE_CODES.has(code)) return "rate_limit";
  if (phrases.MODEL_CODES.has(code)) return "model_not_found";
  if (phrases.OVERFLOW_CODES.has(code)) return "context_overflow";
  if (phrases.FILTER_CODES.has(code)) return "content_filter";
  if (code === "overloaded_error") return "overloaded";
  return code === "authentication_error" ? "auth" : undefined;
}

function byText(text: string): FailureKind | undefined {
  if (has(text, phrases.IMAGE_SIZE)) return "image_too_large";
  const limit = limitKind(text);
  if (limit) return limit;
  if (has(text, phrases.OVERFLOW)) return "context_overflow";
  if (text.includes("overloaded")) return "overloaded";
  if (has(text, phrases.AUTH)) return "auth";
  return text.includes("model") && has(text, phrases.MODEL_MISSING) ? "model_not_found" : undefined;
}

function byTransport(failure: CallError, text: string): FailureKind | undefined {
  if (failure.transport === "tls") return "timeout";
  if (failure.transport === "timeout") return "timeout";
  const gone = failure.transport === "cut" || has(text, phrases.DISCONNECT);
  if (gone && largeForDisconnect(failure.size)) return "context_overflow";
  if (failure.transport !== undefined || gone || has(text, phrases.TIMED_OUT)) return "timeout";
  return undefined;
}

/** The context window that an overflow message names. */
export function findLimit(text: string): number | undefined {
  const match =
    /(?:maximum (?:context|prompt)(?: length| size)?(?: is| of)?|context (?:length|window|size)(?: is| of)?(?: only)?|max_model_len[^0-9]*|limit(?: is| of)|n_ctx[^0-9]*|> )\s*\(?([0-9][0-9,_]{2,})/i.exec(
      text,
    ) ?? /([0-9][0-9,_]{3,})\s*(?:tokens? )?(?:maximum|limit|context)/i.exec(text);
  const value = Number(match?.[1]?.replace(/[,_]/g, ""));
  return Number.isFinite(value) && value >= 512 ? value : undefined;
}

/** The number of output tokens that are left, from a message that `max_tokens` is too large. */
function findOutputRoom(text: string): number | undefined {
  if (!/max_tokens|max_completion_tokens|max_output_tokens/.test(text)) return undefined;
  const match =
    /(?:available[_ ]tokens?|at most|less than or equal to|must be <=?|maximum allowed(?: number of output tokens)?(?: for [^ ]+)? is)[^0-9]{0,20}([0-9]{2,})/.exec(
      text,
    );
  const value = Number(match?.[1]);
  return Number.isFinite(value) && value > 64 ? value : undefined;
}

function recoveryFor(kind: FailureKind, failure: CallError, text: string): Partial<Actions> {
  const status = failure.status ?? 0;
  if (status >= 400 && status < 500 && has(text, phrases.IMAGE_REJECTED))
    return { recovery: "drop_images", retry: true };
  if (text.includes("stream") && /not supported|unsupported|does not support/.test(text))
    return { recovery: "no_stream", retry: true };
  const room = findOutputRoom(text);
  if (room !== undefined && (kind === "context_overflow" || kind === "format_error"))
    return { recovery: "lower_max_tokens", retry: true, compact: false, maxOutputTokens: room - 64 };
  if (kind !== "format_error" || !phrases.REFUSED_PARAMETER.test(text)) return {};
  if (text.includes("temperature")) return { recovery: "drop_temperature", retry: true };
  if (/max_(completion_|output_)?tokens/.test(text)) return { recovery: "drop_max_tokens", retry: true };
  return /reasoning|thinking|effort/.test(text) ? { recovery: "drop_reasoning", retry: true } : {};
}

const MESSAGES: { readonly [kind in FailureKind]: string } = {
  thinking_signature: "refused earlier thinking blocks",
  long_context_tier: "does not allow long contexts on this plan",
  llama_cpp_grammar_pattern: "could not use a tool's schema",
  auth: "refused the key",
  billing: "reports that the account is out of credit or quota",
  rate_limit: "limits the rate of requests",
  overloaded: "is overloaded",
  server_error: "had an internal error",
  timeout: "did not answer in time or lost the connection",
  context_overflow: "says that the conversation is longer than its window",
  payload_too_large: "says that the request is too large",
  image_too_large: "says that an image is too large",
  model_not_found: "does not know the model",
  provider_policy_blocked: "blocks the request by its data policy",
  content_filter: "blocked the request or the answer by its content filter",
  format_error: "refused the request",
  budget_exceeded: "was not called: a spending cap is reached",
  not_configured: "is not configured",
  interrupted: "was interrupted",
  unknown: "failed",
};

const HINTS: { readonly [kind in FailureKind]?: string } = {
  auth: "Check the key: `hermes auth status`, then `hermes auth add PROVIDER`.",
  billing: "Add credit at the provider, add another key with `hermes auth add`, or set `fallback_providers`.",
  rate_limit: "Wait, add another key with `hermes auth add`, or set `fallback_providers`.",
  overloaded: "Try again later, or set `fallback_providers`.",
  server_error:
    "The fault is the provider's. Try again later, choose another model with `hermes model`, or set `fallback_providers`.",
  timeout: "Check the network and the base URL, or set `fallback_providers`.",
  model_not_found: "Choose another model: `hermes model set MODEL`.",
  content_filter: "Rephrase the request, or choose another model: `hermes model set MODEL`.",
  context_overflow: "Start a new conversation, or choose a model with a larger window: `hermes model`.",
  payload_too_large: "Attach less, or start a new conversation.",
  image_too_large: "Make the image smaller, or leave it out.",
  format_error: "Try another model: `hermes model`. `hermes logs --level error` has the details.",
  unknown: "Try again; `hermes doctor` checks the model and the network.",
  provider_policy_blocked: "Change the data policy in the provider's settings, or choose another model.",
};

function failureKind(failure: CallError, text: string): FailureKind {
  return (
    special(failure, text) ??
    byStatus(failure, text) ??
    byCode(failure) ??
    byText(text) ??
    byTransport(failure, text) ??
    "unknown"
  );
}

export interface CalledModel {
  readonly provider: string;
  readonly model: string;
  readonly label: string;
  readonly baseUrl?: string | undefined;
}

/** The provider, with its address when no connection to it was possible. */
function providerName(details: CallError, { label, baseUrl = "" }: CalledModel): string {
  return details.transport !== undefined && URL.canParse(baseUrl) ? `${label} at ${new URL(baseUrl).origin}` : label;
}

/** `who` names the provider and model in the message. */
export function classify(details: CallError, who: CalledModel): Verdict {
  const text = details.message.toLowerCase();
  const kind = failureKind(details, text);
  const retryAfterMs = details.retryAfterMs ?? (kind === "rate_limit" ? parseDelay(details.message) : undefined);
  const limitTokens =
    kind === "context_overflow"
      ? findLimit(details.message)
      : kind === "long_context_tier"
        ? LONG_TIER_WINDOW
        : undefined;
  const detail = details.message.trim().replace(/\s+/g, " ").slice(0, 300);
  const failure: Failure = {
    kind,
    message: `${providerName(details, who)} ${MESSAGES[kind]}${details.status ? ` (${details.status})` : ""}${detail ? `: ${detail}` : ""}`,
    provider: who.provider,
    model: who.model,
    hint: HINTS[kind],
    status: details.status,
    retryAfterMs,
    limitTokens,
  };
  return { failure, actions: { ...ACTIONS[kind], ...recoveryFor(kind, details, text) } };
}
