// Errors in the format of OpenAI clients.
import { UserError } from "../../core/failure.ts";

export interface ApiErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string | null;
  };
}

/** Thrown by routes; the server sends it to the client with its text. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | null;

  constructor(status: number, code: string, message: string, param: string | null = null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.param = param;
  }

  get body(): ApiErrorBody {
    return errorBody(this.status, this.code, this.message, this.param);
  }
}

const TYPES: { readonly [status: number]: string } = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  409: "conflict_error",
  429: "rate_limit_error",
};

export function errorBody(status: number, code: string, message: string, param: string | null = null): ApiErrorBody {
  const type = TYPES[status] ?? (status >= 500 ? "server_error" : "invalid_request_error");
  return { error: { message, type, param, code } };
}

export function invalid(code: string, message: string, param: string | null = null): ApiError {
  return new ApiError(400, code, message, param);
}

/** Any error as a client may see it; the text of an unexpected error is not sent. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof UserError)
    return new ApiError(500, "agent_error", [error.message, error.hint].filter(Boolean).join(" "));
  return new ApiError(500, "internal_error", "Internal server error; see the server's log.");
}

export function buildBody(error: unknown): ApiErrorBody {
  return toApiError(error).body;
}
