// Downloads one file completely, or throws an error with the reason.
import { UserError } from "../../core/failure.ts";
import type { WebFetch, WebResponse } from "../../core/tool/web.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";

export type Answer = Extract<WebResponse, { ok: true }>;

export interface DownloadOptions {
  readonly maxBytes?: number | undefined;
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON by POST. */
  readonly json?: unknown;
}

/** The response with any status; refusals by the URL policy and network errors are thrown. */
export async function ask(fetch: WebFetch, url: string, options: DownloadOptions = {}): Promise<Answer> {
  const maxBytes = options.maxBytes ?? LIMITS.file;
  const answer = await fetch(url, {
    headers: { "user-agent": "hermes-skills", ...options.headers },
    timeoutMs: LIMITS.requestMs,
    maxBytes,
    ...(options.json === undefined ? {} : { method: "POST", body: JSON.stringify(options.json) }),
  });
  if (!answer.ok) {
    const network = ["timeout", "interrupted", "network", "dns"].includes(answer.rule);
    if (network) throw new UserError(`${answer.url} cannot be reached: ${answer.reason}`, { hint: "Try again later." });
    throw new HubRefusal(`refused: ${answer.reason}`);
  }
  if (answer.truncated) throw new HubRefusal(`refused: ${url} is larger than ${maxBytes} bytes`);
  return answer;
}

export async function download(fetch: WebFetch, url: string, options: DownloadOptions = {}): Promise<Answer> {
  const answer = await ask(fetch, url, options);
  if (answer.status >= 200 && answer.status < 300) return answer;
  throw new UserError(`${url} returned status ${answer.status}`, {
    hint: answer.status === 404 ? "Check the identifier." : "Try again later.",
  });
}

export function parseJsonBody(answer: Answer): unknown {
  const value = parseJson(new TextDecoder().decode(answer.body));
  if (value === undefined) throw new UserError(`${answer.url} did not return JSON`);
  return value;
}
