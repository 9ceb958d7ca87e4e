// Firecrawl: search and page reading, hosted (with a key) or self-hosted (with an address).
import type { WebExtractAnswer, WebPage, WebProvider } from "../../../core/tool/web.ts";
import {
  baseUrl,
  callForJson,
  collectPages,
  envValue,
  fail,
  requireKey,
  type ServiceParts,
  type ServiceResult,
  toFields,
  toFieldsList,
  toText,
} from "../service-call.ts";

const KEY = "FIRECRAWL_API_KEY";
const BASE = "FIRECRAWL_API_URL";
const SCRAPE_MS = 60_000;

type Call = (
  path: string,
  json: object,
  signal: AbortSignal,
) => Promise<ServiceResult<{ readonly [k: string]: unknown }>>;

function readPage(url: string, data: { readonly [key: string]: unknown }): WebPage {
  const metadata = toFields(data.metadata);
  const status = metadata.statusCode;
  const message = toText(metadata.error);
  if (typeof status === "number" && status >= 400)
    return { ok: false, url, error: `the server answered ${status}${message ? ` (${message})` : ""}` };
  const content = toText(data.markdown);
  if (content.trim() === "") return { ok: false, url, error: message || "Firecrawl found no text on this page" };
  const finalUrl = toText(metadata.url) || toText(metadata.sourceURL);
  return { ok: true, url, title: toText(metadata.title), content, finalUrl: finalUrl || undefined };
}

/** One call per page. When all fail for the same reason, such as a refused key, that is the failure of the service. */
async function scrape(call: Call, urls: readonly string[], signal: AbortSignal): Promise<WebExtractAnswer> {
  const responses = await Promise.all(
    urls.map(async (url) => {
      const request = { url, formats: ["markdown"], onlyMainContent: true };
      return { url, response: await call("/v2/scrape", request, signal) };
    }),
  );
  const first = responses[0]?.response;
  if (
    first &&
    !first.ok &&
    responses.every(({ response }) => !response.ok && response.failure.kind === first.failure.kind)
  )
    return first;
  const pages = responses.map(({ url, response }): WebPage => {
    if (!response.ok) return { ok: false, url, error: response.failure.message };
    if (response.value.success === false)
      return { ok: false, url, error: `Firecrawl: ${toText(response.value.error) || "not read"}` };
    return readPage(url, toFields(response.value.data));
  });
  return { ok: true, pages };
}

export function firecrawl(parts: ServiceParts): WebProvider {
  const key = envValue(parts, KEY);
  const call: Call = (path, json, signal) =>
    callForJson(parts, {
      url: `${baseUrl(parts, BASE, "https://api.firecrawl.dev")}${path}`,
      service: "Firecrawl",
      keyVar: KEY,
      json,
      signal,
      timeoutMs: parts.timeoutMs ?? SCRAPE_MS,
      headers: key ? { authorization: `Bearer ${key}` } : {},
    });
  return {
    name: "firecrawl",
    label: "Firecrawl",
    capabilities: ["search", "extract"],
    available: () => (envValue(parts, BASE) ? { ok: true } : requireKey(parts, KEY, "https://www.firecrawl.dev")),
    search: (query, { limit, signal }) =>
      collectPages(limit, 1, async () => {
        const response = await call("/v2/search", { query, limit }, signal);
        if (!response.ok) return response;
        if (response.value.success === false)
          return fail("server_error", `Firecrawl: ${toText(response.value.error) || "the search failed"}`);
        const data = response.value.data;
        // Older self-hosted servers return the list itself.
        const hits = toFieldsList(Array.isArray(data) ? data : toFields(data).web).map((hit) => ({
          title: toText(hit.title),
          url: toText(hit.url),
          description: toText(hit.description),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: (urls, { signal }) => scrape(call, urls, signal),
  };
}
