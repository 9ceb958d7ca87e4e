// xAI: a model that searches the web and returns the list of results.
import type { WebHit, WebProvider } from "../../../core/tool/web.ts";
import { parseJson } from "../../../lib/json/parse-json.ts";
import {
  baseUrl,
  callForJson,
  collectPages,
  envValue,
  type Fields,
  requireKey,
  type ServiceParts,
  toFieldsList,
  toText,
  toTexts,
} from "../service-call.ts";

const KEY = "XAI_API_KEY";
const ANSWER_MS = 120_000;
const SNIPPET_CHARS = 300;

function buildPrompt(query: string, limit: number): string {
  return [
    `Search the web for: ${query}`,
    `Answer with a JSON array and nothing else: up to ${limit} objects with the keys title, url, description,`,
    "best first. Use only addresses that your search returned; description is one or two sentences about what the page says.",
  ].join("\n");
}

interface OutputText {
  readonly text: string;
  readonly annotations: readonly Fields[];
}

function readOutput(response: Fields): readonly OutputText[] {
  return toFieldsList(response.output)
    .filter((item) => item.type === "message")
    .flatMap((item) => toFieldsList(item.content))
    .filter((part) => part.type === "output_text")
    .map((part) => ({ text: toText(part.text), annotations: toFieldsList(part.annotations) }));
}

function readList(text: string): WebHit[] {
  const start = text.indexOf("[");
  const end = text.lastIndexOf("]");
  if (start === -1 || end <= start) return [];
  const items = toFieldsList(parseJson(text.slice(start, end + 1))).filter((hit) => toText(hit.url) !== "");
  return items.map((hit) => ({
    title: toText(hit.title),
    url: toText(hit.url),
    description: toText(hit.description),
  }));
}

/** For responses without a list: the citations, each with the text before it. */
function readCitations(output: readonly OutputText[], citations: readonly string[]): WebHit[] {
  const hits = output.flatMap(({ text, annotations }) =>
    annotations
      .filter((note) => note.type === "url_citation")
      .map((note) => {
        const end = typeof note.start_index === "number" ? note.start_index : 0;
        const title = toText(note.title);
        return {
          url: toText(note.url),
          title: /^\d*$/.test(title) ? toText(note.url) : title,
          description: text.slice(Math.max(0, end - SNIPPET_CHARS), end).trim(),
        };
      }),
  );
  return [...hits, ...citations.map((url) => ({ url, title: url, description: "" }))];
}

export function xai(parts: ServiceParts & { readonly model: string }): WebProvider {
  return {
    name: "xai",
    label: "xAI",
    capabilities: ["search"],
    available: () => requireKey(parts, KEY, "https://console.x.ai"),
    search: (query, { limit, signal }) =>
      collectPages(limit, 1, async () => {
        const response = await callForJson(parts, {
          url: `${baseUrl(parts, "XAI_BASE_URL", "https://api.x.ai/v1")}/responses`,
          service: "xAI",
          keyVar: KEY,
          signal,
          timeoutMs: parts.timeoutMs ?? ANSWER_MS,
          headers: { authorization: `Bearer ${envValue(parts, KEY)}` },
          json: {
            model: parts.model,
            input: [{ role: "user", content: buildPrompt(query, limit) }],
            tools: [{ type: "web_search" }],
            store: false,
          },
        });
        if (!response.ok) return response;
        const output = readOutput(response.value);
        const inList = output.flatMap(({ text }) => readList(text));
        const hits = inList.length > 0 ? inList : readCitations(output, toTexts(response.value.citations));
        return { ok: true, value: { hits, more: false } };
      }),
  };
}
