// The tools of one conversation, resolved once: the tool box, those of the engine and of the memory provider, without denied ones.
import type { ToolSchema } from "../../core/model/provider.ts";
import type { Tool } from "../../core/tool/tool.ts";
import type { ConversationParts } from "../parts.ts";

export type ToolLocation =
  | { readonly kind: "tool"; readonly tool: Tool }
  | { readonly kind: "engine" }
  | { readonly kind: "memory" }
  | { readonly kind: "denied"; readonly reason: string }
  | { readonly kind: "unavailable"; readonly reason: string }
  | { readonly kind: "unknown" };

export interface ResolvedTools {
  /** Part of the fixed prompt prefix: the same array for the whole conversation. */
  readonly schemas: readonly ToolSchema[];
  readonly names: readonly string[];
  /** Called for every call, so that a denied tool is refused also when the model guesses its name. */
  locate(name: string): ToolLocation;
}

export function resolveTools(parts: ConversationParts): ResolvedTools {
  const { toolbox, engine, memory, settings } = parts;
  const schemas: ToolSchema[] = [];
  const taken = new Set<string>();
  const engineNames = new Set<string>();
  const memoryNames = new Set<string>();
  const add = (schema: ToolSchema, owner: Set<string> | undefined) => {
    if (taken.has(schema.name)) return;
    if (settings.denyTool?.(schema.name, toolbox.find(schema.name)) !== undefined) return;
    taken.add(schema.name);
    owner?.add(schema.name);
    schemas.push(schema);
  };
  for (const schema of toolbox.schemas) add(schema, undefined);
  for (const schema of engine.getToolSchemas?.() ?? []) add(schema, engineNames);
  for (const schema of memory.toolSchemas) add(schema, memoryNames);
  return {
    schemas,
    names: schemas.map((schema) => schema.name),
    locate(name) {
      const tool = toolbox.find(name);
      const reason = settings.denyTool?.(name, tool);
      if (reason !== undefined) return { kind: "denied", reason };
      if (engineNames.has(name)) return { kind: "engine" };
      if (memoryNames.has(name)) return { kind: "memory" };
      if (tool !== undefined) return { kind: "tool", tool };
      const missing = toolbox.unavailable(name);
      return missing === undefined ? { kind: "unknown" } : { kind: "unavailable", reason: missing };
    },
  };
}
