// Tavily: search and page reading for agents.
import type { WebPage, WebProvider } from "../../../core/web.ts";
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
const MOST_HITS = 20;

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
        const max_results = Math.min(limit, MOST_HITS);
        const answer = await call("/search", { query, max_results, search_depth: "basic" }, signal);
        if (!answer.ok) return answer;
        const hits = toFieldsList(answer.value.results).map((hit) => ({
          title: toText(hit.title),
          url: toText(hit.url),
          description: toText(hit.content),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: async (urls, { signal }) => {
      const answer = await call("/extract", { urls, format: "markdown", extract_depth: "basic" }, signal);
      if (!answer.ok) return answer;
      const read = toFieldsList(answer.value.results).map(
        (page): WebPage => ({
          ok: true,
          url: toText(page.url),
          title: toText(page.title),
          content: toText(page.raw_content),
        }),
      );
      const failed = toFieldsList(answer.value.failed_results).map(
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
