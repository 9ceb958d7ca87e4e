// Runs a program to its end: no shell, its own process group, limits on time and output.
import { endGroup, spawnGroup, sweepGroup } from "./spawn-group.ts";

const MAX_OUTPUT = 1_000_000;

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly timeoutMs: number;
  readonly stdin?: string | undefined;
  /** Ends the program. */
  readonly signal?: AbortSignal | undefined;
  /** Characters kept of each stream; a million by default. */
  readonly maxOutput?: number | undefined;
  /** What happens to more output: it is dropped (the default), or the program is ended. */
  readonly onOverflow?: "drop" | "end" | undefined;
}

export interface ProgramRun {
  /** Null when a signal ended the program; 127 when the program was not found. */
  readonly code: number | null;
  readonly timedOut: boolean;
  readonly aborted: boolean;
  /** Whether output was dropped. */
  readonly overflowed: boolean;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** Rejects only when the process could not be started, for example because `cwd` does not exist. */
export async function runToEnd(argv: readonly string[], options: ProgramOptions): Promise<ProgramRun> {
  const began = performance.now();
  const { cwd, signal, maxOutput = MAX_OUTPUT } = options;
  // Without SHLVL bash takes the pipe for a remote login and reads the user's start-up files.
  const env = { SHLVL: "1", ...options.env };
  const child = spawnGroup('exec "$@"', { cwd, env, stdin: "pipe", args: argv, separateErrors: true });
  const texts = { stdout: "", stderr: "" };
  const state = { timedOut: false, aborted: false, overflowed: false };
  const end = (reason: "timedOut" | "aborted") => {
    state[reason] = true;
    void endGroup(child);
  };
  for (const name of ["stdout", "stderr"] as const) {
    child[name]?.setEncoding("utf8").on("data", (chunk: string) => {
      const room = maxOutput - texts[name].length;
      texts[name] += chunk.slice(0, Math.max(0, room));
      if (chunk.length <= room || state.overflowed) return;
      state.overflowed = true;
      if (options.onOverflow === "end") void endGroup(child);
    });
  }
  // The program may end without reading its input.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(options.stdin ?? "");
  const timer = setTimeout(() => end("timedOut"), options.timeoutMs);
  const onAbort = () => end("aborted");
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
    // Processes that the program left running may hold its pipes open.
    child.once("exit", () => sweepGroup(child));
  }).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  });
  return { code, ...state, ...texts, ms: Math.round(performance.now() - began) };
}
