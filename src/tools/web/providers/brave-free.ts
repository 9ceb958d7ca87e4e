// Brave Search with a key of the free plan.
import type { WebProvider } from "../../../core/tool/web.ts";
import {
  baseUrl,
  callForJson,
  collectPages,
  envValue,
  requireKey,
  type ServiceParts,
  toFields,
  toFieldsList,
  toText,
} from "../service-call.ts";

const KEY = "BRAVE_SEARCH_API_KEY";
/** The service returns at most 20 hits per page; `offset` counts pages. */
const PAGE = 20;
const MAX_PAGES = 5;

export function braveFree(parts: ServiceParts): WebProvider {
  return {
    name: "brave_free",
    label: "Brave Search",
    capabilities: ["search"],
    available: () => requireKey(parts, KEY, "https://brave.com/search/api"),
    search: (query, { limit, signal }) =>
      collectPages(limit, MAX_PAGES, async (index) => {
        const url = new URL(
          `${baseUrl(parts, "BRAVE_SEARCH_BASE_URL", "https://api.search.brave.com")}/res/v1/web/search`,
        );
        url.searchParams.set("q", query);
        url.searchParams.set("count", String(Math.min(limit, PAGE)));
        url.searchParams.set("text_decorations", "false");
        url.searchParams.set("result_filter", "web");
        if (index > 0) url.searchParams.set("offset", String(index));
        const response = await callForJson(parts, {
          url: url.href,
          service: "Brave Search",
          keyVar: KEY,
          signal,
          headers: { "x-subscription-token": envValue(parts, KEY) },
        });
        if (!response.ok) return response;
        const hits = toFieldsList(toFields(response.value.web).results).map((hit) => ({
          title: toText(hit.title),
          url: toText(hit.url),
          description: toText(hit.description),
        }));
        return { ok: true, value: { hits, more: toFields(response.value.query).more_results_available === true } };
      }),
  };
}
