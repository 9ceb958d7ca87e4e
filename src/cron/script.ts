// The script of a job: found below the scripts folder only, run by the interpreter that its name or first line asks for.
import type { ChildProcess } from "node:child_process";
import { open, readFile, realpath, stat } from "node:fs/promises";
import { dirname, extname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { UserError } from "../core/failure.ts";

/** Starts a program in a process group of its own that cannot outlive ours, and ends such a group. */
export interface ProcessGroups {
  start(
    command: readonly string[],
    options: { readonly cwd: string; readonly env: { readonly [name: string]: string } },
  ): ChildProcess;
  end(child: ChildProcess): Promise<void>;
}

export interface ScriptParts {
  readonly folder: string;
  readonly env: { readonly [name: string]: string };
  readonly groups: ProcessGroups;
  readonly timeoutMs: number;
  redact(text: string): string;
}

export type ScriptResult =
  | { readonly ok: true; readonly output: string; readonly wake: boolean }
  | { readonly ok: false; readonly error: string; readonly output: string };

const MAX_OUTPUT = 1_000_000;
/** How long after its end a script's output is waited for. */
const PIPES_MS = 3_000;
const BY_EXTENSION: { readonly [extension: string]: readonly string[] } = {
  ".py": ["python3"],
  ".js": [process.execPath],
  ".mjs": [process.execPath],
  ".cjs": [process.execPath],
  ".sh": ["bash"],
  ".bash": ["bash"],
};

function outside(name: string, folder: string): UserError {
  return new UserError(`The script ${name} is not in ${folder}.`, {
    hint: `Put it there: scripts of jobs run from that folder only.`,
    exitCode: 2,
  });
}

/** The script's real path. Throws UserError when it does not exist or lies outside the folder. */
export async function findScript(name: string, folder: string): Promise<string> {
  const asked = isAbsolute(name) ? name : resolve(folder, name);
  const root = await realpath(folder).catch(() => resolve(folder));
  const real = await realpath(asked).catch(() => undefined);
  const inside = (path: string, base: string) => !relative(base, path).startsWith("..") && path.startsWith(base + sep);
  if (real === undefined) {
    if (!inside(asked, resolve(folder))) throw outside(name, folder);
    throw new UserError(`There is no script ${asked}.`, { hint: `Create it in ${folder}.`, exitCode: 2 });
  }
  if (!inside(real, root)) throw outside(name, folder);
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

/** Types are taken out here, so that every supported Node runs the script; its imports are seen from its folder. */
async function typescriptCommand(path: string): Promise<readonly string[]> {
  const [sucrase, source] = await Promise.all([import("sucrase"), readFile(path, "utf8")]);
  const { code } = sucrase.default.transform(source.replace(/^#!.*/, ""), {
    transforms: ["typescript"],
    disableESTransforms: true,
  });
  return [process.execPath, "--input-type=module", "-e", code];
}

/** By extension, else by the `#!` line, else Python, as Hermes Agent v0.14 runs what it does not know. */
async function commandFor(path: string): Promise<readonly string[]> {
  const extension = extname(path).toLowerCase();
  const known = BY_EXTENSION[extension];
  if (known) return [...known, path];
  if (extension === ".ts" || extension === ".mts") return typescriptCommand(path);
  const shebang = /^#!\s*(\S.*)$/.exec(await firstLine(path))?.[1]?.trim();
  return shebang ? [...shebang.split(/\s+/), path] : ["python3", path];
}

function gather(child: ChildProcess): { stdout(): string; stderr(): string } {
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
  if (!last?.startsWith("{")) return true;
  try {
    return (JSON.parse(last) as { wakeAgent?: unknown }).wakeAgent !== false;
  } catch {
    return true;
  }
}

async function ended(child: ChildProcess, parts: ScriptParts, signal: AbortSignal): Promise<string | undefined> {
  let why: string | undefined;
  const end = (reason: string) => {
    why ??= reason;
    void parts.groups.end(child);
  };
  const timer = setTimeout(() => end(`it took longer than ${parts.timeoutMs / 1000} s`), parts.timeoutMs);
  const onAbort = () => end("the run was stopped");
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const code = await new Promise<string | undefined>((done) => {
      child.once("error", (error) => done(`it could not be started: ${error.message}`));
      child.once("exit", (status, killedBy) => {
        // What the script left running goes with it; only then do its pipes close and all output is there.
        void parts.groups.end(child);
        const how = killedBy ? `it was ended by ${killedBy}` : `it ended with code ${status}`;
        const finish = () => done(status === 0 ? undefined : how);
        // A program that has left the group may keep the pipes open for ever.
        const timer = setTimeout(() => {
          child.stdout?.destroy();
          child.stderr?.destroy();
          finish();
        }, PIPES_MS);
        child.once("close", () => {
          clearTimeout(timer);
          finish();
        });
      });
    });
    return why ?? code;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** Runs a script in its own folder; trouble is data, with code, errors and output in the text. */
export async function runScript(name: string, parts: ScriptParts, signal: AbortSignal): Promise<ScriptResult> {
  let path: string;
  let command: readonly string[];
  try {
    path = await findScript(name, parts.folder);
    command = await commandFor(path);
  } catch (error) {
    const hint = error instanceof UserError ? (error.hint ?? "") : "";
    const why = error instanceof Error ? error.message : String(error);
    return { ok: false, error: `The script ${name} cannot be run. ${why} ${hint}`.trim(), output: "" };
  }
  const child = parts.groups.start(command, { cwd: dirname(path), env: parts.env });
  const texts = gather(child);
  const failure = await ended(child, parts, signal);
  const output = parts.redact(texts.stdout()).trim();
  if (failure === undefined) return { ok: true, output, wake: wakes(output) };
  const errors = parts.redact(texts.stderr()).trim();
  const said = [
    `The script ${name} failed: ${failure}.`,
    errors === "" ? "" : `stderr:\n${errors.slice(-4000)}`,
    output === "" ? "" : `stdout:\n${output.slice(-4000)}`,
  ];
  return { ok: false, error: said.filter((part) => part !== "").join("\n"), output };
}

/** Where job scripts live. */
export function scriptsFolder(home: string): string {
  return join(home, "scripts");
}
