// DuckDuckGo through its HTML page, without a key.
import type { WebProvider } from "../../../core/tool/web.ts";
import { baseUrl, callForText, collectPages, type ServiceParts } from "../service-call.ts";

const MAX_PAGES = 5;
const HEADERS = {
  "content-type": "application/x-www-form-urlencoded",
  "user-agent": "Mozilla/5.0 (compatible; HermesAgent)",
  accept: "text/html",
};

export function ddgs(parts: ServiceParts): WebProvider {
  return {
    name: "ddgs",
    label: "DuckDuckGo",
    capabilities: ["search"],
    available: () => ({ ok: true }),
    search: async (query, { limit, signal }) => {
      let form: URLSearchParams | null = new URLSearchParams({ q: query, b: "", kl: "" });
      return collectPages(limit, MAX_PAGES, async () => {
        const response = await callForText(parts, {
          url: `${baseUrl(parts, "DDGS_BASE_URL", "https://html.duckduckgo.com")}/html/`,
          service: "DuckDuckGo",
          method: "POST",
          headers: HEADERS,
          body: String(form),
          maxRedirects: 3,
          signal,
        });
        if (!response.ok) return response;
        const { readResults } = await import("./ddgs-page.ts");
        const page = await readResults(response.value);
        if (page.ok) form = page.value.next;
        return page;
      });
    },
  };
}
