// Adds the project instructions of a folder to the result of the first tool call that names it.
import type { Scan } from "../../core/scan.ts";
import type { Tool, ToolBox } from "../../core/tool/tool.ts";
import { lazy } from "../../lib/async/lazy.ts";

/** The same tools; those with `namesFolders` add the hints to their results. The code is loaded at the first such call. */
export function withHints(box: ToolBox, cwd: string, scan: Scan): ToolBox {
  const hints = lazy(async () => {
    const { SubdirectoryHints } = await import("./subdirectory-hints.ts");
    return new SubdirectoryHints({ cwd, scan });
  });
  const wrapped = new Map<string, Tool>();
  const wrap = (tool: Tool): Tool => ({
    ...tool,
    run: async (args, context) => {
      const result = await tool.run(args, context);
      if (result.failed || typeof result.content !== "string") return result;
      const hint = await (await hints()).forCall(args as { readonly [key: string]: unknown });
      return hint === "" ? result : { ...result, content: `${result.content}${hint}` };
    },
  });
  return {
    ...box,
    find: (name) => {
      const tool = box.find(name);
      if (!tool?.namesFolders) return tool;
      const known = wrapped.get(name) ?? wrap(tool);
      wrapped.set(name, known);
      return known;
    },
  };
}
