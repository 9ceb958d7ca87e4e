// Runs a program to its end: no shell, its own process group, a deadline, bounded output.
import { endGroup, spawnGroup, sweepGroup } from "../../tools/terminal/process-group.ts";

const MAX_OUTPUT = 1_000_000;

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly stdin?: string | undefined;
}

export interface ProgramRun {
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** Never rejects for what the program does; 127 is a program that was not found. */
export async function runProgram(argv: readonly string[], options: ProgramOptions): Promise<ProgramRun> {
  const began = performance.now();
  const { cwd } = options;
  // Without a shell level bash takes our pipe for a remote login and reads the person's start-up files.
  const env = { SHLVL: "1", ...options.env };
  const child = spawnGroup('exec "$@"', { cwd, env, stdin: "pipe", args: argv, separateErrors: true });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      if (texts[name].length < MAX_OUTPUT) texts[name] += chunk;
    });
  }
  // The program may end without reading its input.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.stdin ?? "");
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    void endGroup(child);
  }, options.timeoutMs);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
    // What the program left running may hold its pipes open: the group goes when its leader does.
    child.once("exit", () => sweepGroup(child));
  }).finally(() => clearTimeout(timer));
  return { code, timedOut, ...texts, ms: Math.round(performance.now() - began) };
}
