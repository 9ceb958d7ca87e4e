// A child in its own process group that cannot outlive this program: when our end of a pipe closes, the group ends itself.
import { type ChildProcess, spawn } from "node:child_process";

const KILL_AFTER_MS = 1_000;
/** The pipe that stays open for as long as we live. */
const LIFELINE_FD = 3;

/**
 * Runs before every command: a watcher waits on the lifeline. Its read returns when the program ends, however it ends,
 * and then the whole group is killed. The watcher holds none of the command's own descriptors.
 */
export const lifelineScript = `{ exec </dev/null >/dev/null 2>&1; read -r -u ${LIFELINE_FD} _; trap '' TERM; kill -KILL -$$; } & exec ${LIFELINE_FD}<&-;`;

export interface GroupOptions {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  readonly stdin: "pipe" | "ignore";
  /** More arguments after the script, as $1, $2 … */
  readonly args?: readonly string[] | undefined;
  /** Put before bash, for sandboxes: `bwrap …`. */
  readonly wrapper?: readonly string[] | undefined;
  /** Standard error on its own pipe instead of merged into standard output. */
  readonly separateErrors?: boolean | undefined;
}

/** Starts `bash -c script` as the leader of a new group, standard error merged into standard output unless asked otherwise. */
export function spawnGroup(script: string, options: GroupOptions): ChildProcess {
  const merge = options.separateErrors ? "" : "exec 2>&1;";
  const bash = ["bash", "-c", `${lifelineScript} ${merge} ${script}`, "hermes", ...(options.args ?? [])];
  const [command = "bash", ...args] = [...(options.wrapper ?? []), ...bash];
  return spawn(command, args, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    // A wrapper speaks before bash merges the streams: what it complains about must be seen.
    stdio: [options.stdin, "pipe", options.separateErrors || options.wrapper ? "pipe" : "ignore", "pipe"],
  });
}

/**
 * The same for a pseudo-terminal, to which no descriptor can be handed: the watcher looks whether we live. A hang-up
 * alone would spare what ignores it.
 */
export function pollingLifeline(): string {
  return `{ trap '' HUP TERM; while kill -0 ${process.pid}; do sleep 1; done; kill -KILL -$$; } </dev/null >/dev/null 2>&1 &`;
}

/** Whether the signal reached anybody. */
export function signalGroup(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Ends the group: TERM, and KILL for what is left after a second. Resolves when the leader is gone. */
export async function endGroup(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const gone =
    child.exitCode !== null || child.signalCode !== null
      ? Promise.resolve()
      : new Promise<void>((resolve) => child.once("exit", () => resolve()));
  signalGroup(pid, "SIGTERM");
  const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), KILL_AFTER_MS);
  await gone;
  clearTimeout(timer);
  signalGroup(pid, "SIGKILL");
}

/** After a normal end: whatever the command left running in its group goes too. */
export function sweepGroup(child: ChildProcess): void {
  if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
}
