// Exa: search by meaning, with page texts.
import type { WebPage, WebProvider } from "../../../core/web.ts";
import {
  baseOf,
  callForJson,
  envValue,
  fieldsOf,
  keyed,
  listOf,
  type ServiceParts,
  textOf,
  textsOf,
  turnPages,
} from "../service-call.ts";
import { pagesFor } from "./pages-for.ts";

const KEY = "EXA_API_KEY";
const SNIPPET_CHARS = 500;

export function exa(parts: ServiceParts): WebProvider {
  const call = (path: string, json: object, signal: AbortSignal) =>
    callForJson(parts, {
      url: `${baseOf(parts, "EXA_BASE_URL", "https://api.exa.ai")}${path}`,
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
    available: () => keyed(parts, KEY, "https://dashboard.exa.ai"),
    search: (query, { limit, signal }) =>
      turnPages(limit, 1, async () => {
        const request = { query, numResults: limit, type: "auto", contents: { highlights: true } };
        const answer = await call("/search", request, signal);
        if (!answer.ok) return answer;
        const hits = listOf(answer.value.results).map((hit) => ({
          title: textOf(hit.title),
          url: textOf(hit.url),
          description: (textsOf(hit.highlights).join(" … ") || textOf(hit.text)).slice(0, SNIPPET_CHARS),
        }));
        return { ok: true, value: { hits, more: false } };
      }),
    extract: async (urls, { signal }) => {
      const answer = await call("/contents", { urls, text: true }, signal);
      if (!answer.ok) return answer;
      const read = listOf(answer.value.results).map(
        (page): WebPage => ({
          ok: true,
          url: textOf(page.id) || textOf(page.url),
          finalUrl: textOf(page.url),
          title: textOf(page.title),
          content: textOf(page.text),
        }),
      );
      const failed = listOf(answer.value.statuses)
        .filter((status) => status.status === "error")
        .map((status): WebPage => {
          const error = fieldsOf(status.error);
          const code = typeof error.httpStatusCode === "number" ? ` (${error.httpStatusCode})` : "";
          return { ok: false, url: textOf(status.id), error: `Exa: ${textOf(error.tag) || "not read"}${code}` };
        });
      return { ok: true, pages: pagesFor(urls, [...read, ...failed], "Exa") };
    },
  };
}
