// SearXNG, a self-hosted metasearch engine.
import type { WebProvider } from "../../../core/tool/web.ts";
import {
  baseUrl,
  callForJson,
  collectPages,
  envValue,
  fail,
  type ServiceParts,
  toFieldsList,
  toText,
} from "../service-call.ts";

const MAX_PAGES = 6;

/** Formats `unresponsive_engines`, pairs of name and reason. */
function formatEngines(value: unknown): string {
  if (!Array.isArray(value)) return "";
  return value
    .map((entry) => (Array.isArray(entry) ? entry.map(String).join(": ") : String(entry)))
    .slice(0, 5)
    .join(", ");
}

export function searxng(parts: ServiceParts): WebProvider {
  const service = "SearXNG";
  return {
    name: "searxng",
    label: service,
    capabilities: ["search"],
    available: () =>
      envValue(parts, "SEARXNG_URL") === ""
        ? { ok: false, reason: "SEARXNG_URL is not set; point it at your SearXNG server" }
        : { ok: true },
    search: (query, { limit, signal }) =>
      collectPages(limit, MAX_PAGES, async (index) => {
        const url = new URL(`${baseUrl(parts, "SEARXNG_URL", "")}/search`);
        url.searchParams.set("q", query);
        url.searchParams.set("format", "json");
        if (index > 0) url.searchParams.set("pageno", String(index + 1));
        const response = await callForJson(parts, { url: url.href, service, signal, maxRedirects: 3 });
        if (!response.ok && response.failure.status === 403)
          return fail("auth", "SearXNG refuses JSON responses.", {
            status: 403,
            provider: service,
            hint: "Add `json` to search.formats in the server's settings.yml.",
          });
        if (!response.ok) return response;
        const results = toFieldsList(response.value.results);
        const silent = formatEngines(response.value.unresponsive_engines);
        if (index === 0 && results.length === 0 && silent !== "")
          return fail("server_error", `SearXNG got no response from its engines (${silent}).`, { provider: service });
        const hits = results.map((hit) => ({
          title: toText(hit.title),
          url: toText(hit.url),
          description: toText(hit.content),
        }));
        return { ok: true, value: { hits, more: true } };
      }),
  };
}
