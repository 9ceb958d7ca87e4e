// xAI: a model that searches the web by itself, asked for nothing but the list of what it found.
import type { WebHit, WebProvider } from "../../../core/web.ts";
import { parseJson } from "../../../lib/json/parse-json.ts";
import {
  baseOf,
  callForJson,
  envValue,
  type Fields,
  keyed,
  listOf,
  type ServiceParts,
  textOf,
  textsOf,
  turnPages,
} from "../service-call.ts";

const KEY = "XAI_API_KEY";
const ANSWER_MS = 120_000;
const SNIPPET_CHARS = 300;

function question(query: string, limit: number): string {
  return [
    `Search the web for: ${query}`,
    `Answer with a JSON array and nothing else: up to ${limit} objects with the keys title, url, description,`,
    "best first. Use only addresses that your search returned; description is one or two sentences about what the page says.",
  ].join("\n");
}

interface Said {
  readonly text: string;
  readonly annotations: readonly Fields[];
}

function spoken(answer: Fields): readonly Said[] {
  return listOf(answer.output)
    .filter((item) => item.type === "message")
    .flatMap((item) => listOf(item.content))
    .filter((part) => part.type === "output_text")
    .map((part) => ({ text: textOf(part.text), annotations: listOf(part.annotations) }));
}

function listed(text: string): WebHit[] {
  const start = text.indexOf("[");
  const end = text.lastIndexOf("]");
  if (start === -1 || end <= start) return [];
  const items = listOf(parseJson(text.slice(start, end + 1))).filter((hit) => textOf(hit.url) !== "");
  return items.map((hit) => ({
    title: textOf(hit.title),
    url: textOf(hit.url),
    description: textOf(hit.description),
  }));
}

/** When the model wrote prose instead of a list: its citations, each with the words before it. */
function cited(said: readonly Said[], citations: readonly string[]): WebHit[] {
  const hits = said.flatMap(({ text, annotations }) =>
    annotations
      .filter((note) => note.type === "url_citation")
      .map((note) => {
        const end = typeof note.start_index === "number" ? note.start_index : 0;
        const title = textOf(note.title);
        return {
          url: textOf(note.url),
          title: /^\d*$/.test(title) ? textOf(note.url) : title,
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
    available: () => keyed(parts, KEY, "https://console.x.ai"),
    search: (query, { limit, signal }) =>
      turnPages(limit, 1, async () => {
        const answer = await callForJson(parts, {
          url: `${baseOf(parts, "XAI_BASE_URL", "https://api.x.ai/v1")}/responses`,
          service: "xAI",
          keyVar: KEY,
          signal,
          timeoutMs: parts.timeoutMs ?? ANSWER_MS,
          headers: { authorization: `Bearer ${envValue(parts, KEY)}` },
          json: {
            model: parts.model,
            input: [{ role: "user", content: question(query, limit) }],
            tools: [{ type: "web_search" }],
            store: false,
          },
        });
        if (!answer.ok) return answer;
        const said = spoken(answer.value);
        const inList = said.flatMap(({ text }) => listed(text));
        const hits = inList.length > 0 ? inList : cited(said, textsOf(answer.value.citations));
        return { ok: true, value: { hits, more: false } };
      }),
  };
}
