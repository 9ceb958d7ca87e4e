// What a plugin author imports: `import { defineTool, Type } from "hermes-ts/plugin"`.
export { Type } from "typebox";
export type {
  Attachment,
  Destination,
  InboundEvent,
  OutboundFile,
  OutboundMessage,
  Platform,
  PlatformConnection,
  PlatformContext,
  PlatformHealth,
  PlatformSetting,
  SendResult,
} from "./core/chat/platform.ts";
export type { CompressOptions, CompressOutcome, ContextEngine } from "./core/context.ts";
export { UserError } from "./core/failure.ts";
export type { HookAnswer, HookName } from "./core/hook.ts";
export type { MemoryInit, MemoryProvider, MemoryWrite } from "./core/memory.ts";
export type { Content, ContentPart, Json, JsonObject, Message, ToolCall } from "./core/message.ts";
export type { ToolSchema } from "./core/model/provider.ts";
export type {
  CliRun,
  EngineOptions,
  HookCallback,
  ModelProviderRow,
  NamedProvider,
  PluginCliCommand,
  PluginContext,
  PluginContextEngine,
  PluginDatabase,
  PluginMemoryProvider,
  PluginPlatform,
  PluginRegister,
  PluginSlashCommand,
} from "./core/plugin.ts";
export { defineTool, jsonResult, type Tool, type ToolContext, type ToolResult, toolError } from "./core/tool/tool.ts";
export type { WebProvider } from "./core/tool/web.ts";
