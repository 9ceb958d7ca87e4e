// What the model writes into something durable, or hands to another model, is rid of known secrets before the tool runs.
import type { Redactor } from "../core/redactor.ts";
import type { Tool, ToolBox } from "../core/tool.ts";

function cleaned(value: unknown, redactor: Redactor): unknown {
  if (typeof value === "string") return redactor.redact(value, { code: true });
  if (Array.isArray(value)) return value.map((item) => cleaned(item, redactor));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, cleaned(inner, redactor)]));
}

export function withCleanArguments(box: ToolBox, redactor: Redactor): ToolBox {
  const wrap = (tool: Tool): Tool => ({
    ...tool,
    run: (args, context) => tool.run(cleaned(args, redactor) as typeof args, context),
  });
  const wrapped = new Map<string, Tool>();
  return {
    ...box,
    find: (name) => {
      const tool = box.find(name);
      if (!tool?.storesArguments) return tool;
      const known = wrapped.get(name) ?? wrap(tool);
      wrapped.set(name, known);
      return known;
    },
  };
}
