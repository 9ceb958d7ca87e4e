// Opens the memory of a conversation: the notes of the home and, when configured, an external provider.
import { join } from "node:path";
import type { ConversationOptions } from "../core/conversation.ts";
import type { Memory, MemoryProvider } from "../core/memory.ts";
import type { Tool } from "../core/tool/tool.ts";
import { MemoryService } from "../memory/memory-service.ts";
import { memoryTool } from "../memory/memory-tool.ts";
import { Notes } from "../memory/notes.ts";
import type { Services } from "./services.ts";

export interface OpenedMemory {
  readonly service: Memory;
  /** Null when notes are disabled. */
  readonly tool: Tool | null;
}

/** Users who share a home have separate notes. */
function notesDir(services: Services, options: ConversationOptions): string {
  const shared = join(services.home.path, "memories");
  return options.userId ? join(shared, "users", options.userId.replaceAll(/[^\w-]/g, "_")) : shared;
}

/** The external provider that `memory.provider` names. */
async function chosenProvider(services: Services): Promise<MemoryProvider | undefined> {
  const name = services.config.memory.provider.trim();
  if (name === "") return undefined;
  const provider = await services.plugins?.memoryProvider(name);
  if (!provider) services.notice(`There is no memory provider "${name}". See: hermes memory status`);
  return provider;
}

/** `sessionId` is the session of the conversation. */
export async function openMemory(
  services: Services,
  options: ConversationOptions,
  sessionId: string,
): Promise<OpenedMemory> {
  const { memory } = services.config;
  const off = options.ignoreRules === true || options.noMemory === true;
  const notes = new Notes({
    dir: notesDir(services, options),
    memoryEnabled: memory.memory_enabled && !off,
    userEnabled: memory.user_profile_enabled && !off,
    memoryLimit: memory.memory_char_limit,
    userLimit: memory.user_char_limit,
    scan: services.scan,
  });
  const platform = options.platform ?? "cli";
  const provider = off ? undefined : await chosenProvider(services);
  const service = await MemoryService.open({
    notes,
    providers: provider ? [provider] : [],
    init: {
      sessionId,
      hermesHome: services.home.path,
      platform,
      agentContext: "primary",
      agentIdentity: services.home.profile,
      agentWorkspace: "hermes",
      userId: options.platformUserId || options.userId || undefined,
    },
    hooks: services.hooks,
    onWarning: (text) => services.notice(text),
  });
  const enabled = !off && (memory.memory_enabled || memory.user_profile_enabled);
  return { service, tool: enabled ? memoryTool({ memory: service, gate: services.gate, platform }) : null };
}
