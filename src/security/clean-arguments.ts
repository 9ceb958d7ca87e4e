// Removes known secrets from tool arguments that become durable or reach another model, before the tool runs.
import type { Redactor } from "../core/redactor.ts";
import type { Tool, ToolBox } from "../core/tool/tool.ts";

/** Masks the strings of a value. */
export function redactValue(value: unknown, redactor: Pick<Redactor, "redact">): unknown {
  if (typeof value === "string") return redactor.redact(value, { code: true });
  if (Array.isArray(value)) return value.map((item) => redactValue(item, redactor));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, redactValue(inner, redactor)]));
}

export function withCleanArguments(box: ToolBox, redactor: Redactor): ToolBox {
  const wrap = (tool: Tool): Tool => ({
    ...tool,
    run: (args, context) => tool.run(redactValue(args, redactor) as typeof args, context),
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
