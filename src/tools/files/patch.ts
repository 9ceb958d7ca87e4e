// The patch tool: replaces a passage of one file, or applies a V4A patch to several files, all or none.

import type { Intent } from "../../core/gate.ts";
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
import { applyHunks } from "./apply-hunks.ts";
import { checkGate, type FileToolParts, located, resolvePath } from "./file-tools.ts";
import { replaceIn } from "./replace.ts";
import { type FileChange, unifiedDiff, withShortPaths } from "./unified-diff.ts";
import { type PatchOperation, parsePatch } from "./v4a.ts";
import { currentText, writeText } from "./write-file.ts";

interface PatchArgs {
  readonly mode?: "replace" | "patch" | undefined;
  readonly path?: string | undefined;
  readonly old_string?: string | undefined;
  readonly new_string?: string | undefined;
  readonly replace_all?: boolean | undefined;
  readonly patch?: string | undefined;
}

/** A step that removes or empties a file is checked like `rm`. */
function buildIntent(step: FileChange, context: ToolContext): Intent {
  const removes = step.before !== null && step.before !== "" && (step.after ?? "").trim() === "";
  return {
    kind: "write",
    path: step.path,
    cwd: context.cwd,
    removes: removes || undefined,
    workspace: context.workspace,
  };
}

/** Writes every step; when one fails, the earlier ones are undone. */
async function commit(
  parts: FileToolParts,
  steps: readonly FileChange[],
  context: ToolContext,
): Promise<{ lint: JsonObject; warnings: string[] }> {
  const undo: (() => Promise<unknown>)[] = [];
  const lint: { [path: string]: JsonObject } = {};
  const warnings: string[] = [];
  try {
    for (const step of steps) {
      const old = (await parts.files.info(step.path)) ? await parts.files.read(step.path) : null;
      undo.unshift(() =>
        old ? parts.files.write(step.path, old) : parts.files.remove(step.path).catch(() => undefined),
      );
      if (step.after === null) {
        await parts.beforeChange?.(step.path, context);
        await parts.files.remove(step.path);
        continue;
      }
      const written = await writeText(parts, step.path, step.after, context);
      lint[step.path] = written.lint;
      if (written.warning && step.before !== null) warnings.push(`${step.path}: ${written.warning}`);
    }
  } catch (error) {
    for (const restore of undo) await restore();
    throw error;
  }
  return { lint, warnings };
}

async function finish(parts: FileToolParts, steps: readonly FileChange[], context: ToolContext): Promise<ToolResult> {
  const diff = await unifiedDiff(steps);
  const { lint, warnings } = await commit(parts, steps, context);
  const paths = (test: (step: FileChange) => boolean) => steps.filter(test).map((step) => step.path);
  const result = jsonResult({
    success: true,
    diff: parts.redactor.redact(diff, { code: true }),
    files_modified: paths((step) => step.before !== null && step.after !== null),
    files_created: paths((step) => step.before === null),
    files_deleted: paths((step) => step.after === null),
    lint,
    ...(warnings.length > 0 ? { _warning: warnings.join("; ") } : {}),
  });
  return { ...result, diff: withShortPaths(diff, context.cwd) };
}

async function replace(parts: FileToolParts, args: PatchArgs, context: ToolContext): Promise<ToolResult> {
  if (!args.path || args.old_string === undefined || args.new_string === undefined)
    return toolError("mode replace needs path, old_string and new_string");
  const path = resolvePath(parts, args.path, context.cwd);
  const refusal = await checkGate(parts, { kind: "write", path, cwd: context.cwd }, "patch", context);
  if (refusal) return refusal;
  const file = await currentText(parts, path);
  if (!file) return toolError(`no such file: ${path}`, { hint: "Use write_file to create it" });
  const result = replaceIn(file.text, {
    oldText: args.old_string,
    newText: args.new_string,
    all: args.replace_all ?? false,
  });
  if (!result.ok) {
    const near = result.suggestions?.map((region) => ({
      line: region.line,
      text: parts.redactor.redact(region.text, { code: true }),
    }));
    return toolError(result.error, { path, ...(near ? { did_you_mean: near } : {}) });
  }
  const step = { path, before: file.text, after: result.text };
  const intent = buildIntent(step, context);
  const emptied =
    intent.kind === "write" && intent.removes ? await checkGate(parts, intent, "patch", context) : undefined;
  return emptied ?? finish(parts, [step], context);
}

async function planUpdate(
  parts: FileToolParts,
  operation: Extract<PatchOperation, { kind: "update" }>,
  cwd: string,
): Promise<FileChange[] | string> {
  const path = resolvePath(parts, operation.path, cwd);
  const file = await currentText(parts, path);
  if (!file) return `${operation.path}: no such file`;
  const result = applyHunks(file.text, operation.hunks);
  if (!result.ok) return `${operation.path}: ${result.error}`;
  if (!operation.moveTo) return [{ path, before: file.text, after: result.text }];
  return planMove(parts, {
    from: path,
    to: resolvePath(parts, operation.moveTo, cwd),
    text: result.text,
    before: file.text,
  });
}

async function planMove(
  parts: FileToolParts,
  move: { from: string; to: string; text: string; before: string },
): Promise<FileChange[] | string> {
  if (await parts.files.info(move.to)) return `${move.to} exists already`;
  return [
    { path: move.to, before: null, after: move.text, movedFrom: move.from },
    { path: move.from, before: move.before, after: null },
  ];
}

/** The steps of one operation, or why it cannot be applied. Writes nothing. */
async function plan(parts: FileToolParts, operation: PatchOperation, cwd: string): Promise<FileChange[] | string> {
  if (operation.kind === "update") return planUpdate(parts, operation, cwd);
  const path = resolvePath(parts, operation.path, cwd);
  const file = await currentText(parts, path);
  if (operation.kind === "add")
    return file ? `${operation.path} exists already` : [{ path, before: null, after: operation.content }];
  if (!file) return `${operation.path}: no such file`;
  if (operation.kind === "delete") return [{ path, before: file.text, after: null }];
  return planMove(parts, { from: path, to: resolvePath(parts, operation.to, cwd), text: file.text, before: file.text });
}

async function patchMany(parts: FileToolParts, text: string, context: ToolContext): Promise<ToolResult> {
  const parsed = parsePatch(text);
  if (!parsed.ok) return toolError(parsed.error);
  const steps: FileChange[] = [];
  const problems: string[] = [];
  for (const operation of parsed.operations) {
    const planned = await plan(parts, operation, context.cwd);
    if (typeof planned === "string") problems.push(planned);
    else steps.push(...planned);
  }
  if (problems.length > 0) return toolError(`nothing was changed: ${problems.join("; ")}`);
  const paths = steps.map((step) => step.path);
  if (new Set(paths).size !== paths.length)
    return toolError("nothing was changed: a file occurs twice in the patch; put its hunks into one section");
  for (const step of steps) {
    const refusal = await checkGate(parts, buildIntent(step, context), "patch", context);
    if (refusal) return refusal;
  }
  return finish(parts, steps, context);
}

export function patchTool(parts: FileToolParts): Tool {
  return defineTool({
    name: "patch",
    toolset: "file",
    minWindow: "medium",
    description:
      "Change files. mode replace: one passage of one file (old_string must be unique; small differences in white space are tolerated). mode patch: a V4A patch over several files (*** Update File / Add File / Delete File / Move File: a -> b, @@ hint @@, lines with space, + or -), applied whole or not at all.",
    parameters: Type.Object({
      mode: Type.Optional(
        Type.Union([Type.Literal("replace"), Type.Literal("patch")], { description: "replace (default) or patch" }),
      ),
      path: Type.Optional(Type.String({ description: "replace: the file" })),
      old_string: Type.Optional(Type.String({ description: "replace: the current passage" })),
      new_string: Type.Optional(Type.String({ description: "replace: the new passage" })),
      replace_all: Type.Optional(Type.Boolean({ description: "replace: every occurrence" })),
      patch: Type.Optional(Type.String({ description: "patch: the V4A text" })),
    }),
    overlap: "paths",
    paths: (args) => (args.path ? [args.path] : ["/"]),
    mutates: true,
    preview: (args) => args.path ?? "several files",
    run: async (args, context) => {
      const [local, , here] = await located(parts, args, context);
      if (args.mode === "patch" || (args.patch && !args.old_string))
        return args.patch ? patchMany(local, args.patch, here) : toolError("mode patch needs patch");
      return replace(local, args, here);
    },
  });
}
