// The lock that Hermes Agent v0.14 holds from the start of a tick until its runs have ended. Node has no flock(), so a
// helper process holds the lock. It ends when its standard input closes, also when this process dies.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";

const HOLD = "echo; exec cat >/dev/null";
const PERL =
  'open(F, ">>", $ARGV[0]) or exit 2; flock(F, LOCK_EX | LOCK_NB) or exit 1; syswrite(STDOUT, "\\n"); <STDIN>';

/** Commands that take the lock, in the order in which they are tried: Linux has the first, macOS the second. */
const LOCKERS: readonly ((path: string) => readonly [string, ...string[]])[] = [
  (path) => ["flock", "-n", path, "sh", "-c", HOLD],
  (path) => ["perl", "-MFcntl=:flock", "-e", PERL, path],
];
/** The exit code of both when another process holds the lock. */
const HELD_CODE = 1;

type Attempt = "held" | "impossible" | (() => Promise<void>);

async function attempt([program, ...args]: readonly [string, ...string[]]): Promise<Attempt> {
  const child: ChildProcess = spawn(program, args, { stdio: ["pipe", "pipe", "ignore"] });
  const ended = new Promise<number | null>((resolve) => {
    child.once("error", () => resolve(null));
    child.once("exit", (code) => resolve(code));
  });
  // Writing to a process that has ended is an error.
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
 * Returns a function that releases the lock, or `held` while v0.14 runs jobs. When v0.14 never ran here, the file does
 * not exist and no lock is needed.
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
