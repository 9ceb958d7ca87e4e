// Checks the syntax of a file after writing it. Errors that the old content already had are not reported.
import { spawn } from "node:child_process";
import { extname } from "node:path";
import { errorMessage } from "../../lib/error-message.ts";

export interface SyntaxReport {
  readonly status: "ok" | "error" | "skipped";
  readonly message?: string | undefined;
}

const TIMEOUT_MS = 10_000;
const PYTHON_CHECK =
  "import ast,sys\ntry:\n ast.parse(sys.stdin.buffer.read())\nexcept SyntaxError as e:\n print(f'line {e.lineno}: {e.msg}'); sys.exit(1)";

function checkJson(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return errorMessage(error);
  }
}

async function checkYaml(text: string): Promise<string | null> {
  const { parseAllDocuments } = (await import("yaml")).default;
  const documents = parseAllDocuments(text);
  const error = Array.isArray(documents) ? documents.flatMap((document) => document.errors)[0] : undefined;
  return error ? (error.message.split("\n")[0] ?? error.message) : null;
}

/** Passes the text to a checker on standard input; the text is parsed and not executed. */
function checkWith(command: string, args: readonly string[], text: string): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"], timeout: TIMEOUT_MS });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("error", () => resolve(null));
    child.on("close", (code) => resolve(code === 1 ? output.trim().slice(0, 2_000) || "syntax error" : null));
    child.stdin.on("error", () => undefined);
    child.stdin.end(text);
  });
}

type Checker = (text: string) => Promise<string | null> | string | null;

const CHECKERS: { readonly [extension: string]: Checker } = {
  ".json": checkJson,
  ".yaml": checkYaml,
  ".yml": checkYaml,
  ".py": (text) => checkWith("python3", ["-c", PYTHON_CHECK], text),
  ".js": (text) => checkWith(process.execPath, ["--check", "--input-type=commonjs", "-"], text),
  ".cjs": (text) => checkWith(process.execPath, ["--check", "--input-type=commonjs", "-"], text),
  ".mjs": (text) => checkWith(process.execPath, ["--check", "--input-type=module", "-"], text),
  ".sh": (text) => checkWith("bash", ["-n"], text),
};

export async function checkSyntax(path: string, text: string, before: string | null): Promise<SyntaxReport> {
  const check = CHECKERS[extname(path).toLowerCase()];
  if (!check) return { status: "skipped" };
  const error = await check(text);
  if (!error) return { status: "ok" };
  if (before !== null && (await check(before)) !== null)
    return { status: "skipped", message: "the file did not parse before either" };
  return { status: "error", message: error };
}
