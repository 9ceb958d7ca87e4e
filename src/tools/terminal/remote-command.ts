// One command behind a door: a client process here that carries input, output and the stop signal of a command there.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { ExecRequest } from "./backend.ts";
import { FrameFilter } from "./remote-frames.ts";
import { type RemoteCommand, remoteScript } from "./remote-script.ts";

/** How long the other side may take to stop a command before we give up the line to it. */
const STOP_MS = 3_000;
const INPUT_PIECE = 48 * 1024;

/** A way to a shell elsewhere. */
export interface RemoteChannel {
  readonly name: string;
  /** Where it leads, for messages. */
  readonly place: string;
  available(): ReturnType<import("./backend.ts").Backend["available"]>;
  /** Connects, or starts a container. Fails with a message for the person. */
  open(): Promise<void>;
  /** The program and arguments on this machine that run a bash script there, with standard input and output connected. */
  argv(script: string): readonly string[];
  readonly clientEnv: { readonly [name: string]: string };
  close(): Promise<void>;
}

export interface RemoteEnd {
  /** Undefined when the line broke before the command ended. */
  readonly exitCode: number | undefined;
  readonly cwd: string;
  /** What the client itself complained about. */
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
      // A grandchild may keep the line open for ever; the mark says that the command itself has ended.
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
    for (let at = 0; at < bytes.length; at += INPUT_PIECE)
      stdin.write(`w${bytes.subarray(at, at + INPUT_PIECE).toString("base64")}\n`);
    return true;
  }

  closeInput(): void {
    this.#tell("c");
  }

  #tell(line: string): void {
    if (this.#child.stdin?.writable) this.#child.stdin.write(`${line}\n`);
  }

  /** Stops the whole group on the other side; resolves when it is gone, or when the line is given up. */
  async stop(): Promise<void> {
    this.#tell("k");
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
