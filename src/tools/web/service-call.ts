// Calls the API of a web service and turns every error into a Failure with a hint.
import type { Failure, FailureKind } from "../../core/failure.ts";
import type { WebFetch, WebHit, WebRequest, WebSearchAnswer } from "../../core/tool/web.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { oneLine } from "../../lib/text/one-line.ts";

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 20_000_000;
const MESSAGE_CHARS = 200;

/** What every provider needs. */
export interface ServiceParts {
  readonly env: { readonly [name: string]: string | undefined };
  /** Fetches from the configured services, which may be on the local network. */
  readonly call: WebFetch;
  /** Time limit of one call. */
  readonly timeoutMs?: number | undefined;
}

export interface ServiceCall extends WebRequest {
  readonly url: string;
  /** The service's name in messages. */
  readonly service: string;
  /** The environment variable of the key, for the hint. */
  readonly keyVar?: string | undefined;
  /** Sent as JSON, with POST. */
  readonly json?: object | undefined;
}

export type ServiceResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure };
export type Fields = { readonly [key: string]: unknown };

export function fail(
  kind: FailureKind,
  message: string,
  extra: Partial<Failure> = {},
): { ok: false; failure: Failure } {
  return { ok: false, failure: { kind, message, ...extra } };
}

export function toFields(value: unknown): Fields {
  return isRecord(value) ? value : {};
}

export function toFieldsList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(toFields) : [];
}

export function toTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

export function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** An environment variable, trimmed, because copied keys often have white space around them. */
export function envValue(parts: ServiceParts, name: string): string {
  return parts.env[name]?.trim() ?? "";
}

/** The address of the service from the variable or else the default, without trailing slashes. */
export function baseUrl(parts: ServiceParts, name: string, fallback: string): string {
  return (envValue(parts, name) || fallback).replace(/\/+$/, "");
}

export function requireKey(parts: ServiceParts, name: string, where: string) {
  return envValue(parts, name) === ""
    ? ({ ok: false, reason: `${name} is not set; get a key at ${where} and put it into .env` } as const)
    : ({ ok: true } as const);
}

/** The message in an error body; services use different keys and sometimes nest them. */
function readErrorMessage(body: string): string {
  let at: unknown = parseJson(body);
  for (let depth = 0; depth < 4; depth++) {
    if (typeof at === "string") return oneLine(at, MESSAGE_CHARS);
    if (Array.isArray(at)) at = at[0];
    const fields = toFields(at);
    at = fields.detail ?? fields.error ?? fields.message ?? fields.msg ?? fields.code;
  }
  return "";
}

function retryAfter(headers: { readonly [name: string]: string }): number | undefined {
  const value = headers["retry-after"];
  if (value === undefined) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const KINDS: { readonly [status: number]: FailureKind } = {
  401: "auth",
  402: "billing",
  403: "auth",
  408: "timeout",
  413: "payload_too_large",
  429: "rate_limit",
  432: "billing",
  433: "billing",
};

function hintFor(kind: FailureKind, call: ServiceCall): string | undefined {
  if (kind === "auth" && call.keyVar) return `Check ${call.keyVar} in .env.`;
  if (kind === "billing") return `Look at the plan and credit of your ${call.service} account.`;
  if (kind === "rate_limit") return "Wait a little, or choose another backend with web.search_backend.";
  return undefined;
}

function errorStatus(
  status: number,
  response: { headers: { readonly [name: string]: string }; body: string },
  call: ServiceCall,
): { ok: false; failure: Failure } {
  const message = readErrorMessage(response.body);
  const badKey = status === 422 && /token|api.?key|credential/i.test(message);
  const kind = badKey ? "auth" : (KINDS[status] ?? (status >= 500 ? "server_error" : "format_error"));
  return fail(kind, `${call.service} answered ${status}${message ? `: ${message}` : ""}`, {
    status,
    provider: call.service,
    hint: hintFor(kind, call),
    retryAfterMs: retryAfter(response.headers),
  });
}

function unreachable(rule: string, reason: string, call: ServiceCall): { ok: false; failure: Failure } {
  if (rule === "interrupted") return fail("interrupted", "The call was interrupted.");
  if (rule === "timeout")
    return fail("timeout", `${call.service} did not respond in time.`, { provider: call.service });
  return fail("server_error", `${call.service} cannot be reached: ${reason}`, { provider: call.service });
}

/** The body of a successful response as text. */
export async function callForText(parts: ServiceParts, call: ServiceCall): Promise<ServiceResult<string>> {
  const { url, service: _service, keyVar: _keyVar, json, ...request } = call;
  const response = await parts.call(url, {
    timeoutMs: parts.timeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    maxRedirects: 0,
    ...request,
    ...(json ? { method: "POST", body: JSON.stringify(json) } : {}),
    headers: {
      accept: "application/json",
      ...(json ? { "content-type": "application/json" } : {}),
      ...request.headers,
    },
  });
  if (!response.ok) return unreachable(response.rule, response.reason, call);
  const body = new TextDecoder().decode(response.body);
  if (response.status < 200 || response.status > 299) return errorStatus(response.status, { ...response, body }, call);
  if (response.truncated) return fail("payload_too_large", `${call.service} sent more than ${MAX_BYTES} bytes.`);
  return { ok: true, value: body };
}

/** The body of a successful response as a JSON object. */
export async function callForJson(parts: ServiceParts, call: ServiceCall): Promise<ServiceResult<Fields>> {
  const response = await callForText(parts, call);
  if (!response.ok) return response;
  const parsed = parseJson(response.value);
  if (!isRecord(parsed))
    return fail("format_error", `${call.service} sent a response that is not a JSON object.`, {
      provider: call.service,
    });
  return { ok: true, value: parsed };
}

export interface HitPage {
  readonly hits: readonly WebHit[];
  readonly more: boolean;
}

/**
 * Requests pages until there are enough hits. A failure of the first page is returned; a later one ends the search and
 * keeps the hits found so far. Duplicate addresses and those that are not http are left out.
 */
export async function collectPages(
  limit: number,
  maxPages: number,
  page: (index: number) => Promise<ServiceResult<HitPage>>,
): Promise<WebSearchAnswer> {
  const found = new Map<string, WebHit>();
  for (let index = 0; index < maxPages && found.size < limit; index++) {
    const response = await page(index);
    if (!response.ok) {
      if (index === 0 || response.failure.kind === "interrupted") return response;
      break;
    }
    const before = found.size;
    for (const hit of response.value.hits)
      if (/^https?:\/\//i.test(hit.url) && !found.has(hit.url)) found.set(hit.url, hit);
    if (!response.value.more || found.size === before) break;
  }
  return { ok: true, hits: [...found.values()].slice(0, limit) };
}
