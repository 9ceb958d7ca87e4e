// Tavily: search and page reading for agents.
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
} from "../service-call.ts";
import { pagesFor } from "./pages-for.ts";

const KEY = "TAVILY_API_KEY";
const MAX_HITS = 20;

export function tavily(parts: ServiceParts): WebProvider {
  const call = (path: string, json: object, signal: AbortSignal) =>
    callForJson(parts, {
      url: `${baseUrl(parts, "TAVILY_BASE_URL", "https://api.tavily.com")}${path}`,
      service: "Tavily",
      keyVar: KEY,
      json,
      signal,
      headers: { authorization: `Bearer ${envValue(parts, KEY)}` },
    });
  return {
    name: "tavily",
    label: "Tavily",
    capabilities: ["search", "extract"],
    available: () => requireKey(parts, KEY, "https://app.tavily.com"),
    search: (query, { limit, signal }) =>
      collectPages(limit, 1, async () => {
        const max_results = Math.min(limit, MAX_HITS);
        const response = await call("/search", { query, max_results, search_depth: "basic" }, signal);
        if (!response.ok) return response;
        const hits = toFieldsList(response.value.results).map((hit) => ({
          title: toText(hit.title),
          url: toText(hit.url),
          description: toText(hit.content),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: async (urls, { signal }) => {
      const response = await call("/extract", { urls, format: "markdown", extract_depth: "basic" }, signal);
      if (!response.ok) return response;
      const read = toFieldsList(response.value.results).map(
        (page): WebPage => ({
          ok: true,
          url: toText(page.url),
          title: toText(page.title),
          content: toText(page.raw_content),
        }),
      );
      const failed = toFieldsList(response.value.failed_results).map(
        (page): WebPage => ({
          ok: false,
          url: toText(page.url),
          error: toText(page.error) || "Tavily could not read it",
        }),
      );
      return { ok: true, pages: pagesFor(urls, [...read, ...failed], "Tavily") };
    },
  };
}
