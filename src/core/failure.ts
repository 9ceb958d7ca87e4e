// Expected trouble as data. A Failure travels in events and results; only bugs are thrown.

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
  /** One sentence for the person: what happened, without secrets. */
  readonly message: string;
  /** What the person can do about it; names a command or a setting. */
  readonly cure?: string;
  readonly status?: number;
  /** How long the provider asked us to wait. */
  readonly retryAfterMs?: number;
  readonly provider?: string;
  readonly model?: string;
  /** For context_overflow: the limit that the provider named, in tokens. */
  readonly limitTokens?: number;
}

/** An error whose text is meant for the person: printed without a stack, with its cure, and exit code `exitCode`. */
export class UserError extends Error {
  readonly cure: string | undefined;
  readonly exitCode: number;

  constructor(message: string, options: { cure?: string; exitCode?: number; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "UserError";
    this.cure = options.cure;
    this.exitCode = options.exitCode ?? 1;
  }
}

/** What went wrong and what helps, as sentences. */
export function withCure({ message, cure }: { readonly message: string; readonly cure?: string | undefined }): string {
  if (!cure) return message;
  const said = message.replace(/[.:]$/, "");
  return `${said}${/[!?]$/.test(said) ? "" : "."} ${cure}`;
}

/** The same for whatever was thrown. */
export function inOneLine(error: unknown): string {
  if (error instanceof UserError) return withCure(error);
  return error instanceof Error ? error.message : String(error);
}
