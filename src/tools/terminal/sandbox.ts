// Commands on this machine inside bubblewrap: the system read-only, the workspace writable, one permission at a time beyond.
import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { rm } from "node:fs/promises";
import type { Availability } from "../../core/tool.ts";
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
import { bubblewrap, hiddenFolders, isInside, type SandboxPlace, workspaceIsWritable } from "./sandbox-mounts.ts";
import { refusedPath } from "./sandbox-refusal.ts";

const MAX_PERMISSIONS = 5;
const WATCHED_CHARS = 16_000;

export interface SandboxOptions extends Omit<LocalOptions, "wrapper"> {
  readonly home: string;
  /** More folders to hide. */
  readonly hidden: readonly string[];
  readonly network: boolean;
  readonly writable: readonly string[];
}

/** Whether bubblewrap is there and this kernel lets it work. */
export function sandboxAvailable(env: { readonly [name: string]: string }): Promise<Availability> {
  const probe = ["--ro-bind", "/", "/", "--unshare-pid", "--unshare-net", "--dev", "/dev", "--proc", "/proc", "true"];
  return new Promise((resolve) => {
    execFile("bwrap", probe, { env, timeout: 10_000 }, (error, _, said) => {
      if (!error) return resolve({ ok: true });
      const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
      resolve({
        ok: false,
        reason: missing
          ? "bubblewrap (bwrap) is not installed"
          : `bubblewrap does not work here: ${said.trim().slice(-300) || error.message}`,
      });
    });
  });
}

export class SandboxedBackend implements Backend, SandboxLimits {
  readonly name = "local";
  readonly limits: SandboxLimits = this;
  readonly #options: SandboxOptions;
  readonly #place: SandboxPlace;
  readonly #inner: LocalBackend;
  readonly #read = new Set<string>();
  readonly #write: Set<string>;
  /** For the run of one command only. */
  #once: PathRequest[] = [];

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#place = {
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
      wrapper: (now) => bubblewrap(this.#place, this.#grants(), now),
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
      this.#once.filter((options) => options.access === access).map((options) => options.path);
    return { read: [...this.#read, ...once("read")], write: [...this.#write, ...once("write")] };
  }

  canWrite(path: string): boolean {
    const open = [...this.#grants().write, ...(workspaceIsWritable(this.#place) ? [this.#place.workspace] : [])];
    return [...open, "/tmp", "/dev", "/proc"].some((folder) => isInside(path, folder));
  }

  canRead(path: string): boolean {
    if (this.canWrite(path) || this.#grants().read.some((folder) => isInside(path, folder))) return true;
    return !hiddenFolders(this.#place).some((folder) => isInside(path, folder));
  }

  /** Opens a path for the rest of the conversation. */
  allow(options: PathRequest): void {
    (options.access === "read" ? this.#read : this.#write).add(options.path);
  }

  /** Runs, and when a path was refused and the person allows it, runs again with that path. */
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
      const options = refusedPath(seen, [request.cwd ?? before, this.cwd], this);
      if (!options) return result;
      const answer = permissions < MAX_PERMISSIONS ? ((await request.permit?.(options)) ?? "deny") : "deny";
      if (answer === "deny") return { ...result, note: refusal(options) };
      if (answer === "session") this.allow(options);
      else this.#once.push(options);
      request.output.push(Buffer.from(`[allowed: ${options.access} ${options.path}; the command runs again]\n`));
    }
  }

  spawn(request: SpawnRequest): Promise<RunningProcess> {
    this.#once = [];
    return this.#inner.spawn(request);
  }

  async close(): Promise<void> {
    await this.#inner.close();
    await rm(this.#place.temp, { recursive: true, force: true });
  }
}

function refusal(options: PathRequest): string {
  const what = options.access === "write" ? "is read-only in the sandbox" : "is hidden in the sandbox";
  return `${options.path} ${what}. Do not work around it. The person can open it: add it to terminal.sandbox_writable, or set terminal.sandbox to none.`;
}
