// Runs the script of a job. It must be inside the scripts folder; its extension or first line selects the interpreter.
import type { ChildProcess } from "node:child_process";
import { open, readFile, realpath, stat } from "node:fs/promises";
import { dirname, extname, isAbsolute, join, resolve } from "node:path";
import { UserError } from "../../core/failure.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import { endGroup, spawnGroup } from "../../lib/process/spawn-group.ts";

export interface ScriptOptions {
  /** The scripts folder. */
  readonly folder: string;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  redact(text: string): string;
}

export type ScriptResult =
  | { readonly ok: true; readonly output: string; readonly wake: boolean }
  | { readonly ok: false; readonly error: string; readonly output: string };

const MAX_OUTPUT = 1_000_000;
/** How long to wait for the rest of the output after a script has ended. */
const OUTPUT_WAIT_MS = 3_000;
const BY_EXTENSION: { readonly [extension: string]: readonly string[] } = {
  ".py": ["python3"],
  ".js": [process.execPath],
  ".mjs": [process.execPath],
  ".cjs": [process.execPath],
  ".sh": ["bash"],
  ".bash": ["bash"],
};

function outsideError(name: string, folder: string): UserError {
  return new UserError(`The script ${name} is not in ${folder}.`, {
    hint: "Put it there: jobs run only scripts in that folder.",
    exitCode: 2,
  });
}

/** The script's real path. Throws UserError when it does not exist or lies outside the folder. */
export async function findScript(name: string, folder: string): Promise<string> {
  const asked = isAbsolute(name) ? name : resolve(folder, name);
  const root = await realpath(folder).catch(() => resolve(folder));
  const real = await realpath(asked).catch(() => undefined);
  if (real === undefined) {
    if (!isPathInside(asked, resolve(folder))) throw outsideError(name, folder);
    throw new UserError(`There is no script ${asked}.`, { hint: `Create it in ${folder}.`, exitCode: 2 });
  }
  if (!isPathInside(real, root)) throw outsideError(name, folder);
  if (!(await stat(real)).isFile()) throw new UserError(`${real} is not a file.`, { exitCode: 2 });
  return real;
}

async function firstLine(path: string): Promise<string> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(256), 0, 256, 0);
    return buffer.subarray(0, bytesRead).toString("utf8").split("\n")[0] ?? "";
  } finally {
    await handle.close();
  }
}

/** Strips the types, so that every supported Node version runs the script. Imports are resolved from its folder. */
async function typescriptCommand(path: string): Promise<readonly string[]> {
  const [sucrase, source] = await Promise.all([import("sucrase"), readFile(path, "utf8")]);
  const { code } = sucrase.default.transform(source.replace(/^#!.*/, ""), {
    transforms: ["typescript"],
    disableESTransforms: true,
  });
  return [process.execPath, "--input-type=module", "-e", code];
}

/** By extension, else by the `#!` line, else Python as in Hermes Agent v0.14. */
async function commandFor(path: string): Promise<readonly string[]> {
  const extension = extname(path).toLowerCase();
  const known = BY_EXTENSION[extension];
  if (known) return [...known, path];
  if (extension === ".ts" || extension === ".mts") return typescriptCommand(path);
  const shebang = /^#!\s*(\S.*)$/.exec(await firstLine(path))?.[1]?.trim();
  return shebang ? [...shebang.split(/\s+/), path] : ["python3", path];
}

function collectOutput(child: ChildProcess): { stdout(): string; stderr(): string } {
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      if (texts[name].length < MAX_OUTPUT) texts[name] += chunk.slice(0, MAX_OUTPUT - texts[name].length);
    });
  }
  return { stdout: () => texts.stdout, stderr: () => texts.stderr };
}

/** False when the last line with text is JSON that says `wakeAgent: false`. */
function wakes(output: string): boolean {
  const last = output
    .split("\n")
    .map((line) => line.trim())
    .findLast((line) => line !== "");
  const value = parseJson(last ?? "");
  return !isRecord(value) || value.wakeAgent !== false;
}

/** Waits for the end of the script. Why it failed; undefined for exit code 0. */
async function waitForEnd(child: ChildProcess, timeoutMs: number, signal: AbortSignal): Promise<string | undefined> {
  let stopReason: string | undefined;
  const end = (reason: string) => {
    stopReason ??= reason;
    void endGroup(child);
  };
  const timer = setTimeout(() => end(`it took longer than ${timeoutMs / 1000} s`), timeoutMs);
  const onAbort = () => end("the run was stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const code = await new Promise<string | undefined>((done) => {
      child.once("error", (error) => done(`it could not be started: ${error.message}`));
      child.once("exit", (status, killedBy) => {
        // Processes that the script left running are ended: they would keep its pipes open.
        void endGroup(child);
        const how = killedBy ? `it was killed by ${killedBy}` : `it ended with code ${status}`;
        const finish = () => done(status === 0 ? undefined : how);
        // A process that has left the group may keep the pipes open.
        const timer = setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
          finish();
        }, OUTPUT_WAIT_MS);
        child.once("close", () => {
          clearTimeout(timer);
          finish();
        });
      });
    });
    return stopReason ?? code;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Runs a script in its own folder. A failure is returned with the exit code, the errors and the output. */
export async function runScript(name: string, options: ScriptOptions, signal: AbortSignal): Promise<ScriptResult> {
  let path: string;
  let command: readonly string[];
  try {
    path = await findScript(name, options.folder);
    command = await commandFor(path);
  } catch (error) {
    const hint = error instanceof UserError ? (error.hint ?? "") : "";
    return { ok: false, error: `The script ${name} cannot be run. ${errorMessage(error)} ${hint}`.trim(), output: "" };
  }
  const child = spawnGroup('exec "$@"', {
    cwd: dirname(path),
    env: options.env,
    stdin: "ignore",
    args: command,
    separateErrors: true,
  });
  const texts = collectOutput(child);
  const failure = await waitForEnd(child, options.timeoutMs, signal);
  const output = options.redact(texts.stdout()).trim();
  if (failure === undefined) return { ok: true, output, wake: wakes(output) };
  const errors = options.redact(texts.stderr()).trim();
  const details = [
    `The script ${name} failed: ${failure}.`,
    errors === "" ? "" : `stderr:\n${errors.slice(-4000)}`,
    output === "" ? "" : `stdout:\n${output.slice(-4000)}`,
  ];
  return { ok: false, error: details.filter((part) => part !== "").join("\n"), output };
}

/** The folder of the scripts of jobs. */
export function scriptsFolder(home: string): string {
  return join(home, "scripts");
}
