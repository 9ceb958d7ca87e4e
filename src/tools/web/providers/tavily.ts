// Tavily: search and page reading for agents.
import type { WebPage, WebProvider } from "../../../core/web.ts";
import { baseOf, callForJson, envValue, keyed, listOf, type ServiceParts, textOf, turnPages } from "../service-call.ts";
import { pagesFor } from "./pages-for.ts";

const KEY = "TAVILY_API_KEY";
const MOST_HITS = 20;

export function tavily(parts: ServiceParts): WebProvider {
  const call = (path: string, json: object, signal: AbortSignal) =>
    callForJson(parts, {
      url: `${baseOf(parts, "TAVILY_BASE_URL", "https://api.tavily.com")}${path}`,
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
    available: () => keyed(parts, KEY, "https://app.tavily.com"),
    search: (query, { limit, signal }) =>
      turnPages(limit, 1, async () => {
        const max_results = Math.min(limit, MOST_HITS);
        const answer = await call("/search", { query, max_results, search_depth: "basic" }, signal);
        if (!answer.ok) return answer;
        const hits = listOf(answer.value.results).map((hit) => ({
          title: textOf(hit.title),
          url: textOf(hit.url),
          description: textOf(hit.content),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: async (urls, { signal }) => {
      const answer = await call("/extract", { urls, format: "markdown", extract_depth: "basic" }, signal);
      if (!answer.ok) return answer;
      const read = listOf(answer.value.results).map(
        (page): WebPage => ({
          ok: true,
          url: textOf(page.url),
          title: textOf(page.title),
          content: textOf(page.raw_content),
        }),
      );
      const failed = listOf(answer.value.failed_results).map(
        (page): WebPage => ({
          ok: false,
          url: textOf(page.url),
          error: textOf(page.error) || "Tavily could not read it",
        }),
      );
      return { ok: true, pages: pagesFor(urls, [...read, ...failed], "Tavily") };
    },
  };
}
