// Expected errors as data. A Failure is part of events and results; only bugs are thrown.
import { errorMessage } from "../lib/error-message.ts";
export type FailureKind =
  | "thinking_signature"
  | "long_context_tier"
  | "llama_cpp_grammar_pattern"
  | "auth"
  | "billing"
  | "rate_limit"
  | "overloaded"
  | "server_error"
  | "timeout"
  | "context_overflow"
  | "payload_too_large"
  | "image_too_large"
  | "model_not_found"
  | "provider_policy_blocked"
  | "content_filter"
  | "format_error"
  | "budget_exceeded"
  | "not_configured"
  | "interrupted"
  | "unknown";

export interface Failure {
  readonly kind: FailureKind;
  /** One sentence for the user: what happened, without secrets. */
  readonly message: string;
  /** What the user can do about it; names a command or a setting. */
  readonly hint?: string | undefined;
  readonly status?: number | undefined;
  /** How long the provider asked us to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  /** For context_overflow: the limit that the provider named, in tokens. */
  readonly limitTokens?: number | undefined;
}

/** An error whose text is meant for the user: printed with its hint and without a stack; sets the exit code. */
export class UserError extends Error {
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(
    message: string,
    options: { hint?: string | undefined; exitCode?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.hint = options.hint;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** The message and the hint as sentences. */
export function formatFailure({
  message,
  hint,
}: {
  readonly message: string;
  readonly hint?: string | undefined;
}): string {
  if (!hint) return message;
  const sentence = message.replace(/[.:]$/, "");
  return `${sentence}${/[!?]$/.test(sentence) ? "" : "."} ${hint}`;
}

/** The same for any thrown value. */
export function formatError(error: unknown): string {
  return error instanceof UserError ? formatFailure(error) : errorMessage(error);
}
