// The tools that a script may call, with the names of their positional arguments.

export interface ScriptTool {
  readonly name: string;
  /** Names in the order of positional arguments. */
  readonly parameters: readonly string[];
  /** The number of required ones. */
  readonly required: number;
}

const tool = (name: string, required: number, ...parameters: string[]): ScriptTool => ({ name, required, parameters });

export const SCRIPT_TOOLS: readonly ScriptTool[] = [
  tool("web_search", 1, "query", "limit"),
  tool("web_extract", 1, "urls"),
  tool("read_file", 1, "path", "offset", "limit"),
  tool("write_file", 2, "path", "content"),
  tool("search_files", 1, "pattern", "target", "path", "file_glob", "limit", "offset", "output_mode", "context"),
  tool("patch", 0, "path", "old_string", "new_string", "replace_all", "mode", "patch"),
  tool("terminal", 1, "command", "timeout", "workdir"),
];

/** Arguments that scripts may not use: nothing that a script starts may outlive it. */
const BLOCKED_ARGUMENTS: { readonly [tool: string]: readonly string[] } = {
  terminal: ["background", "pty", "notify_on_complete", "watch_patterns"],
};

/** The conversation's tools that a script may call, in a fixed order. */
export function scriptTools(names: readonly string[]): readonly ScriptTool[] {
  return SCRIPT_TOOLS.filter((entry) => names.includes(entry.name));
}

export function scriptArguments(name: string, args: { readonly [key: string]: unknown }): { [key: string]: unknown } {
  const dropped = BLOCKED_ARGUMENTS[name] ?? [];
  return Object.fromEntries(
    Object.entries(args).filter(([key, value]) => value !== null && value !== undefined && !dropped.includes(key)),
  );
}
