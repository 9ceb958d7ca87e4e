// Commands over ssh: one authenticated connection per conversation, shared by all its commands.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { Availability } from "../../core/tool/tool.ts";
import { shellQuote } from "../../lib/text/shell-quote.ts";
import { which } from "../../lib/which.ts";
import { ownTempFolder } from "./own-temp.ts";
import type { RemoteChannel } from "./remote-command.ts";

const CONNECT_SECONDS = 10;
const PERSIST_SECONDS = 300;
/** The path of a socket is limited to 108 bytes, and ssh appends a suffix while it connects. */
const MAX_SOCKET_FOLDER = 60;

export interface SshOptions {
  readonly host: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  readonly keyFile?: string | undefined;
  /** The environment of the ssh client: PATH, HOME, the agent's socket. */
  readonly env: { readonly [name: string]: string };
  /** Additional `-o` options. */
  readonly options?: readonly string[] | undefined;
}

export class SshChannel implements RemoteChannel {
  readonly name = "ssh";
  readonly #options: SshOptions;
  #folder: string | undefined;

  constructor(options: SshOptions) {
    this.#options = options;
  }

  get clientEnv(): { readonly [name: string]: string } {
    return this.#options.env;
  }

  get label(): string {
    const { user, host, port } = this.#options;
    return `${user ? `${user}@` : ""}${host}${port && port !== 22 ? `:${port}` : ""}`;
  }

  async available(): Promise<Availability> {
    const { host, env } = this.#options;
    if (host === "")
      return { ok: false, reason: "no host is set; use: hermes config set terminal.ssh_host example.org" };
    if (!/^[\w.:[\]%-]+$/.test(host) || host.startsWith("-"))
      return { ok: false, reason: `terminal.ssh_host is not a host name: ${JSON.stringify(host)}` };
    if (!which("ssh", env.PATH)) return { ok: false, reason: "the program ssh is not installed" };
    return { ok: true };
  }

  /** The path of the control socket, in a private folder. Its name is a hash, because host names may be too long. */
  #socket(): string {
    const base = tmpdir().length > MAX_SOCKET_FOLDER ? "/tmp" : tmpdir();
    this.#folder ??= ownTempFolder("ssh", base);
    return join(this.#folder, createHash("sha256").update(this.label).digest("hex").slice(0, 16));
  }

  #args(master: "yes" | "auto"): string[] {
    const { user, port, keyFile, options = [] } = this.#options;
    const settings = [
      "BatchMode=yes",
      "StrictHostKeyChecking=accept-new",
      `ConnectTimeout=${CONNECT_SECONDS}`,
      `ControlMaster=${master}`,
      `ControlPath=${this.#socket()}`,
      `ControlPersist=${PERSIST_SECONDS}`,
      "ServerAliveInterval=15",
      "ServerAliveCountMax=3",
      "LogLevel=ERROR",
      ...options,
    ];
    return [
      ...settings.flatMap((setting) => ["-o", setting]),
      ...(port ? ["-p", String(port)] : []),
      ...(keyFile ? ["-i", keyFile] : []),
      ...(user ? ["-l", user] : []),
    ];
  }

  /** Runs ssh. Waits for `exit` instead of `close`, because a background master keeps the pipes open. */
  #client(args: readonly string[]): Promise<{ code: number; stderr: string }> {
    return new Promise((resolve) => {
      const child = spawn("ssh", args, { env: this.#options.env, stdio: ["ignore", "ignore", "pipe"] });
      let stderr = "";
      child.stderr.on("data", (chunk) => (stderr += chunk));
      child.once("error", (error) => resolve({ code: 127, stderr: error.message }));
      child.once("exit", (code) =>
        setImmediate(() => {
          child.stderr.destroy();
          resolve({ code: code ?? 255, stderr: stderr.trim() });
        }),
      );
    });
  }

  async open(): Promise<void> {
    const { code, stderr } = await this.#client([...this.#args("yes"), "-N", "-f", "--", this.#options.host]);
    if (code === 0) return;
    await this.close();
    throw new UserError(`cannot connect to ${this.label}: ${stderr || `ssh ended with ${code}`}`, {
      hint: "Passwords are not supported: load a key into the agent or set terminal.ssh_key, and try: ssh HOST true",
    });
  }

  argv(script: string): readonly string[] {
    return ["ssh", ...this.#args("auto"), "-T", "--", this.#options.host, `exec bash -c ${shellQuote(script)}`];
  }

  async close(): Promise<void> {
    if (!this.#folder) return;
    await this.#client([...this.#args("auto"), "-O", "exit", "--", this.#options.host]);
    await rm(this.#folder, { recursive: true, force: true });
    this.#folder = undefined;
  }
}
