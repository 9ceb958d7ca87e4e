// Tracks failed file changes that were not repaired in the turn, for a note below the answer.
import type { JsonObject } from "../../core/message.ts";
import type { Tool } from "../../core/tool/tool.ts";

const WATCHED = new Set(["write_file", "patch"]);
const MAX_PATHS = 10;

export class FileChanges {
  readonly #failed = new Map<string, string>();

  observe(call: { tool: Tool; args: JsonObject; failed: boolean; text: string }): void {
    if (!WATCHED.has(call.tool.name)) return;
    for (const path of targets(call.tool, call.args)) {
      if (call.failed) this.#failed.set(path, firstLine(call.text));
      else this.#failed.delete(path);
    }
  }

  /** Added to the returned text only; empty when every change succeeded. */
  footer(): string {
    if (this.#failed.size === 0) return "";
    const lines = [...this.#failed].slice(0, MAX_PATHS).map(([path, why]) => `- ${path}: ${why}`);
    const more = this.#failed.size > MAX_PATHS ? [`- and ${this.#failed.size - MAX_PATHS} more`] : [];
    return ["", "", "Note: these file changes failed and were not repaired in this turn:", ...lines, ...more].join(
      "\n",
    );
  }
}

function targets(tool: Tool, args: JsonObject): readonly string[] {
  if (typeof args.path === "string") return [args.path];
  try {
    return tool.paths?.(args as never) ?? [];
  } catch {
    // The arguments did not pass the check.
    return [];
  }
}

function firstLine(text: string): string {
  let message = text;
  try {
    const parsed = JSON.parse(text) as { error?: unknown };
    if (typeof parsed.error === "string") message = parsed.error;
  } catch {
    message = text;
  }
  const line = message.trim().split("\n", 1)[0] ?? "";
  return line.length > 160 ? `${line.slice(0, 157)}...` : line;
}
