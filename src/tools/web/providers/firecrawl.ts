// Firecrawl: search and page reading, hosted (with a key) or self-hosted (with an address).
import type { WebExtractAnswer, WebPage, WebProvider } from "../../../core/web.ts";
import {
  baseOf,
  callForJson,
  envValue,
  fail,
  fieldsOf,
  keyed,
  listOf,
  type ServiceAnswer,
  type ServiceParts,
  textOf,
  turnPages,
} from "../service-call.ts";

const KEY = "FIRECRAWL_API_KEY";
const BASE = "FIRECRAWL_API_URL";
const SCRAPE_MS = 60_000;

type Call = (
  path: string,
  json: object,
  signal: AbortSignal,
) => Promise<ServiceAnswer<{ readonly [k: string]: unknown }>>;

function pageFrom(url: string, data: { readonly [key: string]: unknown }): WebPage {
  const metadata = fieldsOf(data.metadata);
  const status = metadata.statusCode;
  const said = textOf(metadata.error);
  if (typeof status === "number" && status >= 400)
    return { ok: false, url, error: `the server answered ${status}${said ? ` (${said})` : ""}` };
  const content = textOf(data.markdown);
  if (content.trim() === "") return { ok: false, url, error: said || "Firecrawl found no text on this page" };
  const finalUrl = textOf(metadata.url) || textOf(metadata.sourceURL);
  return { ok: true, url, title: textOf(metadata.title), content, ...(finalUrl ? { finalUrl } : {}) };
}

/** One call a page. When the account itself is refused, every page fails alike: that is the service's failure. */
async function scrape(call: Call, urls: readonly string[], signal: AbortSignal): Promise<WebExtractAnswer> {
  const answers = await Promise.all(
    urls.map(async (url) => {
      const request = { url, formats: ["markdown"], onlyMainContent: true };
      return { url, answer: await call("/v2/scrape", request, signal) };
    }),
  );
  const first = answers[0]?.answer;
  if (first && !first.ok && answers.every(({ answer }) => !answer.ok && answer.failure.kind === first.failure.kind))
    return first;
  const pages = answers.map(({ url, answer }): WebPage => {
    if (!answer.ok) return { ok: false, url, error: answer.failure.message };
    if (answer.value.success === false)
      return { ok: false, url, error: `Firecrawl: ${textOf(answer.value.error) || "not read"}` };
    return pageFrom(url, fieldsOf(answer.value.data));
  });
  return { ok: true, pages };
}

export function firecrawl(parts: ServiceParts): WebProvider {
  const key = envValue(parts, KEY);
  const call: Call = (path, json, signal) =>
    callForJson(parts, {
      url: `${baseOf(parts, BASE, "https://api.firecrawl.dev")}${path}`,
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
    available: () => (envValue(parts, BASE) ? { ok: true } : keyed(parts, KEY, "https://www.firecrawl.dev")),
    search: (query, { limit, signal }) =>
      turnPages(limit, 1, async () => {
        const answer = await call("/v2/search", { query, limit }, signal);
        if (!answer.ok) return answer;
        if (answer.value.success === false)
          return fail("server_error", `Firecrawl: ${textOf(answer.value.error) || "the search failed"}`);
        const data = answer.value.data;
        // Older self-hosted servers answer with the list itself.
        const hits = listOf(Array.isArray(data) ? data : fieldsOf(data).web).map((hit) => ({
          title: textOf(hit.title),
          url: textOf(hit.url),
          description: textOf(hit.description),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: (urls, { signal }) => scrape(call, urls, signal),
  };
}
