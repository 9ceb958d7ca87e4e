// One remote command: a local client process that transfers its input, its output and the signal to stop.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { ExecRequest } from "./backend.ts";
import { FrameFilter } from "./remote-frames.ts";
import { type RemoteCommand, remoteScript } from "./remote-script.ts";

/** How long the remote side may take to stop a command before the client is killed. */
const STOP_MS = 3_000;
const INPUT_CHUNK = 48 * 1024;

/** A connection to a remote shell. */
export interface RemoteChannel {
  readonly name: string;
  /** Name of the remote machine, for messages. */
  readonly label: string;
  available(): ReturnType<import("./backend.ts").Backend["available"]>;
  /** Connects, or starts a container. Throws UserError. */
  open(): Promise<void>;
  /** The local program and its arguments that run a bash script remotely, with standard input and output connected. */
  argv(script: string): readonly string[];
  readonly clientEnv: { readonly [name: string]: string };
  close(): Promise<void>;
}

export interface RemoteEnd {
  /** Undefined when the connection was lost before the command ended. */
  readonly exitCode: number | undefined;
  readonly cwd: string;
  /** The standard error of the client. */
  readonly clientError: string;
}

export class RunningCommand {
  readonly #child: ChildProcess;
  #clientError = "";
  #end: { exitCode: number; cwd: string } | undefined;
  #pid: number | null = null;
  readonly started: Promise<number | null>;
  readonly ended: Promise<RemoteEnd>;

  constructor(
    channel: RemoteChannel,
    options: Omit<RemoteCommand, "token">,
    onOutput: (chunk: Buffer) => ReturnType<ExecRequest["output"]["push"]>,
  ) {
    const token = `hermes-${randomBytes(8).toString("hex")}`;
    const [program = "", ...args] = channel.argv(remoteScript({ ...options, token }));
    const child = spawn(program, args, { env: channel.clientEnv, detached: true, stdio: ["pipe", "pipe", "pipe"] });
    this.#child = child;
    child.stdin?.on("error", () => undefined);
    child.stderr?.on("data", (chunk: Buffer) => {
      this.#clientError = (this.#clientError + chunk.toString()).slice(-4_000);
    });
    let settleStart: (pid: number | null) => void = () => undefined;
    let settleEnd: () => void = () => undefined;
    this.started = new Promise((resolve) => (settleStart = resolve));
    this.ended = new Promise((resolve) => {
      settleEnd = () => {
        settleStart(null);
        resolve({
          exitCode: this.#end?.exitCode,
          cwd: this.#end?.cwd ?? "",
          clientError: this.#clientError.trim(),
        });
        this.#release();
      };
    });
    const filter = new FrameFilter(token, (frame) => {
      if (frame.kind === "pid") {
        this.#pid = frame.pid;
        settleStart(frame.pid);
      } else if (frame.kind === "end") this.#end = frame;
    });
    child.stdout?.on("data", (chunk: Buffer) => {
      const wait = onOutput(filter.push(chunk));
      if (wait && child.stdout) {
        const { stdout } = child;
        stdout.pause();
        void wait.then(() => stdout.resume());
      }
      // Background processes of the command may keep the output open; the end mark shows that the command has ended.
      if (this.#end) settleEnd();
    });
    child.once("error", (error) => {
      this.#clientError = error.message;
      settleEnd();
    });
    child.once("close", () => {
      onOutput(filter.end());
      settleEnd();
    });
  }

  get pid(): number | null {
    return this.#pid;
  }

  write(data: string | Buffer): boolean {
    const { stdin } = this.#child;
    if (!stdin?.writable || this.#end) return false;
    const bytes = Buffer.from(data);
    for (let at = 0; at < bytes.length; at += INPUT_CHUNK)
      stdin.write(`w${bytes.subarray(at, at + INPUT_CHUNK).toString("base64")}\n`);
    return true;
  }

  closeInput(): void {
    this.#send("c");
  }

  #send(line: string): void {
    if (this.#child.stdin?.writable) this.#child.stdin.write(`${line}\n`);
  }

  /** Stops the remote process group. Resolves when it has ended or the client was killed. */
  async stop(): Promise<void> {
    this.#send("k");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS);
    await this.ended;
    clearTimeout(timer);
  }

  #release(): void {
    this.#child.stdin?.end();
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), STOP_MS);
    timer.unref();
    this.#child.once("exit", () => clearTimeout(timer));
  }
}
