// Child processes in their own process group, which are killed when this program ends, also after a crash.
import { type ChildProcess, spawn } from "node:child_process";

const KILL_AFTER_MS = 1_000;
/** A pipe that stays open while this program runs. */
const LIFELINE_FD = 3;

/**
 * Runs before every command: a watcher reads from the lifeline. Its read returns when this program ends, and then it
 * kills the whole group. It ignores the signals that ask the group to end: when this program dies between TERM and KILL,
 * the watcher must still be there for processes that ignore TERM. It holds none of the command's own descriptors.
 */
export const lifelineScript = `{ trap '' HUP INT TERM; exec </dev/null >/dev/null 2>&1; read -r -u ${LIFELINE_FD} _; kill -KILL -$$; } & exec ${LIFELINE_FD}<&-;`;

export interface GroupOptions {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly stdin: "pipe" | "ignore";
  /** Arguments of the script: $1, $2 … */
  readonly args?: readonly string[] | undefined;
  /** A command to run bash with, for sandboxes: `bwrap …`. */
  readonly wrapper?: readonly string[] | undefined;
  /** Standard error on its own pipe instead of merged into standard output. */
  readonly separateErrors?: boolean | undefined;
}

/** Starts `bash -c script` as the leader of a new group. Standard error goes to standard output unless `separateErrors`. */
export function spawnGroup(script: string, options: GroupOptions): ChildProcess {
  const merge = options.separateErrors ? "" : "exec 2>&1;";
  const bash = ["bash", "-c", `${lifelineScript} ${merge} ${script}`, "hermes", ...(options.args ?? [])];
  const [command = "bash", ...args] = [...(options.wrapper ?? []), ...bash];
  return spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    // A wrapper may report errors before bash merges the streams.
    stdio: [options.stdin, "pipe", options.separateErrors || options.wrapper ? "pipe" : "ignore", "pipe"],
  });
}

/**
 * The lifeline for a pseudo-terminal, which cannot inherit a descriptor: the watcher polls whether this program runs. A
 * hang-up alone would not end processes that ignore it.
 */
export function pollingLifeline(): string {
  return `{ trap '' HUP TERM; while kill -0 ${process.pid}; do sleep 1; done; kill -KILL -$$; } </dev/null >/dev/null 2>&1 &`;
}

/** False when the group no longer exists. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Sends TERM to the group, and KILL a second later to what is left. Resolves when the leader has ended. */
export async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const ended =
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise<void>((resolve) => child.once("exit", () => resolve()));
  signalGroup(pid, "SIGTERM");
  const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), KILL_AFTER_MS);
  await ended;
  clearTimeout(timer);
  signalGroup(pid, "SIGKILL");
}

/** After a normal end: kills what the command left running in its group. */
export function sweepGroup(child: ChildProcess): void {
  if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
}
