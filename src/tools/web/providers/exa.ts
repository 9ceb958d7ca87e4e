// Exa: semantic search and page reading.
import type { WebPage, WebProvider } from "../../../core/tool/web.ts";
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
  toTexts,
} from "../service-call.ts";
import { pagesFor } from "./pages-for.ts";

const KEY = "EXA_API_KEY";
const SNIPPET_CHARS = 500;

export function exa(parts: ServiceParts): WebProvider {
  const call = (path: string, json: object, signal: AbortSignal) =>
    callForJson(parts, {
      url: `${baseUrl(parts, "EXA_BASE_URL", "https://api.exa.ai")}${path}`,
      service: "Exa",
      keyVar: KEY,
      json,
      signal,
      headers: { "x-api-key": envValue(parts, KEY) },
    });
  return {
    name: "exa",
    label: "Exa",
    capabilities: ["search", "extract"],
    available: () => requireKey(parts, KEY, "https://dashboard.exa.ai"),
    search: (query, { limit, signal }) =>
      collectPages(limit, 1, async () => {
        const request = { query, numResults: limit, type: "auto", contents: { highlights: true } };
        const response = await call("/search", request, signal);
        if (!response.ok) return response;
        const hits = toFieldsList(response.value.results).map((hit) => ({
          title: toText(hit.title),
          url: toText(hit.url),
          description: (toTexts(hit.highlights).join(" … ") || toText(hit.text)).slice(0, SNIPPET_CHARS),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: async (urls, { signal }) => {
      const response = await call("/contents", { urls, text: true }, signal);
      if (!response.ok) return response;
      const read = toFieldsList(response.value.results).map(
        (page): WebPage => ({
          ok: true,
          url: toText(page.id) || toText(page.url),
          finalUrl: toText(page.url),
          title: toText(page.title),
          content: toText(page.text),
        }),
      );
      const failed = toFieldsList(response.value.statuses)
        .filter((status) => status.status === "error")
        .map((status): WebPage => {
          const error = toFields(status.error);
          const code = typeof error.httpStatusCode === "number" ? ` (${error.httpStatusCode})` : "";
          return { ok: false, url: toText(status.id), error: `Exa: ${toText(error.tag) || "not read"}${code}` };
        });
      return { ok: true, pages: pagesFor(urls, [...read, ...failed], "Exa") };
    },
  };
}
