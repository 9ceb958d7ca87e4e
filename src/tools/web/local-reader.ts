// The built-in reader: fetches pages and converts them to Markdown without a service.
import type { WebFetch, WebPage, WebProvider } from "../../core/tool/web.ts";

const TIMEOUT_MS = 30_000;
const MAX_BYTES = 4_000_000;
const HEADERS = {
  "user-agent": "Mozilla/5.0 (compatible; HermesAgent)",
  accept:
    "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5",
  "accept-language": "en;q=0.8, *;q=0.5",
};

export interface LocalReaderParts {
  /** Checks every redirect. */
  readonly fetch: WebFetch;
  readonly timeoutMs?: number | undefined;
}

async function readPage(parts: LocalReaderParts, url: string, signal: AbortSignal): Promise<WebPage> {
  const response = await parts.fetch(url, {
    headers: HEADERS,
    timeoutMs: parts.timeoutMs ?? TIMEOUT_MS,
    maxBytes: MAX_BYTES,
    signal,
  });
  if (!response.ok) return { ok: false, url, error: `not fetched: ${response.reason}` };
  if (response.status >= 400) return { ok: false, url, error: `the server answered ${response.status}` };
  const { pageText } = await import("./page-text.ts");
  const text = await pageText({
    bytes: response.body,
    contentType: response.headers["content-type"] ?? "",
    url: response.url,
  });
  if (!text.ok) return { ok: false, url, error: text.error };
  return {
    ok: true,
    url,
    finalUrl: response.url,
    title: text.title,
    content: text.content,
    truncated: response.truncated || undefined,
  };
}

export function localReader(parts: LocalReaderParts): WebProvider {
  return {
    name: "local",
    label: "Built-in reader",
    capabilities: ["extract"],
    available: () => ({ ok: true }),
    extract: async (urls, { signal }) => ({
      ok: true,
      pages: await Promise.all(urls.map((url) => readPage(parts, url, signal))),
    }),
  };
}
