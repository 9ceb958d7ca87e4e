// The way to another machine: one authenticated connection per conversation, shared by all its commands.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { Availability } from "../../core/tool.ts";
import { ownTempFolder } from "./own-temp.ts";
import type { RemoteChannel } from "./remote-command.ts";
import { shellQuote } from "./shell-state.ts";

const CONNECT_SECONDS = 10;
const PERSIST_SECONDS = 300;
/** A socket's path may have 108 bytes, and ssh needs some of them while it connects. */
const MAX_SOCKET_FOLDER = 60;

export interface SshOptions {
  readonly host: string;
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  readonly keyFile?: string | undefined;
  /** The environment of the ssh client: PATH, HOME, the agent's socket. */
  readonly env: { readonly [name: string]: string };
  /** More `-o` options. */
  readonly options?: readonly string[] | undefined;
}

function onPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
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

  get place(): string {
    const { user, host, port } = this.#options;
    return `${user ? `${user}@` : ""}${host}${port && port !== 22 ? `:${port}` : ""}`;
  }

  async available(): Promise<Availability> {
    const { host, env } = this.#options;
    if (host === "")
      return { ok: false, reason: "no host is set; use: hermes config set terminal.ssh_host example.org" };
    if (!/^[\w.:[\]%-]+$/.test(host) || host.startsWith("-"))
      return { ok: false, reason: `terminal.ssh_host is not a host name: ${JSON.stringify(host)}` };
    if (!onPath("ssh", env.PATH ?? "")) return { ok: false, reason: "the program ssh is not installed" };
    return { ok: true };
  }

  /** Readable by its owner only; the socket's name tells nobody where it leads. */
  #socket(): string {
    const base = tmpdir().length > MAX_SOCKET_FOLDER ? "/tmp" : tmpdir();
    this.#folder ??= ownTempFolder("ssh", base);
    return join(this.#folder, createHash("sha256").update(this.place).digest("hex").slice(0, 16));
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

  /** Resolves with what the client said and its exit code. A master in the background may hold the pipes, so `exit` counts. */
  #client(args: readonly string[]): Promise<{ code: number; said: string }> {
    return new Promise((resolve) => {
      const child = spawn("ssh", args, { env: this.#options.env, stdio: ["ignore", "ignore", "pipe"] });
      let said = "";
      child.stderr.on("data", (chunk) => (said += chunk));
      child.once("error", (error) => resolve({ code: 127, said: error.message }));
      child.once("exit", (code) =>
        setImmediate(() => {
          child.stderr.destroy();
          resolve({ code: code ?? 255, said: said.trim() });
        }),
      );
    });
  }

  async open(): Promise<void> {
    const { code, said } = await this.#client([...this.#args("yes"), "-N", "-f", "--", this.#options.host]);
    if (code === 0) return;
    await this.close();
    throw new UserError(`cannot connect to ${this.place}: ${said || `ssh ended with ${code}`}`, {
      hint: "Hermes asks for no passwords here: load a key into the agent or set terminal.ssh_key, and try: ssh HOST true",
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
