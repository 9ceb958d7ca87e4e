// Builds the TransportError of an exchange that failed. No error text holds the key.
import type { Json } from "../../core/message.ts";
import type { HttpResponse } from "../../lib/http-fetch.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { MAX_TOOL_CALLS } from "./answer.ts";
import type { DecodeFailure } from "./dialect.ts";
import { isJsonObject } from "./json-values.ts";
import { type ReceivedAnswer, TransportError, type TransportErrorKind } from "./transport.ts";

const MAX_ERROR_BODY = 64 * 1024;

const STOP_MESSAGES: { readonly [kind in TransportErrorKind]?: string } = {
  first_token_timeout: "the model did not begin to answer in time",
  idle_timeout: "the model stopped in the middle of its answer",
  total_timeout: "the answer took longer than the limit",
  aborted: "interrupted",
};

/** A limit ran out, or the caller aborted. */
export function stopError(kind: TransportErrorKind, received: ReceivedAnswer): TransportError {
  return new TransportError(STOP_MESSAGES[kind] ?? kind, { kind, ...received });
}

function withoutKey(text: string, key: string | null): string {
  return key !== null && key.length >= 4 ? text.replaceAll(key, "[key]") : text;
}

/** The message and the code inside an error body of any shape. */
function readErrorBody(body: string): { message?: string | undefined; code?: string | undefined } {
  const value = parseJson(body) as Json | undefined;
  const root = isJsonObject(value) ? value : {};
  const inner = isJsonObject(root.error) ? root.error : root;
  const isText = (item: unknown): item is string => typeof item === "string" && item !== "";
  return {
    message: [inner.message, root.error, root.detail].find(isText),
    code: [inner.code, inner.type].filter(isText).find((code) => code !== "error"),
  };
}

/** The text of an error body as far as it arrived: a body that breaks off still belongs to an error status. */
async function readErrorText(response: HttpResponse): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const bytes of response.body ?? []) {
      text += decoder.decode(bytes, { stream: true });
      if (text.length >= MAX_ERROR_BODY) break;
    }
  } catch {
    // The status and the text so far are enough.
  }
  return text.slice(0, MAX_ERROR_BODY);
}

/** An answer with an error status. */
export async function statusError(response: HttpResponse, key: string | null): Promise<TransportError> {
  const body = withoutKey(await readErrorText(response), key);
  const { message, code } = readErrorBody(body);
  return new TransportError(message ?? `HTTP ${response.status}`, {
    kind: "http",
    status: response.status,
    body,
    headers: Object.fromEntries(response.headers),
    code,
  });
}

const FAILURE_MESSAGES: { readonly [kind in Exclude<DecodeFailure["kind"], "stream_error">]: string } = {
  cut: "the answer ended before it was complete",
  malformed: "the provider sent an invalid answer",
  too_many_calls: `the answer has more than ${MAX_TOOL_CALLS} tool calls`,
};

/** An answer that could not be decoded to its end. */
export function decodeError(failure: DecodeFailure, key: string | null, received: ReceivedAnswer): TransportError {
  if (failure.kind !== "stream_error") {
    const kind = failure.kind === "cut" ? "cut" : "malformed";
    return new TransportError(FAILURE_MESSAGES[failure.kind], { kind, ...received });
  }
  const { error } = failure;
  const body = withoutKey(typeof error === "string" ? error : JSON.stringify(error), key);
  const { message, code } = readErrorBody(body);
  return new TransportError(message ?? "the provider reported an error in its answer", {
    kind: "stream_error",
    body,
    code,
    ...received,
  });
}

function socketCode(error: unknown): string | undefined {
  let current = error;
  for (let depth = 0; depth < 6 && current instanceof Error; depth++) {
    const { code, cause } = current as Error & { code?: unknown };
    if (typeof code === "string") return code;
    current = cause;
  }
  return undefined;
}

/** The connection failed: before an answer, or (`answered`) in the middle of it. */
export function connectionError(error: unknown, answered: boolean, received: ReceivedAnswer): TransportError {
  const code = socketCode(error);
  const what = answered ? "the connection broke in the middle of the answer" : "no connection to the provider";
  return new TransportError(code ? `${what} (${code})` : what, {
    kind: answered ? "cut" : "network",
    code,
    ...received,
    cause: error,
  });
}
