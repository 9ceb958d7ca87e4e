// Runs one script as a process group with a time limit; whatever way it ends, nothing of it is left running.
import type { ChildProcess } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Readable } from "node:stream";
import { endGroup, spawnGroup, sweepGroup } from "../../lib/process/spawn-group.ts";
import type { OutputCapture } from "../terminal/output-capture.ts";
import type { PausableClock } from "./pausable-clock.ts";

/** Output may trickle in after the end; this is how long we listen. */
const DRAIN_MS = 300;

export interface ScriptRun {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** Put before the command: a container. */
  readonly wrapper?: readonly string[] | undefined;
  readonly clock: PausableClock;
  readonly signal: AbortSignal;
  readonly stdout: OutputCapture;
  readonly stderr: OutputCapture;
  /** A text that only this run's processes have in their environment. */
  readonly mark: string;
}

export interface ScriptEnd {
  readonly ending: "exit" | "timeout" | "interrupted";
  readonly code: number;
}

function keep(stream: Readable | null, capture: OutputCapture): Promise<void> {
  if (!stream) return Promise.resolve();
  stream.on("data", (chunk: Buffer) => {
    const wait = capture.push(chunk);
    if (!wait) return;
    stream.pause();
    void wait.then(() => stream.resume());
  });
  return new Promise((resolve) => stream.once("end", resolve));
}

/** False when it does not carry the mark, is gone already, or is somebody else's. */
function endMarked(pid: number, mark: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark) && process.kill(pid, "SIGKILL");
  } catch {
    return false;
  }
}

/** Processes that left the group still carry the mark in their environment. Where that cannot be read, the group was all. */
function sweepMarked(mark: string): void {
  for (const pid of listProcesses()) endMarked(pid, mark);
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

function exitOf(child: ChildProcess): Promise<number> {
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
    ...(run.wrapper ? { wrapper: run.wrapper } : {}),
  });
  let ending: ScriptEnd["ending"] = "exit";
  const stop = (why: ScriptEnd["ending"]) => {
    if (ending !== "exit") return;
    ending = why;
    void endGroup(child);
  };
  const interrupt = () => stop("interrupted");
  run.clock.start(() => stop("timeout"));
  run.signal.addEventListener("abort", interrupt, { once: true });
  if (run.signal.aborted) interrupt();
  const drained = Promise.all([keep(child.stdout, run.stdout), keep(child.stderr, run.stderr)]);
  try {
    const code = await exitOf(child);
    sweepGroup(child);
    sweepMarked(run.mark);
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([drained, new Promise((resolve) => (timer = setTimeout(resolve, DRAIN_MS)))]);
    clearTimeout(timer);
    return { ending, code };
  } finally {
    run.clock.stop();
    run.signal.removeEventListener("abort", interrupt);
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
