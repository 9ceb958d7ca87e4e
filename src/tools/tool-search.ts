// Tool search: tools that are rarely needed stay out of the prompt. The model finds them with one fixed tool and runs
// them with another, so the prompt prefix stays the same while servers connect and tools change.
import type { SideModel, ToolSchema } from "../core/model/provider.ts";
import { estimateSchemaTokens } from "../core/model/tokens.ts";
import { CALL_TOOL, SEARCH_TOOLS } from "../core/tool/call-tool.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool, type Tool, type ToolBox, toolError } from "../core/tool/tool.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { rankTools } from "./rank-tools.ts";

const MATCHES = 5;
const MAX_NAMED = 12;

export interface ToolSearchOptions {
  /** Tokens of schemas that may stay in the prompt for tools with `searchable: "when-large"`. */
  readonly budget: number;
  /** False where the user named the toolsets: built-in tools then stay in the prompt. */
  readonly builtins: boolean;
  /** Tools that appeared after the conversation was opened, as of servers that connected late. */
  late(): readonly Tool[];
  /** Finds tools when the words of a query match none. */
  side(): SideModel | undefined;
}

function plain(tool: Tool): ToolSchema {
  return { name: tool.name, description: tool.description, parameters: tool.parameters as ToolSchema["parameters"] };
}

function firstSentence(text: string): string {
  return text.split(/(?<=\.)\s|\n/, 1)[0] ?? text;
}

/** What can be found, in a line that does not change during the conversation. */
function overview(tools: readonly Tool[]): string {
  const bySet = new Map<string, string[]>();
  for (const tool of tools) bySet.set(tool.toolset, [...(bySet.get(tool.toolset) ?? []), tool.name]);
  const rows = [...bySet].map(([set, names]) =>
    names.length <= 2 ? names.join(", ") : `${set.replace(/^mcp-/, "")} (${names.length} tools)`,
  );
  const shown = rows.length > MAX_NAMED * 2 ? [...rows.slice(0, MAX_NAMED * 2), "…"] : rows;
  return shown.length === 0 ? "" : ` Among them: ${shown.join(", ")}.`;
}

const searchParameters = Type.Object({
  query: Type.String({ description: "What the tool should do, or its name; empty lists all names" }),
});

const callParameters = Type.Object({
  name: Type.String({ description: "The tool's name, as search_tools shows it" }),
  arguments: Type.Object({}, { description: "Its arguments, by its schema" }),
});

async function askForNames(query: string, tools: readonly Tool[], side: SideModel, signal: AbortSignal) {
  const list = tools.map((tool) => `${tool.name}: ${firstSentence(tool.description)}`).join("\n");
  const task = {
    task: "mcp",
    system:
      "You match a request to tools. Answer with a JSON list of at most five tool names, best first, and nothing else.",
  };
  const answer = await side.ask(
    { ...task, prompt: `Request: ${query}\n\nTools:\n${list}`, maxOutputTokens: 200 },
    signal,
  );
  const names = answer.ok
    ? parseJson(answer.text.slice(answer.text.indexOf("["), answer.text.lastIndexOf("]") + 1))
    : [];
  return tools.filter((tool) => Array.isArray(names) && names.includes(tool.name));
}

function describeTools(tools: readonly Tool[]): string {
  const rows = tools.map((tool) => `${tool.name}: ${tool.description}\narguments: ${JSON.stringify(tool.parameters)}`);
  return `${rows.join("\n\n")}\n\nRun one with ${CALL_TOOL}.`;
}

function searchTool(found: () => readonly Tool[], options: ToolSearchOptions, summary: string): Tool {
  return defineTool({
    name: SEARCH_TOOLS,
    toolset: "context",
    description: `Finds further tools and shows how to call them with ${CALL_TOOL}.${summary}`,
    parameters: searchParameters,
    overlap: "parallel",
    housekeeping: true,
    run: async ({ query }, { signal }) => {
      const tools = found();
      if (query.trim() === "") {
        const names = tools.map((tool) => `${tool.name}: ${firstSentence(tool.description)}`.slice(0, 120));
        return { content: names.join("\n") || "There are no further tools.", trust: "own" };
      }
      let matches = rankTools(query, tools).slice(0, MATCHES);
      const side = options.side();
      if (matches.length === 0 && side && tools.length > 0) matches = await askForNames(query, tools, side, signal);
      if (matches.length === 0) return toolError("No tool matches. An empty query lists all names.");
      return { content: describeTools(matches), trust: "own" };
    },
  });
}

function callTool(): Tool {
  return defineTool({
    name: CALL_TOOL,
    toolset: "context",
    description: `Runs a tool that ${SEARCH_TOOLS} found.`,
    parameters: callParameters,
    // The agent runs the named tool instead; this is reached when a call names none.
    run: async () => toolError(`Name a tool: {"name": "…", "arguments": {…}}. ${SEARCH_TOOLS} finds names.`),
  });
}

/** The tools of `box` that leave the prompt. */
function toSearch(box: ToolBox, { budget, builtins }: ToolSearchOptions): readonly Tool[] {
  const tools = box.schemas
    .map((schema) => box.find(schema.name))
    .filter((tool) => tool?.searchable !== undefined) as Tool[];
  const large = tools.filter((tool) => tool.searchable === "when-large");
  const tooLarge = estimateSchemaTokens(large.map(plain)) > budget;
  return tools.filter((tool) => (tool.searchable === "always" ? builtins : tooLarge));
}

/** `expected`: servers that have not told their tools yet, so that there will be something to find. */
export function withToolSearch(box: ToolBox, options: ToolSearchOptions, expected: boolean): ToolBox {
  const hidden = toSearch(box, options);
  if (hidden.length === 0 && !expected) return box;
  const names = new Set(hidden.map((tool) => tool.name));
  const late = (): readonly Tool[] => options.late().filter((tool) => !box.find(tool.name));
  const found = (): readonly Tool[] => [...hidden, ...late()];
  const own = [searchTool(found, options, overview(hidden)), callTool()];
  return {
    schemas: [...box.schemas.filter((schema) => !names.has(schema.name)), ...own.map(plain)].sort((a, b) =>
      a.name < b.name ? -1 : 1,
    ),
    searched: [...names],
    find: (name) =>
      own.find((tool) => tool.name === name) ?? box.find(name) ?? late().find((tool) => tool.name === name),
    unavailable: (name) => box.unavailable(name),
  };
}
