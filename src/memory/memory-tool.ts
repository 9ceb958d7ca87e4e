// The memory tool: the model stores notes for later conversations.
import type { Static } from "typebox";
import type { Gate } from "../core/gate.ts";
import type { JsonObject } from "../core/message.ts";
import { Type } from "../core/tool/schema.ts";
import {
  defineTool,
  gateContext,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../core/tool/tool.ts";
import type { MemoryService, NoteAction } from "./memory-service.ts";

export interface MemoryToolOptions {
  readonly memory: Pick<MemoryService, "write">;
  /** Checks every change, so that untrusted text is not stored without approval. */
  readonly gate?: Gate | undefined;
  readonly platform: string;
}

const parameters = Type.Object({
  action: Type.Union([Type.Literal("add"), Type.Literal("replace"), Type.Literal("remove")]),
  target: Type.Union([Type.Literal("memory"), Type.Literal("user")], {
    description: "memory: facts about the work; user: facts about the user",
  }),
  content: Type.Optional(Type.String({ description: "The entry, for add and replace" })),
  old_text: Type.Optional(Type.String({ description: "A unique part of the entry to replace or remove" })),
});

type Args = Static<typeof parameters>;

function parseAction(args: Args): NoteAction | string {
  const { action, content = "", old_text: oldText = "" } = args;
  if (action === "add") return content.trim() === "" ? "add needs content." : { action, content };
  if (oldText.trim() === "") return `${action} needs old_text: a unique part of the entry.`;
  if (action === "remove") return { action, oldText };
  return content.trim() === "" ? "replace needs content." : { action, content, oldText };
}

async function run(options: MemoryToolOptions, args: Args, context: ToolContext): Promise<ToolResult> {
  const change = parseAction(args);
  if (typeof change === "string") return toolError(change);
  const summary = change.action === "remove" ? `remove: ${change.oldText}` : `${change.action}: ${change.content}`;
  const { sessionId } = context;
  const verdict = await options.gate?.check(
    { kind: "durable", what: "memory", summary, text: change.action === "add" ? change.content : undefined },
    gateContext("memory", context),
  );
  if (verdict !== undefined && !verdict.allowed) return toolError(verdict.message, { status: verdict.status });
  const result = await options.memory.write(args.target, change, {
    write_origin: "assistant_tool",
    execution_context: context.depth === 0 ? "primary" : "subagent",
    session_id: sessionId,
    platform: options.platform,
    tool_name: "memory",
    tool_call_id: context.callId,
  });
  return jsonResult({ ...result } as unknown as JsonObject, { failed: !result.success });
}

export function memoryTool(options: MemoryToolOptions): Tool {
  return defineTool({
    name: "memory",
    toolset: "memory",
    storesArguments: true,
    housekeeping: true,
    minWindow: "medium",
    notForSubagents: "a subagent must not change what is remembered",
    description:
      "Keep short notes for later conversations: stable facts, preferences, corrections. Not for task progress. The current notes are in the system prompt; changes show there from the next session.",
    parameters,
    overlap: "alone",
    mutates: true,
    preview: (args) => `${args.action} ${args.target}`,
    run: (args, context) => run(options, args, context),
  });
}
