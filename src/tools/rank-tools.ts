// Ranks tools by the words that a query shares with their names, descriptions and parameters.
import type { Tool } from "../core/tool/tool.ts";
import { isRecord } from "../lib/json/is-record.ts";

const NAME_WEIGHT = 3;
const COMMON = new Set([
  "a",
  "an",
  "and",
  "the",
  "to",
  "of",
  "in",
  "on",
  "for",
  "with",
  "all",
  "my",
  "is",
  "it",
  "tool",
]);

/** Lower-case words without plural and common endings, so that "issues" finds "issue". */
function words(text: string): string[] {
  const parts = text
    .replaceAll(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u);
  return parts.filter((part) => part !== "" && !COMMON.has(part)).map((part) => part.replace(/(?:ing|ed|es|s)$/, ""));
}

function parameterNames(tool: Tool): string {
  const { properties } = tool.parameters as { readonly properties?: unknown };
  return isRecord(properties) ? Object.keys(properties).join(" ") : "";
}

/** Words that few tools have weigh more. Tools without a common word are left out; the best come first. */
export function rankTools(query: string, tools: readonly Tool[]): Tool[] {
  const documents = tools.map((tool) => ({
    tool,
    name: new Set(words(tool.name)),
    text: new Set(words(`${tool.description} ${parameterNames(tool)}`)),
  }));
  const asked = [...new Set(words(query))];
  const weight = new Map(
    asked.map((word) => {
      const having = documents.filter(({ name, text }) => name.has(word) || text.has(word)).length;
      return [word, Math.log(1 + tools.length / (1 + having))];
    }),
  );
  const exact = query.trim().toLowerCase();
  return documents
    .map(({ tool, name, text }) => {
      let score = tool.name.toLowerCase() === exact ? 1_000 : 0;
      for (const word of asked)
        score += (weight.get(word) ?? 0) * (name.has(word) ? NAME_WEIGHT : text.has(word) ? 1 : 0);
      return { tool, score };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || (a.tool.name < b.tool.name ? -1 : 1))
    .map(({ tool }) => tool);
}
