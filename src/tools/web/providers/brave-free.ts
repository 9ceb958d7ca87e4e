// Brave Search, with the key of its free plan.
import type { WebProvider } from "../../../core/web.ts";
import {
  baseOf,
  callForJson,
  envValue,
  fieldsOf,
  keyed,
  listOf,
  type ServiceParts,
  textOf,
  turnPages,
} from "../service-call.ts";

const KEY = "BRAVE_SEARCH_API_KEY";
/** The service answers with at most 20 hits a page and counts pages, not hits. */
const PAGE = 20;
const MAX_PAGES = 5;

export function braveFree(parts: ServiceParts): WebProvider {
  return {
    name: "brave_free",
    label: "Brave Search",
    capabilities: ["search"],
    available: () => keyed(parts, KEY, "https://brave.com/search/api"),
    search: (query, { limit, signal }) =>
      turnPages(limit, MAX_PAGES, async (index) => {
        const url = new URL(
          `${baseOf(parts, "BRAVE_SEARCH_BASE_URL", "https://api.search.brave.com")}/res/v1/web/search`,
        );
        url.searchParams.set("q", query);
        url.searchParams.set("count", String(Math.min(limit, PAGE)));
        url.searchParams.set("text_decorations", "false");
        url.searchParams.set("result_filter", "web");
        if (index > 0) url.searchParams.set("offset", String(index));
        const answer = await callForJson(parts, {
          url: url.href,
          service: "Brave Search",
          keyVar: KEY,
          signal,
          headers: { "x-subscription-token": envValue(parts, KEY) },
        });
        if (!answer.ok) return answer;
        const hits = listOf(fieldsOf(answer.value.web).results).map((hit) => ({
          title: textOf(hit.title),
          url: textOf(hit.url),
          description: textOf(hit.description),
        }));
        return { ok: true, value: { hits, more: fieldsOf(answer.value.query).more_results_available === true } };
      }),
  };
}
