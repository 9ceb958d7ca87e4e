// Runs git on the checkpoint store with a time limit, without the user's configuration and without hooks.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";

export interface GitOptions {
  readonly gitDir: string;
  /** PATH for git. */
  readonly searchPath: string;
}

export interface GitCall {
  readonly workTree?: string | undefined;
  readonly indexFile?: string | undefined;
  readonly input?: string | undefined;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export interface GitResult {
  readonly code: number;
  readonly out: string;
  readonly errors: string;
}

/** Git is missing, failed, or took too long. */
export class GitError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "GitError";
  }
}

const MAX_OUTPUT = 64 * 1024 * 1024;
const SETTINGS = [
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgSign=false",
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "core.autocrlf=false",
  "core.quotePath=false",
  "core.protectNTFS=false",
  "core.protectHFS=false",
  "core.excludesFile=/dev/null",
  "core.attributesFile=/dev/null",
  "submodule.recurse=false",
  "diff.external=",
].flatMap((setting) => ["-c", setting]);

function environment(options: GitOptions, call: GitCall): { [name: string]: string } {
  const name = "Hermes";
  const email = "hermes@localhost";
  return {
    PATH: options.searchPath,
    HOME: options.gitDir,
    LC_ALL: "C.UTF-8",
    GIT_DIR: options.gitDir,
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_SYSTEM: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
    ...(call.workTree === undefined ? {} : { GIT_WORK_TREE: call.workTree }),
    ...(call.indexFile === undefined ? {} : { GIT_INDEX_FILE: call.indexFile }),
  };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Runs git and returns its result with any exit code. Throws GitError when git did not run to its end. */
export function tryGit(options: GitOptions, args: readonly string[], call: GitCall): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    if (call.signal?.aborted) return reject(new GitError("interrupted"));
    const cwd = call.workTree ?? options.gitDir;
    const child = spawn("git", [...SETTINGS, ...args], {
      cwd,
      env: environment(options, call),
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    const out: Buffer[] = [];
    let size = 0;
    let errors = "";
    let failure: string | undefined;
    const stop = (why: string) => {
      failure ??= why;
      killGroup(child.pid);
    };
    const timer = setTimeout(() => stop(`git ${args[0]} took longer than ${call.timeoutMs / 1000} s`), call.timeoutMs);
    const interrupt = () => stop("interrupted");
    call.signal?.addEventListener("abort", interrupt, { once: true });
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > MAX_OUTPUT) stop(`git ${args[0]} printed too much`);
      else out.push(chunk);
    });
    child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
      if (errors.length < 10_000) errors += chunk;
    });
    // Git may end without reading its input; the exit code is what counts.
    child.stdin.on("error", () => undefined);
    child.stdin.end(call.input ?? "");
    const finish = () => {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", interrupt);
    };
    child.once("error", (error: NodeJS.ErrnoException) => {
      finish();
      const missing = existsSync(cwd) ? "git is not installed" : `${cwd} does not exist`;
      reject(new GitError(error.code === "ENOENT" ? missing : error.message));
    });
    child.once("close", (code) => {
      finish();
      if (failure !== undefined) reject(new GitError(failure));
      else resolve({ code: code ?? 137, out: Buffer.concat(out).toString("utf8"), errors: errors.trim() });
    });
  });
}

/** The output of git. Throws GitError when it failed. */
export async function runGit(options: GitOptions, args: readonly string[], call: GitCall): Promise<string> {
  const result = await tryGit(options, args, call);
  if (result.code !== 0) throw new GitError(`git ${args[0]} failed: ${result.errors || `code ${result.code}`}`);
  return result.out;
}
