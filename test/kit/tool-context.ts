// The context of a tool call: a temporary folder, no user, everything allowed by default.
import { rmSync } from "node:fs";
import type { Gate } from "../../src/core/gate.ts";
import { absentHuman, type Human } from "../../src/core/human.ts";
import type { Redactor } from "../../src/core/redactor.ts";
import type { Tool, ToolContext, ToolResult } from "../../src/core/tool/tool.ts";
import { tempDir } from "./temp-dir.ts";

/** A gate that lets everything pass, for tests of the code after it. */
export const openGate: Gate = { check: async () => ({ allowed: true, how: "harmless" }), beginTurn: () => undefined };

/** Leaves every text as it is. */
export const plainRedactor: Redactor = {
  redact: (text) => text,
  stream: () => ({ push: (chunk) => chunk, end: () => "" }),
  learn: () => undefined,
};

export function tempFolder(): { path: string; remove(): void } {
  const path = tempDir("hermes-tool-");
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function toolContext(cwd: string, overrides: Partial<ToolContext> & { human?: Human } = {}): ToolContext {
  return {
    sessionId: "session",
    conversationId: "conversation",
    callId: "call",
    cwd,
    signal: new AbortController().signal,
    human: absentHuman,
    progress: () => undefined,
    tainted: false,
    depth: 0,
    ...overrides,
  };
}

/** Runs a tool and parses its JSON answer. */
export async function callTool(
  tool: Tool,
  args: object,
  context: ToolContext,
): Promise<{ result: ToolResult; json: { [key: string]: unknown } }> {
  const result = await tool.run(args as never, context);
  return { result, json: JSON.parse(result.content as string) };
}
