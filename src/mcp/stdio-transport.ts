// The stdio transport: the server runs in its own process group, which ends with this program, also after a crash.
import type { ChildProcess } from "node:child_process";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { endGroup, spawnGroup } from "../lib/process/spawn-group.ts";

/** A longer line is not a message but a fault of the server. */
const MAX_LINE = 32_000_000;

export interface StdioCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** A command to run it with, for containers. */
  readonly wrapper?: readonly string[] | undefined;
  onErrorOutput(text: string): void;
}

export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #command: StdioCommand;
  #child: ChildProcess | undefined;
  /** Parts of an unfinished line. */
  #pending: string[] = [];
  #pendingLength = 0;
  #closed = false;

  constructor(command: StdioCommand) {
    this.#command = command;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): Promise<void> {
    const { command, args, cwd, wrapper, onErrorOutput } = this.#command;
    // Without SHLVL bash takes the pipe for a remote login and reads the user's start-up files.
    const env = { SHLVL: "1", ...this.#command.env };
    const options = { cwd, env, stdin: "pipe", args: [command, ...args], separateErrors: true, wrapper } as const;
    const child = spawnGroup('exec "$@"', options);
    this.#child = child;
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => this.#read(chunk));
    child.stderr?.setEncoding("utf8").on("data", onErrorOutput);
    child.stdin?.on("error", (error) => this.onerror?.(error));
    return new Promise((resolve, reject) => {
      child.once("error", (error) => {
        reject(error);
        this.#ended();
      });
      child.once("spawn", () => resolve());
      child.once("exit", () => this.#ended());
    });
  }

  #ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    const { pid } = this.#child ?? {};
    // Processes that the server left in its group end with it.
    if (this.#child && pid !== undefined) void endGroup(this.#child);
    this.onclose?.();
  }

  #read(chunk: string): void {
    let start = 0;
    for (let end = chunk.indexOf("\n"); end >= 0; end = chunk.indexOf("\n", start)) {
      this.#pending.push(chunk.slice(start, end));
      this.#message(this.#pending.join(""));
      this.#pending = [];
      this.#pendingLength = 0;
      start = end + 1;
    }
    if (start === chunk.length) return;
    this.#pending.push(chunk.slice(start));
    this.#pendingLength += chunk.length - start;
    if (this.#pendingLength <= MAX_LINE) return;
    this.onerror?.(new Error(`the server sent a line of more than ${MAX_LINE} characters`));
    void this.close();
  }

  #message(line: string): void {
    const text = line.trim();
    if (text === "") return;
    let message: JSONRPCMessage;
    try {
      message = JSON.parse(text) as JSONRPCMessage;
    } catch {
      // Servers print banners and debug lines to standard output although they must not.
      this.#command.onErrorOutput(`${text}\n`);
      return;
    }
    this.onmessage?.(message);
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const { stdin } = this.#child ?? {};
      if (this.#closed || !stdin?.writable) {
        reject(new Error("the server has ended"));
        return;
      }
      stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Closes the server's input, and ends its group when it does not end by itself. */
  async close(): Promise<void> {
    const child = this.#child;
    if (this.#closed || !child) return;
    child.stdin?.end();
    this.#closed = true;
    await endGroup(child);
    this.onclose?.();
  }
}
