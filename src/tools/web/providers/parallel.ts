// Parallel: search with dense excerpts, and page reading.
import type { WebPage, WebProvider } from "../../../core/tool/web.ts";
import {
  baseUrl,
  callForJson,
  collectPages,
  envValue,
  requireKey,
  type ServiceParts,
  toFieldsList,
  toText,
  toTexts,
} from "../service-call.ts";
import { pagesFor } from "./pages-for.ts";

const KEY = "PARALLEL_API_KEY";
const SNIPPET_CHARS = 500;
const SERVICE_MS = 60_000;

export function parallel(parts: ServiceParts): WebProvider {
  const call = (path: string, json: object, signal: AbortSignal) =>
    callForJson(parts, {
      url: `${baseUrl(parts, "PARALLEL_BASE_URL", "https://api.parallel.ai")}${path}`,
      service: "Parallel",
      keyVar: KEY,
      json,
      signal,
      timeoutMs: parts.timeoutMs ?? SERVICE_MS,
      headers: { "x-api-key": envValue(parts, KEY) },
    });
  return {
    name: "parallel",
    label: "Parallel",
    capabilities: ["search", "extract"],
    available: () => requireKey(parts, KEY, "https://platform.parallel.ai"),
    search: (query, { limit, signal }) =>
      collectPages(limit, 1, async () => {
        const request = {
          objective: query,
          search_queries: [query],
          mode: "basic",
          advanced_settings: { max_results: limit },
        };
        const response = await call("/v1/search", request, signal);
        if (!response.ok) return response;
        const hits = toFieldsList(response.value.results).map((hit) => ({
          title: toText(hit.title),
          url: toText(hit.url),
          description: toTexts(hit.excerpts).join(" … ").slice(0, SNIPPET_CHARS),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: async (urls, { signal }) => {
      const response = await call("/v1/extract", { urls, advanced_settings: { full_content: true } }, signal);
      if (!response.ok) return response;
      const read = toFieldsList(response.value.results).map(
        (page): WebPage => ({
          ok: true,
          url: toText(page.url),
          title: toText(page.title),
          content: toText(page.full_content) || toTexts(page.excerpts).join("\n\n"),
        }),
      );
      const failed = toFieldsList(response.value.errors).map((error): WebPage => {
        const code = typeof error.http_status_code === "number" ? ` (${error.http_status_code})` : "";
        return {
          ok: false,
          url: toText(error.url),
          error: `Parallel: ${toText(error.error_type) || "not read"}${code}`,
        };
      });
      return { ok: true, pages: pagesFor(urls, [...read, ...failed], "Parallel") };
    },
  };
}
