// Web providers: services that search and read pages, built in or from plugins, and the fetch they use.
import type { Failure } from "../failure.ts";
import type { Availability } from "./tool.ts";

export type WebCapability = "search" | "extract";

export interface WebHit {
  readonly title: string;
  readonly url: string;
  readonly description: string;
}

/** Why a website policy refuses a page. */
export interface WebsiteBlock {
  readonly host: string;
  readonly rule: string;
  readonly source: string;
  readonly message: string;
}

/** One page of an extraction: its text as Markdown, or why there is none. `url` is the address that was asked for. */
export type WebPage =
  | {
      readonly ok: true;
      readonly url: string;
      /** Where the text came from after redirects, when known. */
      readonly finalUrl?: string | undefined;
      readonly title: string;
      readonly content: string;
      /** The source was longer than what was read. */
      readonly truncated?: boolean | undefined;
    }
  | { readonly ok: false; readonly url: string; readonly error: string; readonly blocked?: WebsiteBlock | undefined };

export type WebSearchAnswer =
  | { readonly ok: true; readonly hits: readonly WebHit[] }
  | { readonly ok: false; readonly failure: Failure };

/** `ok` with one entry per address, in order; not `ok` when the service did not answer. */
export type WebExtractAnswer =
  | { readonly ok: true; readonly pages: readonly WebPage[] }
  | { readonly ok: false; readonly failure: Failure };

/** A web service. Expected errors are results, never exceptions. */
export interface WebProvider {
  /** As in `web.backend`; a later provider of the same name replaces the earlier one. */
  readonly name: string;
  readonly label: string;
  readonly capabilities: readonly WebCapability[];
  /** Whether everything that it needs is set up. Quick and without network. */
  available(): Availability;
  search?(query: string, options: { readonly limit: number; readonly signal: AbortSignal }): Promise<WebSearchAnswer>;
  extract?(urls: readonly string[], options: { readonly signal: AbortSignal }): Promise<WebExtractAnswer>;
}

export interface WebRequest {
  readonly method?: "GET" | "POST" | undefined;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | undefined;
  readonly timeoutMs?: number | undefined;
  readonly maxBytes?: number | undefined;
  readonly maxRedirects?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Refusals and network errors are results: `rule` is `timeout`, `interrupted`, `network` or the rule that refused. */
export type WebResponse =
  | {
      readonly ok: true;
      readonly status: number;
      readonly headers: { readonly [name: string]: string };
      readonly body: Uint8Array;
      readonly truncated: boolean;
      readonly url: string;
    }
  | { readonly ok: false; readonly rule: string; readonly reason: string; readonly url: string };

/** Fetches under the policy it was created with: every redirect is checked, time and size are limited. */
export type WebFetch = (url: string, request?: WebRequest) => Promise<WebResponse>;

/** Whether a web tool may use this address: checks its text, the website policy and the resolved IP addresses. */
export type WebCheck = (
  url: string,
) => Promise<
  { readonly ok: true } | { readonly ok: false; readonly reason: string; readonly blocked?: WebsiteBlock | undefined }
>;
