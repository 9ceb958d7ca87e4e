// Project instructions of folders that the agent comes to later ride on the result of the tool that led there.
import type { Scan } from "../../core/scan.ts";
import type { Tool, ToolBox } from "../../core/tool.ts";

/** Tools whose arguments name places in the workspace. */
const LEADING = new Set(["read_file", "search_files", "terminal"]);

/** The same box; the hints are loaded at the first call that could lead somewhere new. */
export function withHints(box: ToolBox, cwd: string, scan: Scan): ToolBox {
  const hints = import("./subdirectory-hints.ts").then(({ SubdirectoryHints }) => new SubdirectoryHints({ cwd, scan }));
  const wrapped = new Map<string, Tool>();
  const wrap = (tool: Tool): Tool => ({
    ...tool,
    run: async (args, context) => {
      const result = await tool.run(args, context);
      if (result.failed || typeof result.content !== "string") return result;
      const hint = await (await hints).forCall(args as { readonly [key: string]: unknown });
      return hint === "" ? result : { ...result, content: `${result.content}${hint}` };
    },
  });
  return {
    ...box,
    find: (name) => {
      const tool = box.find(name);
      if (!tool || !LEADING.has(name)) return tool;
      const known = wrapped.get(name) ?? wrap(tool);
      wrapped.set(name, known);
      return known;
    },
  };
}
