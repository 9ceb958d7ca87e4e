// Parallel: search with dense excerpts, and page reading.
import type { WebPage, WebProvider } from "../../../core/web.ts";
import {
  baseOf,
  callForJson,
  envValue,
  keyed,
  listOf,
  type ServiceParts,
  textOf,
  textsOf,
  turnPages,
} from "../service-call.ts";
import { pagesFor } from "./pages-for.ts";

const KEY = "PARALLEL_API_KEY";
const SNIPPET_CHARS = 500;
const SERVICE_MS = 60_000;

export function parallel(parts: ServiceParts): WebProvider {
  const call = (path: string, json: object, signal: AbortSignal) =>
    callForJson(parts, {
      url: `${baseOf(parts, "PARALLEL_BASE_URL", "https://api.parallel.ai")}${path}`,
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
    available: () => keyed(parts, KEY, "https://platform.parallel.ai"),
    search: (query, { limit, signal }) =>
      turnPages(limit, 1, async () => {
        const request = {
          objective: query,
          search_queries: [query],
          mode: "basic",
          advanced_settings: { max_results: limit },
        };
        const answer = await call("/v1/search", request, signal);
        if (!answer.ok) return answer;
        const hits = listOf(answer.value.results).map((hit) => ({
          title: textOf(hit.title),
          url: textOf(hit.url),
          description: textsOf(hit.excerpts).join(" … ").slice(0, SNIPPET_CHARS),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: async (urls, { signal }) => {
      const answer = await call("/v1/extract", { urls, advanced_settings: { full_content: true } }, signal);
      if (!answer.ok) return answer;
      const read = listOf(answer.value.results).map(
        (page): WebPage => ({
          ok: true,
          url: textOf(page.url),
          title: textOf(page.title),
          content: textOf(page.full_content) || textsOf(page.excerpts).join("\n\n"),
        }),
      );
      const failed = listOf(answer.value.errors).map((error): WebPage => {
        const code = typeof error.http_status_code === "number" ? ` (${error.http_status_code})` : "";
        return {
          ok: false,
          url: textOf(error.url),
          error: `Parallel: ${textOf(error.error_type) || "not read"}${code}`,
        };
      });
      return { ok: true, pages: pagesFor(urls, [...read, ...failed], "Parallel") };
    },
  };
}
