// Everything that one plugin registered: functions and objects.
import type { SlashCommand } from "../core/chat/command.ts";
import type { Platform } from "../core/chat/platform.ts";
import type { HookName } from "../core/hook.ts";
import type {
  EngineOptions,
  HookCallback,
  ModelProviderRow,
  NamedProvider,
  PluginCliCommand,
  PluginContextEngine,
  PluginMemoryProvider,
  ProviderKind,
} from "../core/plugin.ts";
import type { Tool } from "../core/tool/tool.ts";
import type { WebProvider } from "../core/tool/web.ts";

export interface Collected {
  readonly tools: { readonly tool: Tool; readonly override: boolean }[];
  readonly hooks: {
    readonly name: HookName;
    readonly callback: HookCallback;
    readonly timeoutMs?: number | undefined;
  }[];
  readonly commands: SlashCommand[];
  readonly cliCommands: PluginCliCommand[];
  readonly contextEngines: Map<string, (options: EngineOptions) => PluginContextEngine>;
  readonly memoryProviders: Map<string, () => PluginMemoryProvider>;
  readonly modelProviders: ModelProviderRow[];
  readonly webProviders: WebProvider[];
  readonly platforms: Platform[];
  readonly skills: { readonly name: string; readonly path: string; readonly description: string }[];
  readonly skillRoots: string[];
  readonly providers: { readonly kind: ProviderKind; readonly provider: NamedProvider }[];
  readonly closers: (() => Promise<void> | void)[];
  /** Registrations that were rejected, for the user. */
  readonly problems: string[];
}

export function emptyCollection(): Collected {
  return {
    tools: [],
    hooks: [],
    commands: [],
    cliCommands: [],
    contextEngines: new Map(),
    memoryProviders: new Map(),
    modelProviders: [],
    webProviders: [],
    platforms: [],
    skills: [],
    skillRoots: [],
    providers: [],
    closers: [],
    problems: [],
  };
}
