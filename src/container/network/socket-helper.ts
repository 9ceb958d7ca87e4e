// A small program inside the container's network: it opens sockets there and hands them to this process.
import { type ChildProcess, spawn } from "node:child_process";
import type { Socket as DatagramSocket } from "node:dgram";
import type { Server, Socket } from "node:net";

/** Runs as `node -e`, so that no file of the program must be visible there. */
const PROGRAM = `
const net = require("node:net"), dgram = require("node:dgram");
const fail = (id) => (error) => process.send({ id, error: error.message });
process.on("disconnect", () => process.exit(0));
process.on("message", ({ id, kind, port, host }) => {
  if (kind === "listen") {
    const server = net.createServer({ pauseOnConnect: true });
    server.once("error", fail(id));
    server.listen({ port, host, exclusive: true }, () => process.send({ id, port: server.address().port }, server, () => server.close()));
  } else if (kind === "datagrams") {
    const socket = dgram.createSocket("udp4");
    socket.once("error", fail(id));
    socket.bind({ port, address: host, exclusive: true }, () => process.send({ id }, socket, () => socket.close()));
  } else {
    const socket = net.connect({ port, host, allowHalfOpen: true });
    socket.once("error", fail(id));
    socket.once("connect", () => { socket.pause(); process.send({ id }, socket); });
  }
});
process.send({ id: 0 });
`;

interface Answer {
  readonly id: number;
  readonly error?: string;
}

type Kind = "listen" | "datagrams" | "connect";
type Handle = Server | Socket | DatagramSocket;

export class SocketHelper {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { done(handle: Handle): void; failed(error: Error): void }>();
  readonly #ready: Promise<void>;
  #next = 0;

  /** `enter`: the arguments that enter the network. */
  constructor(enter: readonly string[], path: string) {
    const [command = "nsenter", ...args] = [...enter, process.execPath, "-e", PROGRAM];
    this.#child = spawn(command, args, { env: { PATH: path }, stdio: ["ignore", "ignore", "ignore", "ipc"] });
    this.#ready = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("exit", () => {
        const error = new Error("the network helper has ended");
        reject(error);
        for (const { failed } of this.#waiting.values()) failed(error);
        this.#waiting.clear();
      });
      this.#child.on("message", (message, handle) => {
        const { id, error } = message as unknown as Answer;
        if (id === 0) return resolve();
        const waiting = this.#waiting.get(id);
        this.#waiting.delete(id);
        if (error !== undefined || !handle) waiting?.failed(new Error(error ?? "no socket was passed"));
        else waiting?.done(handle as Handle);
      });
    });
    this.#ready.catch(() => undefined);
    this.#child.unref();
    this.#child.channel?.unref();
  }

  ready(): Promise<void> {
    return this.#ready;
  }

  async #ask(kind: Kind, port: number, host: string): Promise<Handle> {
    await this.#ready;
    const id = ++this.#next;
    return new Promise((done, failed) => {
      this.#waiting.set(id, { done, failed });
      this.#child.send({ id, kind, port, host }, (error) => {
        if (error && this.#waiting.delete(id)) failed(error);
      });
    });
  }

  async listen(port: number, host: string): Promise<Server> {
    return (await this.#ask("listen", port, host)) as Server;
  }

  async datagrams(port: number, host: string): Promise<DatagramSocket> {
    return (await this.#ask("datagrams", port, host)) as DatagramSocket;
  }

  async connect(port: number, host: string): Promise<Socket> {
    return (await this.#ask("connect", port, host)) as Socket;
  }

  close(): void {
    this.#child.kill("SIGKILL");
  }
}
