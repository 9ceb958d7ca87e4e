// The bash grammar, loaded on first use. The caller limits the size of texts; the time limit is a safeguard.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Node, Parser } from "web-tree-sitter";

export type ShellNode = Node;

/** Parses a script; null when it took too long. The tree may contain ERROR nodes. */
export type ParseShell = (script: string) => ShellNode | null;

const PARSE_BUDGET_MS = 2_000;

/** Next to the bundle, or in node_modules when running from source. */
function wasmPath(packageName: string, file: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  for (;;) {
    const places = [join(folder, "wasm", file), join(folder, "node_modules", packageName, file)];
    const found = places.find((place) => existsSync(place));
    if (found !== undefined) return found;
    const parent = dirname(folder);
    if (parent === folder) throw new Error(`${file} is missing from this installation`);
    folder = parent;
  }
}

/**
 * V8 would compile the grammar a second time, optimised, on background threads: that takes longer than all parsing of a
 * conversation, and the process waits for it when it exits. The baseline compiler alone is fast enough.
 */
async function useBaselineCompiler(): Promise<void> {
  const { setFlagsFromString } = await import("node:v8");
  setFlagsFromString("--liftoff-only");
}

async function load(): Promise<ParseShell> {
  await useBaselineCompiler();
  const { Language, Parser } = await import("web-tree-sitter");
  const runtime = wasmPath("web-tree-sitter", "web-tree-sitter.wasm");
  await Parser.init({ locateFile: () => runtime });
  const parser = new Parser();
  parser.setLanguage(await Language.load(wasmPath("tree-sitter-bash", "tree-sitter-bash.wasm")));
  return (script) => parseWithin(parser, script);
}

function parseWithin(parser: Parser, script: string): ShellNode | null {
  const deadline = performance.now() + PARSE_BUDGET_MS;
  try {
    const tree = parser.parse(script, null, { progressCallback: () => performance.now() > deadline });
    if (!tree) parser.reset();
    return tree?.rootNode ?? null;
  } catch {
    // The wasm runtime throws when memory is exhausted; the caller treats the text as unparsed.
    parser.reset();
    return null;
  }
}

let loading: Promise<ParseShell> | undefined;

/** Loads the parser once. Without the grammar every text counts as unparsed, so unclear commands are stopped. */
export function loadShellParser(): Promise<ParseShell> {
  loading ??= load().catch((): ParseShell => () => null);
  return loading;
}
