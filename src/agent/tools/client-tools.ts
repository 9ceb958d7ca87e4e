// Tools that the caller of a conversation runs itself: offered to the model, never run here.
import type { AnswerShape, ToolSchema } from "../../core/model/provider.ts";
import { type Tool, type ToolBox, toolError } from "../../core/tool/tool.ts";

function clientTool({ name, description, parameters }: ToolSchema): Tool {
  return {
    name,
    toolset: "client",
    description,
    parameters,
    runsInClient: true,
    run: async () => toolError(`${name} is run by the client, not here.`),
  };
}

/**
 * The tool box with the client's tools, which come first and replace tools of the same name. When the model must call
 * one of them, only these are offered.
 */
export function withClientTools(box: ToolBox, schemas: readonly ToolSchema[], answer?: AnswerShape): ToolBox {
  if (schemas.length === 0) return box;
  const tools = new Map(schemas.map((schema) => [schema.name, clientTool(schema)]));
  const own = answer?.toolChoice === undefined ? box.schemas.filter(({ name }) => !tools.has(name)) : [];
  return {
    schemas: [...schemas, ...own],
    find: (name) => tools.get(name) ?? box.find(name),
    unavailable: (name) => (tools.has(name) ? undefined : box.unavailable(name)),
  };
}
