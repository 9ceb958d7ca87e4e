// Every tool that a conversation could have, with its availability: registered ones and those created per conversation.
import { absentHuman } from "../core/human.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { ToolState } from "../core/tool/tool-registry.ts";
import type { ConversationDeps } from "./builtins.ts";
import { codeTool } from "./code-tool.ts";
import { ownTools } from "./open-conversation.ts";
import { openMemory } from "./open-memory.ts";
import { delegation } from "./subagents.ts";

const NO_CHILD = () => Promise.reject(new Error("This tool is only listed, not run."));

async function conversationTools(deps: ConversationDeps): Promise<Tool[]> {
  const { services, registry } = deps;
  const options = { human: absentHuman };
  const memory = await openMemory(services, options, "");
  try {
    const names = (await registry.states()).filter((state) => state.availability.ok).map((state) => state.tool.name);
    const empty = { schemas: [], find: () => undefined, unavailable: () => undefined };
    return [
      ...(await ownTools(deps, options, memory)),
      codeTool(deps, names, () => empty),
      await delegation(services, { memory: memory.service, openChild: NO_CHILD }),
    ];
  } finally {
    await memory.service.close();
  }
}

export async function toolStates(deps: ConversationDeps): Promise<ToolState[]> {
  const states = await deps.registry.states();
  const taken = new Set(states.map((state) => state.tool.name));
  for (const tool of await conversationTools(deps)) {
    if (taken.has(tool.name)) continue;
    const availability = (await tool.available?.()) ?? ({ ok: true } as const);
    states.push({ tool, owner: "builtins", availability });
  }
  return states.sort((a, b) => a.tool.name.localeCompare(b.tool.name));
}
