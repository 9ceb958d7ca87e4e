// The read_file tool: returns a page of a text file with line numbers.
import { basename, dirname, join } from "node:path";
import type { JsonObject } from "../../core/message.ts";
import { isEnvFile } from "../../core/redactor.ts";
import { Type } from "../../core/tool/schema.ts";
import {
  defineTool,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../../core/tool/tool.ts";
import { editDistance } from "../../lib/nearest.ts";
import type { FileInfo } from "./file-access.ts";
import { checkGate, contentTrust, type FileToolParts, located, resolvePath } from "./file-tools.ts";
import { readPage } from "./line-page.ts";
import { decodeText, isImagePath, looksBinary } from "./text-file.ts";

const DEFAULT_LINES = 500;
const LARGE_FILE = 512_000;
const HEAD_BYTES = 64 * 1024;

async function similarNames(parts: FileToolParts, path: string): Promise<string[]> {
  const wanted = basename(path).toLowerCase();
  const score = (name: string) => {
    const lower = name.toLowerCase();
    return lower.includes(wanted) || wanted.includes(lower) ? 0 : editDistance(wanted, lower);
  };
  return (await parts.files.names(dirname(path)))
    .map((name) => ({ name, distance: score(name) }))
    .filter(({ distance }) => distance <= Math.max(2, wanted.length / 2))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 5)
    .map(({ name }) => join(dirname(path), name));
}

async function notFound(parts: FileToolParts, path: string): Promise<ToolResult> {
  const similar = await similarNames(parts, path);
  return toolError(
    `no such file: ${path}`,
    similar.length > 0 ? { similar_files: similar } : { hint: "Use search_files with target files to find it" },
  );
}

/** Why the file cannot be read as text; undefined when it can. */
async function readProblem(parts: FileToolParts, path: string, info: FileInfo): Promise<ToolResult | undefined> {
  if (info.kind === "directory")
    return toolError(`${path} is a folder`, {
      hint: "List it with search_files, target files",
      entries: (await parts.files.names(path)).slice(0, 50),
    });
  if (info.kind === "other") return toolError(`${path} is a device or a pipe, not a file`);
  if (isImagePath(path))
    return toolError(`${path} is an image`, { is_image: true, hint: "Look at it with vision_analyze" });
  const head = await parts.files.head(path, HEAD_BYTES);
  if (looksBinary(path, head))
    return toolError(`${path} is a binary file (${info.size} bytes)`, {
      is_binary: true,
      hint: "Use the terminal (file, strings, xxd) for what you need of it",
    });
  return undefined;
}

function repeatedRead(verdict: "unchanged" | "blocked", path: string): ToolResult {
  if (verdict === "blocked")
    return toolError("this page was already read and has not changed; use the earlier result", {
      path,
      already_read: true,
    });
  return jsonResult({
    status: "unchanged",
    message: "The file has not changed since you read this page.",
    path,
    dedup: true,
    content_returned: false,
  });
}

async function formatPage(
  parts: FileToolParts,
  path: string,
  info: FileInfo,
  options: { offset: number; limit: number },
): Promise<JsonObject | ToolResult> {
  const head = await parts.files.head(path, HEAD_BYTES);
  // Cut at a line end, because half a multi-byte character would make the file look like Latin-1.
  const sample = info.size > HEAD_BYTES ? head.subarray(0, head.lastIndexOf(0x0a) + 1 || head.length) : head;
  const { form } = decodeText(sample);
  const found = await readPage(parts.files.stream(path), {
    ...options,
    maxLineChars: parts.limits.maxLineChars,
    encoding: form.encoding,
  });
  const content = found.lines.map((text, index) => `${String(options.offset + index).padStart(6)}|${text}`).join("\n");
  if (content.length > parts.limits.maxReadChars) {
    return toolError(`this page has ${content.length} characters, more than ${parts.limits.maxReadChars}`, {
      total_lines: found.totalLines,
      hint: "Ask for fewer lines with limit, or search_files for what you need",
    });
  }
  const last = options.offset + found.lines.length - 1;
  const truncated = last < found.totalLines;
  return {
    content: parts.redactor.redact(content, { code: true, env: isEnvFile(path) }),
    total_lines: found.totalLines,
    file_size: info.size,
    truncated,
    ...(truncated
      ? { hint: `Lines ${options.offset}–${last} of ${found.totalLines}; continue with offset ${last + 1}` }
      : {}),
    ...(found.lines.length === 0 && found.totalLines > 0
      ? { hint: `The file has only ${found.totalLines} lines` }
      : {}),
    ...(info.size > LARGE_FILE && options.limit > 200
      ? { _hint: "A large file: read the part you need, or search it" }
      : {}),
    ...(form.encoding === "utf-8" ? {} : { encoding: form.encoding }),
  };
}

async function run(
  parts: FileToolParts,
  args: { path: string; offset?: number | undefined; limit?: number },
  context: ToolContext,
): Promise<ToolResult> {
  const path = resolvePath(parts, args.path, context.cwd);
  const refusal = await checkGate(parts, { kind: "read", path, cwd: context.cwd }, "read_file", context);
  if (refusal) return refusal;
  const info = await parts.files.info(path);
  if (!info) return notFound(parts, path);
  const problem = await readProblem(parts, path, info);
  if (problem) return problem;
  const options = { offset: args.offset ?? 1, limit: Math.min(args.limit ?? DEFAULT_LINES, parts.limits.maxLines) };
  const verdict = parts.memory.checkPage(context.conversationId, `${path}\0${options.offset}\0${options.limit}`, info);
  if (verdict !== "fresh") return repeatedRead(verdict, path);
  const result = await formatPage(parts, path, info, options);
  if ("failed" in result && result.failed) return result as ToolResult;
  const whole = options.offset === 1 && (result as JsonObject).truncated === false;
  parts.memory.sawFile(context.conversationId, path, info, whole);
  return { ...jsonResult(result as JsonObject), ...(await contentTrust(parts, path, context)) };
}

export function readFileTool(parts: FileToolParts): Tool {
  return defineTool({
    name: "read_file",
    toolset: "file",
    namesFolders: true,
    minWindow: "small",
    description:
      "Read a text file with line numbers. Pages with offset and limit; large files and spilled tool output are paged the same way.",
    parameters: Type.Object({
      path: Type.String({ description: "The file; relative paths start at the working directory" }),
      offset: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: "First line" })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2000, default: 500, description: "Lines" })),
    }),
    overlap: "paths",
    paths: (args) => [args.path],
    repeatable: true,
    maxResultChars: Number.POSITIVE_INFINITY,
    preview: (args) => args.path,
    run: async (args, context) => run(...(await located(parts, args, context))),
  });
}
