// The write_file tool: replaces or creates a file, with its folders.

import type { JsonObject } from "../../core/message.ts";
import { Type } from "../../core/tool/schema.ts";
import {
  defineTool,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../../core/tool/tool.ts";
import { checkGate, type FileToolParts, located, resolvePath } from "./file-tools.ts";
import { checkSyntax } from "./syntax-check.ts";
import { decodeText, encodeText, PLAIN, type TextFile } from "./text-file.ts";
import { withShortPaths, writeDiff } from "./unified-diff.ts";

/** True for a result of a file tool, which the model must not write over the file. */
function isToolResult(content: string): boolean {
  return (
    /^\s*\{"(status":"unchanged"|error":)/.test(content) || content.includes('"dedup":true,"content_returned":false')
  );
}

/** The current content of the file; null when it does not exist. */
export async function currentText(parts: FileToolParts, path: string): Promise<TextFile | null> {
  const info = await parts.files.info(path);
  return info?.kind === "file" ? decodeText(await parts.files.read(path)) : null;
}

/** Writes with the encoding and line ends of the existing file, remembers the file as read, and checks its syntax. */
export async function writeText(
  parts: FileToolParts,
  path: string,
  text: string,
  context: ToolContext,
): Promise<{
  bytes: number;
  createdFolders: boolean;
  lint: JsonObject;
  warning?: string | undefined;
  before: string | null;
}> {
  const before = await currentText(parts, path);
  const warning = parts.memory.staleness(context.conversationId, path, await parts.files.info(path));
  await parts.beforeChange?.(path, context);
  const data = encodeText(text, before?.form ?? PLAIN);
  const { createdFolders } = await parts.files.write(path, data);
  const info = await parts.files.info(path);
  if (info) parts.memory.wrote(context.conversationId, path, info);
  const lint = await checkSyntax(path, text, before?.text ?? null);
  return { bytes: data.byteLength, createdFolders, lint: { ...lint }, warning, before: before?.text ?? null };
}

async function run(
  parts: FileToolParts,
  args: { path: string; content: string },
  context: ToolContext,
): Promise<ToolResult> {
  const path = resolvePath(parts, args.path, context.cwd);
  if (isToolResult(args.content))
    return toolError("this is a tool's message, not file content; nothing was written", { path });
  const refusal = await checkGate(parts, { kind: "write", path, cwd: context.cwd }, "write_file", context);
  if (refusal) return refusal;
  if ((await parts.files.info(path))?.kind === "directory") return toolError(`${path} is a folder`);
  const written = await writeText(parts, path, args.content, context);
  const result = jsonResult({
    path,
    bytes_written: written.bytes,
    dirs_created: written.createdFolders,
    lint: written.lint,
    ...(written.warning ? { _warning: written.warning } : {}),
  });
  const diff = await writeDiff({ path, before: written.before, after: args.content });
  return { ...result, diff: diff && withShortPaths(diff, context.cwd) };
}

export function writeFileTool(parts: FileToolParts): Tool {
  return defineTool({
    name: "write_file",
    toolset: "file",
    minWindow: "small",
    description: "Write a whole file; folders are made as needed. For changes to a file that exists use patch.",
    parameters: Type.Object({
      path: Type.String({ description: "The file" }),
      content: Type.String({ description: "Its whole new content" }),
    }),
    overlap: "paths",
    paths: (args) => [args.path],
    mutates: true,
    preview: (args) => args.path,
    run: async (args, context) => run(...(await located(parts, args, context))),
  });
}
