import { describe, expect, it } from "vitest";
import { toolContext } from "../../test/kit/tool-context.ts";
import type { SideModel } from "../core/model/provider.ts";
import { Type } from "../core/tool/schema.ts";
import { defineTool, type Tool, type ToolBox } from "../core/tool/tool.ts";
import { rankTools } from "./rank-tools.ts";
import { withToolSearch } from "./tool-search.ts";

function tool(name: string, description: string, searchable?: Tool["searchable"]): Tool {
  return defineTool({
    name,
    toolset: name.startsWith("mcp_") ? `mcp-${name.split("_")[1]}` : "own",
    description,
    searchable,
    parameters: Type.Object({ text: Type.String({ description: "Any text" }) }),
    run: async () => ({ content: name }),
  });
}

function box(tools: readonly Tool[]): ToolBox {
  return {
    schemas: tools.map(({ name, description, parameters }) => ({ name, description, parameters: parameters as never })),
    find: (name) => tools.find((each) => each.name === name),
    unavailable: () => undefined,
  };
}

const TOOLS = [
  tool("read_file", "Reads a file."),
  tool("cronjob", "Manages scheduled jobs.", "always"),
  tool("mcp_tracker_create_issue", "Creates an issue in a project.", "when-large"),
  tool("mcp_tracker_list_issues", "Lists the issues of a project.", "when-large"),
  tool("mcp_mail_send", "Sends an e-mail.", "when-large"),
];
const options = { budget: 10, builtins: true, late: () => [], side: () => undefined };
const names = (found: ToolBox): string[] => found.schemas.map((schema) => schema.name);

describe("tool search", () => {
  it("keeps what is small in the prompt, and moves what is large or rarely used out of it", () => {
    expect(names(withToolSearch(box(TOOLS), options, false))).toEqual(["call_tool", "read_file", "search_tools"]);
    const large = withToolSearch(box(TOOLS), { ...options, budget: 10_000 }, false);
    expect(names(large)).toContain("mcp_mail_send");
    expect(names(large)).not.toContain("cronjob");
  });

  it("changes nothing when there is nothing to search for", () => {
    const small = box(TOOLS.slice(0, 1));
    expect(withToolSearch(small, options, false)).toBe(small);
    expect(names(withToolSearch(small, options, true))).toContain("search_tools");
  });

  it("finds hidden tools with their schemas, and tools that arrived later", async () => {
    const arrived: Tool[] = [];
    const found = withToolSearch(box(TOOLS), { ...options, late: () => arrived }, false);
    const search = (query: string) => found.find("search_tools")?.run({ query } as never, toolContext("/tmp"));
    const before = JSON.stringify(found.schemas);
    expect((await search("make a new issue"))?.content).toContain("mcp_tracker_create_issue: Creates an issue");
    expect((await search("make a new issue"))?.content).toContain('"description":"Any text"');
    expect((await search("calendar"))?.failed).toBe(true);
    arrived.push(tool("mcp_calendar_list", "Lists events of the calendar.", "when-large"));
    expect((await search("calendar"))?.content).toContain("mcp_calendar_list");
    expect(found.find("mcp_calendar_list")?.name).toBe("mcp_calendar_list");
    expect((await search(""))?.content).toContain("cronjob");
    expect(JSON.stringify(found.schemas)).toBe(before);
  });

  it("asks a side model when no word matches", async () => {
    const side = { ask: async () => ({ ok: true, text: 'Sure: ["mcp_mail_send"]' }) } as unknown as SideModel;
    const found = withToolSearch(box(TOOLS), { ...options, side: () => side }, false);
    const result = await found.find("search_tools")?.run({ query: "Brief verschicken" } as never, toolContext("/tmp"));
    expect(result?.content).toContain("mcp_mail_send");
  });

  it("names in its description what can be found, in at most two thousand tokens for 400 tools", () => {
    const many = Array.from({ length: 400 }, (_, index) =>
      tool(`mcp_server${index % 20}_tool${index}`, "Does something useful with many words. ".repeat(5), "when-large"),
    );
    const found = withToolSearch(box(many), options, false);
    expect(JSON.stringify(found.schemas).length).toBeLessThan(8_000);
    expect(found.schemas.find(({ name }) => name === "search_tools")?.description).toContain("server7 (20 tools)");
  });
});

describe("the ranking of tools", () => {
  it("puts exact names and rare words first", () => {
    expect(rankTools("mcp_mail_send", TOOLS)[0]?.name).toBe("mcp_mail_send");
    expect(rankTools("list all issues", TOOLS)[0]?.name).toBe("mcp_tracker_list_issues");
    expect(rankTools("scheduling of jobs", TOOLS)[0]?.name).toBe("cronjob");
    expect(rankTools("nothing of that", TOOLS)).toEqual([]);
  });
});
