// Runs a script in its own process group with a time limit, and kills all of its processes at the end.
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import type { Deadline } from "../../lib/async/deadline.ts";
import { endGroup, spawnGroup, sweepGroup } from "../../lib/process/spawn-group.ts";
import type { OutputCapture } from "../terminal/output-capture.ts";

/** How long output is still read after the end. */
const DRAIN_MS = 300;

export interface ScriptRun {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** Arguments before the command, for a sandbox. */
  readonly wrapper?: readonly string[] | undefined;
  readonly deadline: Deadline;
  readonly signal: AbortSignal;
  readonly stdout: OutputCapture;
  readonly stderr: OutputCapture;
  /** A text that only processes of this run have in their environment. */
  readonly mark: string;
}

export interface ScriptEnd {
  readonly ending: "exit" | "timeout" | "interrupted";
  readonly code: number;
}

function captureStream(stream: Readable | null, capture: OutputCapture): Promise<void> {
  if (!stream) return Promise.resolve();
  stream.on("data", (chunk: Buffer) => {
    const wait = capture.push(chunk);
    if (!wait) return;
    stream.pause();
    void wait.then(() => stream.resume());
  });
  return new Promise((resolve) => stream.once("end", resolve));
}

/** Kills the process if its environment contains the mark and may be read. */
function killMarked(pid: number, mark: string): void {
  try {
    if (readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)) process.kill(pid, "SIGKILL");
  } catch {
    // The process has ended or belongs to another user.
  }
}

/** Kills processes that left the group, by the mark in their environment. Works only where /proc exists. */
function sweepMarked(mark: string): void {
  for (const pid of listProcesses()) killMarked(pid, mark);
}

function listProcesses(): number[] {
  try {
    return readdirSync("/proc")
      .map(Number)
      .filter((pid) => pid > 0 && pid !== process.pid);
  } catch {
    return [];
  }
}

function exitCode(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", () => resolve(127));
    child.once("exit", (code) => resolve(code ?? 137));
  });
}

export async function runScript(run: ScriptRun): Promise<ScriptEnd> {
  const child = spawnGroup('"$@"; exit $?', {
    cwd: run.cwd,
    env: run.env,
    stdin: "ignore",
    args: run.command,
    separateErrors: true,
    wrapper: run.wrapper,
  });
  let ending: ScriptEnd["ending"] = "exit";
  const stop = (why: ScriptEnd["ending"]) => {
    if (ending !== "exit") return;
    ending = why;
    void endGroup(child);
  };
  const interrupt = () => stop("interrupted");
  const expire = () => stop("timeout");
  run.deadline.signal.addEventListener("abort", expire, { once: true });
  if (run.deadline.passed) expire();
  run.signal.addEventListener("abort", interrupt, { once: true });
  if (run.signal.aborted) interrupt();
  const drained = Promise.all([captureStream(child.stdout, run.stdout), captureStream(child.stderr, run.stderr)]);
  try {
    const code = await exitCode(child);
    sweepGroup(child);
    sweepMarked(run.mark);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([drained, new Promise((resolve) => (timer = setTimeout(resolve, DRAIN_MS)))]);
    clearTimeout(timer);
    return { ending, code };
  } finally {
    run.deadline.stop();
    run.signal.removeEventListener("abort", interrupt);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
