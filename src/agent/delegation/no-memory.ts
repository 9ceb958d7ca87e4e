// A memory that stores nothing, for subagents.
import type { Memory } from "../../core/memory.ts";

export const noMemory: Memory = {
  snapshot: async () => "",
  recall: async () => "",
  turnStarted: async () => undefined,
  turnEnded: () => undefined,
  beforeCompaction: async () => "",
  sessionSwitched: async () => undefined,
  sessionEnded: async () => undefined,
  delegated: async () => undefined,
  toolSchemas: [],
  callTool: async (name) => JSON.stringify({ error: `${name} is not available here.` }),
  close: async () => undefined,
};
