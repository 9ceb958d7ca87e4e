// The search_files tool: searches file contents or names, with ripgrep here and grep and find on other machines.
import { isAbsolute, join, relative } from "node:path";
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
import { isPathInside } from "../../lib/path-inside.ts";
import { checkGate, contentTrust, type FileToolParts, located, resolvePath } from "./file-tools.ts";
import { type Lines, ripgrepSearch } from "./line-search.ts";

const MAX_MATCH_CHARS = 500;

interface SearchArgs {
  readonly pattern: string;
  readonly target?: string | undefined;
  readonly path?: string | undefined;
  readonly file_glob?: string | undefined;
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
  readonly output_mode?: "content" | "files_only" | "count" | undefined;
  readonly context?: number | undefined;
}

function shortPath(path: string, cwd: string): string {
  return isPathInside(path, cwd) ? relative(cwd, path) : path;
}

function truncation(found: Lines, page: { offset: number; limit: number }): JsonObject {
  const end = page.offset + page.limit;
  const truncated = found.total > end;
  return {
    truncated,
    ...(truncated ? { next_offset: end, hint: `More: call again with offset ${end}, or narrow the pattern` } : {}),
  };
}

/** Decides which files are left out because they contain secrets, and counts them. */
class ProtectedFiles {
  readonly #verdicts = new Map<string, Promise<boolean>>();
  skipped = 0;
  readonly accepts: (file: string) => Promise<boolean>;

  constructor(parts: FileToolParts, folder: string, context: ToolContext) {
    const about = { guest: context.human.guest ?? false, home: parts.home };
    const check = async (file: string): Promise<boolean> => {
      const reason = await parts.protection?.(isAbsolute(file) ? file : join(folder, file), about);
      if (reason) this.skipped++;
      return !reason;
    };
    this.accepts = (file) => {
      const known = this.#verdicts.get(file) ?? check(file);
      this.#verdicts.set(file, known);
      return known;
    };
  }

  get note(): JsonObject {
    return this.skipped === 0
      ? {}
      : {
          protected_files_skipped: this.skipped,
          protected_note: "Files with keys, passwords or private data are left out",
        };
  }
}

async function searchNames(
  parts: FileToolParts,
  args: SearchArgs,
  root: string,
  context: ToolContext,
): Promise<JsonObject | ToolResult> {
  const page = { offset: args.offset ?? 0, limit: args.limit ?? 50 };
  const glob = /[*?[{]/.test(args.pattern) ? args.pattern : `*${args.pattern}*`;
  const search = parts.search ?? ripgrepSearch;
  const hidden = new ProtectedFiles(parts, root, context);
  const found = await search({ kind: "names", glob }, root, {
    ...page,
    signal: context.signal,
    counts: () => true,
    // Names of protected files are hidden from guests only.
    accepts: context.human.guest ? hidden.accepts : undefined,
  });
  if (found.error && found.total === 0) return toolError(found.error);
  const files = found.lines.map((line) => shortPath(join(root, line), context.cwd));
  return {
    total_count: found.total,
    files: files.map((file) => parts.redactor.redact(file)),
    ...hidden.note,
    ...truncation(found, page),
  };
}

/** `file\0line:text` for a match, `file\0line-text` for context around it. */
function parseMatch(line: string): { file: string; line: number; text: string; context: boolean } | null {
  const cut = line.indexOf("\0");
  const rest = /^(\d+)([:-])(.*)$/s.exec(line.slice(cut + 1));
  return cut < 0 || !rest
    ? null
    : { file: line.slice(0, cut), line: Number(rest[1]), text: rest[3] ?? "", context: rest[2] === "-" };
}

function formatContent(
  parts: FileToolParts,
  args: SearchArgs,
  found: Lines,
  show: (file: string) => string,
): JsonObject {
  if (args.output_mode === "files_only") return { files: found.lines.map((line) => show(line)) };
  if (args.output_mode === "count") {
    const counts: { [file: string]: number } = {};
    for (const line of found.lines) {
      const [file = "", count = "0"] = line.split("\0");
      counts[show(file)] = Number(count);
    }
    return { counts };
  }
  const matches = found.lines
    .map(parseMatch)
    .filter((match) => match !== null)
    .map((match) => ({
      path: show(match.file),
      line: match.line,
      content: parts.redactor.redact(match.text.slice(0, MAX_MATCH_CHARS), { code: true, env: isEnvFile(match.file) }),
      ...(match.context ? { context: true } : {}),
    }));
  return { matches };
}

async function searchContent(
  parts: FileToolParts,
  args: SearchArgs,
  root: string,
  context: ToolContext,
): Promise<JsonObject | ToolResult> {
  const page = { offset: args.offset ?? 0, limit: args.limit ?? 50 };
  const counts = (line: string) =>
    args.output_mode !== undefined && args.output_mode !== "content" ? true : parseMatch(line)?.context === false;
  const info = await parts.files.info(root);
  const cwd = info?.kind === "directory" ? root : join(root, "..");
  const where = info?.kind === "directory" ? "." : root;
  const search = parts.search ?? ripgrepSearch;
  const hidden = new ProtectedFiles(parts, cwd, context);
  const found = await search(
    {
      kind: "content",
      pattern: args.pattern,
      where,
      mode: args.output_mode ?? "content",
      context: args.context ?? 0,
      fileGlob: args.file_glob || undefined,
    },
    cwd,
    { ...page, signal: context.signal, counts, accepts: where === "." ? hidden.accepts : undefined },
  );
  if (found.error && found.total === 0)
    return toolError(`the search failed: ${found.error.slice(0, 1_000)}`, {
      hint: "The pattern is a regular expression: escape ( ) [ ] { } . * + ? with a backslash",
    });
  const show = (file: string) => shortPath(isAbsolute(file) ? file : join(cwd, file), context.cwd);
  return {
    total_count: found.total,
    ...(found.more ? { total_is_minimum: true } : {}),
    ...formatContent(parts, args, found, show),
    ...hidden.note,
    ...truncation(found, page),
  };
}

async function run(parts: FileToolParts, args: SearchArgs, context: ToolContext): Promise<ToolResult> {
  if (args.pattern === "") return toolError("the pattern is empty");
  const root = resolvePath(parts, args.path ?? ".", context.cwd);
  const refusal = await checkGate(parts, { kind: "read", path: root, cwd: context.cwd }, "search_files", context);
  if (refusal) return refusal;
  if (!(await parts.files.info(root)))
    return toolError(`no such path: ${root}`, { entries_here: (await parts.files.names(context.cwd)).slice(0, 30) });
  const byName = args.target === "files" || args.target === "find";
  const answer = byName
    ? await searchNames(parts, args, root, context)
    : await searchContent(parts, args, root, context);
  if ("failed" in answer && answer.failed) return answer as ToolResult;
  return { ...jsonResult(answer as JsonObject), ...(await contentTrust(parts, root, context)) };
}

export function searchFilesTool(parts: FileToolParts): Tool {
  return defineTool({
    name: "search_files",
    toolset: "file",
    namesFolders: true,
    minWindow: "small",
    description:
      "Search file contents (regular expression) or file names (glob, newest first). Faster than grep or find in the terminal; ignored files are left out.",
    parameters: Type.Object({
      pattern: Type.String({ description: "Regular expression for contents, glob for names" }),
      target: Type.Optional(
        Type.Union([Type.Literal("content"), Type.Literal("files"), Type.Literal("grep"), Type.Literal("find")], {
          description: "content (default) or files",
        }),
      ),
      path: Type.Optional(Type.String({ description: "Where to look (the working directory)" })),
      file_glob: Type.Optional(Type.String({ description: "content: only these files, for example *.ts" })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: "How many (50)" })),
      offset: Type.Optional(Type.Integer({ minimum: 0, description: "Skip this many" })),
      output_mode: Type.Optional(
        Type.Union([Type.Literal("content"), Type.Literal("files_only"), Type.Literal("count")]),
      ),
      context: Type.Optional(
        Type.Integer({ minimum: 0, maximum: 20, description: "content: lines around each match" }),
      ),
    }),
    overlap: "parallel",
    repeatable: true,
    preview: (args) => args.pattern,
    run: async (args, context) => run(...(await located(parts, args, context))),
  });
}
