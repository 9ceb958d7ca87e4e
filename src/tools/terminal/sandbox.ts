// Runs commands on this machine in bubblewrap: system read-only, workspace writable, other paths after approval.
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Availability } from "../../core/tool/tool.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type {
  Backend,
  ExecRequest,
  ExecResult,
  PathRequest,
  RunningProcess,
  SandboxLimits,
  SpawnRequest,
} from "./backend.ts";
import { LocalBackend, type LocalOptions } from "./local.ts";
import { ownTempFolder } from "./own-temp.ts";
import { findDeniedPath } from "./sandbox-denial.ts";
import { bubblewrap, hiddenFolders, type SandboxLayout, workspaceIsWritable } from "./sandbox-mounts.ts";

const MAX_PERMISSIONS = 5;
const WATCHED_CHARS = 16_000;

export interface SandboxOptions extends Omit<LocalOptions, "wrapper"> {
  readonly home: string;
  /** Additional folders to hide. */
  readonly hidden: readonly string[];
  readonly network: boolean;
  readonly writable: readonly string[];
}

/** Checks that bubblewrap is installed and that the kernel allows it. */
export function sandboxAvailable(env: { readonly [name: string]: string }): Promise<Availability> {
  const probe = ["--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "--dev", "/dev", "--proc", "/proc", "true"];
  return new Promise((resolve) => {
    execFile("bwrap", probe, { env, timeout: 10_000 }, (error, _, stderr) => {
      if (!error) return resolve({ ok: true });
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      resolve({
        ok: false,
        reason: missing
          ? "bubblewrap (bwrap) is not installed"
          : `bubblewrap does not work here: ${stderr.trim().slice(-300) || error.message}`,
      });
    });
  });
}

export class SandboxedBackend implements Backend, SandboxLimits {
  readonly name = "local";
  readonly limits: SandboxLimits = this;
  readonly #options: SandboxOptions;
  readonly #layout: SandboxLayout;
  readonly #inner: LocalBackend;
  readonly #read = new Set<string>();
  readonly #write: Set<string>;
  /** Granted for the current command only. */
  #once: PathRequest[] = [];

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#layout = {
      workspace: realpathSync(options.cwd),
      home: options.home,
      hidden: options.hidden,
      temp: ownTempFolder("sandbox"),
      network: options.network,
      path: options.env.PATH ?? "",
    };
    this.#write = new Set(options.writable);
    this.#inner = new LocalBackend({
      ...options,
      env: { ...options.env, TMPDIR: "/tmp" },
      wrapper: (folders) => bubblewrap(this.#layout, this.#grants(), folders),
    });
  }

  get cwd(): string {
    return this.#inner.cwd;
  }

  get home(): string | undefined {
    return this.#inner.home;
  }

  available(): Promise<Availability> {
    return sandboxAvailable(this.#options.env);
  }

  #grants() {
    const once = (access: PathRequest["access"]) =>
      this.#once.filter((request) => request.access === access).map((request) => request.path);
    return { read: [...this.#read, ...once("read")], write: [...this.#write, ...once("write")] };
  }

  canWrite(path: string): boolean {
    const writable = [...this.#grants().write, ...(workspaceIsWritable(this.#layout) ? [this.#layout.workspace] : [])];
    return [...writable, "/tmp", "/dev", "/proc"].some((folder) => isPathInside(path, folder));
  }

  canRead(path: string): boolean {
    if (this.canWrite(path) || this.#grants().read.some((folder) => isPathInside(path, folder))) return true;
    return !hiddenFolders(this.#layout).some((folder) => isPathInside(path, folder));
  }

  /** Allows a path for the rest of the conversation. */
  allow(request: PathRequest): void {
    (request.access === "read" ? this.#read : this.#write).add(request.path);
  }

  /** When a path was denied and the user allows it, runs the command again. */
  async run(request: ExecRequest): Promise<ExecResult> {
    const before = this.cwd;
    this.#once = [];
    for (let permissions = 0; ; permissions++) {
      let seen = "";
      const result = await this.#inner.run({
        ...request,
        onOutput: (text) => {
          seen = (seen + text).slice(-WATCHED_CHARS);
          request.onOutput?.(text);
        },
      });
      if (result.exitCode === 0 || result.timedOut || result.interrupted) return result;
      const denied = findDeniedPath(seen, [request.cwd ?? before, this.cwd], this);
      if (!denied) return result;
      const answer = permissions < MAX_PERMISSIONS ? ((await request.permit?.(denied)) ?? "deny") : "deny";
      if (answer === "deny") return { ...result, note: denialNote(denied) };
      if (answer === "session") this.allow(denied);
      else this.#once.push(denied);
      request.output.push(Buffer.from(`[allowed: ${denied.access} ${denied.path}; the command runs again]\n`));
    }
  }

  spawn(request: SpawnRequest): Promise<RunningProcess> {
    this.#once = [];
    return this.#inner.spawn(request);
  }

  async close(): Promise<void> {
    await this.#inner.close();
    await rm(this.#layout.temp, { recursive: true, force: true });
  }
}

function denialNote(request: PathRequest): string {
  const what = request.access === "write" ? "is read-only in the sandbox" : "is hidden in the sandbox";
  return `${request.path} ${what}. Do not work around it. The user can allow it: add it to terminal.sandbox_writable, or set terminal.sandbox to none.`;
}
