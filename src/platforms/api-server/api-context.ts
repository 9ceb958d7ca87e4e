// The context that the routes of the API server share.
import { randomBytes } from "node:crypto";
import type { Context } from "hono";
import type { ResponseStore } from "../../core/store/response-store.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { readLimited } from "../http/body.ts";
import { ApiError, invalid } from "./api-error.ts";
import { type BodyName, checkBody } from "./body-schemas.ts";
import type { Sessions } from "./sessions.ts";

const MAX_BODY = 10 * 1024 * 1024;

export interface ApiContext {
  readonly sessions: Sessions;
  readonly responses: ResponseStore;
  /** The name of the agent in the list of models. */
  readonly modelName: string;
  /** Time-out of an approval. */
  readonly approvalMs: number;
  readonly keepAliveMs?: number | undefined;
  /** Fires when the server stops. */
  readonly stopping: AbortSignal;
  log(level: "info" | "warning" | "error", text: string): void;
  now(): number;
}

export type Body = { readonly [key: string]: unknown };

export function newId(prefix: string, hexDigits: number): string {
  return `${prefix}${randomBytes(Math.ceil(hexDigits / 2))
    .toString("hex")
    .slice(0, hexDigits)}`;
}

/** The parsed body, checked against the schema of that name. */
export async function readBody(context: Context, schema: BodyName): Promise<Body> {
  const bytes = await readLimited(context.req.raw, MAX_BODY);
  if (bytes === null) throw new ApiError(413, "body_too_large", `a request has at most ${MAX_BODY / 1024 / 1024} MB`);
  let body: unknown;
  try {
    body = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw invalid("invalid_json", "the body is not JSON");
  }
  if (!isRecord(body)) throw invalid("invalid_json", "the body must be a JSON object");
  await checkBody(schema, body);
  return body;
}

/** The owner of the memory, for clients that serve several users. */
export function sessionKeyHeader(context: Context): string | undefined {
  const key = context.req.header("x-hermes-session-key")?.trim();
  if (key === undefined || key === "") return undefined;
  if (key.length > 256 || /\p{Cc}/u.test(key))
    throw invalid("invalid_session_key", "X-Hermes-Session-Key has at most 256 characters and no control characters");
  return key;
}

export function sessionHeader(context: Context): string | undefined {
  return context.req.header("x-hermes-session-id")?.trim() || undefined;
}

export function textField(body: Body, name: string): string | undefined {
  const value = body[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string") throw invalid("invalid_type", `${name} must be a text`, name);
  return value;
}

/** Responses repeat the model name of the request. */
export function modelNameFor(api: ApiContext, body: Body): string {
  return textField(body, "model") || api.modelName;
}
