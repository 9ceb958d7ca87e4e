// The lock that Hermes Agent v0.14 holds from the start of a tick until its runs have ended. Node cannot lock a file in
// the kernel, so a small program does it; it ends, and the lock with it, when its input closes, also by our death.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";

const HOLD = "echo; exec cat >/dev/null";
const PERL =
  'open(F, ">>", $ARGV[0]) or exit 2; flock(F, LOCK_EX | LOCK_NB) or exit 1; syswrite(STDOUT, "\\n"); <STDIN>';

/** What can take the lock, in the order of trying: Linux has the first, macOS the second. */
const LOCKERS: readonly ((path: string) => readonly [string, ...string[]])[] = [
  (path) => ["flock", "-n", path, "sh", "-c", HOLD],
  (path) => ["perl", "-MFcntl=:flock", "-e", PERL, path],
];
/** How both say that somebody else has it. */
const HELD_CODE = 1;

type Attempt = "held" | "impossible" | (() => Promise<void>);

async function attempt([program, ...args]: readonly [string, ...string[]]): Promise<Attempt> {
  const child: ChildProcess = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("exit", (code) => resolve(code));
  });
  // A program that ended cannot be told to end.
  child.stdin?.on("error", () => undefined);
  const taken = child.stdout ? once(child.stdout, "data").then(() => "taken" as const) : ended;
  const first = await Promise.race([taken, ended]);
  if (first === HELD_CODE) return "held";
  if (first !== "taken") return "impossible";
  return async () => {
    child.stdin?.end();
    await ended;
  };
}

/**
 * Answers with the release, or `held` while v0.14 is at its jobs. Where it has never ticked there is no such file, and
 * nothing to wait for.
 */
export async function takeTickLock(path: string): Promise<"held" | (() => Promise<void>)> {
  const free = async () => undefined;
  const exists = await access(path).then(
    () => true,
    () => false,
  );
  if (!exists) return free;
  for (const locker of LOCKERS) {
    const outcome = await attempt(locker(path));
    if (outcome !== "impossible") return outcome;
  }
  return free;
}
