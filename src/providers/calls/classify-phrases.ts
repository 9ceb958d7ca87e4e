// Phrases in the error messages of providers, in lower case.

export const BILLING = [
  "account deactivated",
  "account has been deactivated",
  "account is deactivated",
  "balance is insufficient",
  "balance too low",
  "billing hard limit",
  "credit balance",
  "credits exhausted",
  "exceeded your current quota",
  "insufficient balance",
  "insufficient credit",
  "insufficient funds",
  "insufficient_quota",
  "out of credits",
  "payment required",
  "plan does not include",
  "purchase more credits",
  "top up",
];

export const RATE = [
  "concurrent requests",
  "per day limit",
  "please retry after",
  "rate increased too quickly",
  "rate limit",
  "rate_limit",
  "ratelimit",
  "requests per day",
  "requests per minute",
  "resource_exhausted",
  "servicequotaexceededexception",
  "throttled",
  "throttling",
  "tokens per day",
  "tokens per minute",
  "too many requests",
  "try again in",
];

/** A spending limit or a rate limit: a rate limit only if the text also says that it is temporary. */
export const AMBIGUOUS_LIMIT = ["usage limit", "quota", "limit exceeded"];
export const TRANSIENT_CUES = [
  "periodic",
  "reset in",
  "resets at",
  "resets in",
  "retry",
  "try again",
  "wait",
  "window",
];

export const OVERFLOW = [
  "context length",
  "context size",
  "context window",
  "context_length",
  "exceeds the limit",
  "input is too long",
  "input token",
  "max_model_len",
  "maximum context",
  "n_ctx_slot",
  "prompt is too long",
  "prompt length",
  "slot context",
  "token limit",
  "too many tokens",
  "truncating input",
  "上下文长度",
  "超过最大长度",
];

export const AUTH = [
  "authentication",
  "forbidden",
  "invalid api key",
  "invalid_api_key",
  "invalid x-api-key",
  "unauthorized",
];

export const MODEL_MISSING = [
  "does not exist",
  "invalid model",
  "is not a valid model",
  "model not found",
  "model_not_found",
  "no such model",
  "not found, try pulling it",
  "unknown model",
  "unsupported model",
];

export const FILTER_CODES = new Set(["content_filter", "content_policy_violation", "responsibleaipolicyviolation"]);
export const FILTER = [
  "content_filter",
  "content filter",
  "content management policy",
  "content policy",
  "usage policies",
  "rejected by the safety system",
  "flagged by our safety",
];

export const POLICY = ["data policy", "data policies", "guardrail restrictions", "privacy settings"];

export const IMAGE_SIZE = [
  "image exceeds",
  "image is too large",
  "image size",
  "image too large",
  "image_too_large",
  "images exceed",
];

export const IMAGE_REJECTED = [
  "does not support image",
  "image input is not supported",
  "image_url is not supported",
  "images are not supported",
  "no endpoints found that support image",
  "not a multimodal",
  "only supports text",
  "vision is not supported",
];

export const GRAMMAR = [
  "failed to convert schema",
  "json-schema-to-grammar",
  "json_schema_to_grammar",
  "unsupported pattern",
  "error parsing grammar",
  "failed to initialize samplers",
  "failed to parse grammar",
  "grammar conversion",
  "json schema conversion failed",
  "unable to generate parser",
];

export const TIMED_OUT = ["deadline exceeded", "operation timed out", "request timed out", "timed out", "timeout"];

export const DISCONNECT = [
  "connection closed",
  "connection error",
  "connection lost",
  "connection reset",
  "incomplete chunked read",
  "other side closed",
  "peer closed",
  "premature close",
  "server disconnected",
  "socket hang up",
  "terminated",
  "unexpected eof",
];

/** A refused parameter: the call is repeated without the one that the message names. */
export const REFUSED_PARAMETER =
  /(unsupported|not supported|unknown|unrecognized|deprecated|does not support|not permitted|only the default)/;

export const BILLING_CODES = new Set([
  "insufficient_quota",
  "billing_hard_limit_reached",
  "billing_not_active",
  "payment_required",
  "insufficient_balance",
  "account_deactivated",
]);
export const RATE_CODES = new Set([
  "rate_limit_exceeded",
  "rate_limit_error",
  "too_many_requests",
  "resource_exhausted",
  "throttlingexception",
]);
export const MODEL_CODES = new Set(["model_not_found", "model_not_available", "model_not_supported", "invalid_model"]);
export const OVERFLOW_CODES = new Set(["context_length_exceeded", "max_tokens_exceeded", "string_above_max_length"]);
