// The network of a conversation: connections to hosts by name leave it, services of this machine stay out of reach,
// and ports opened inside appear on this machine's loopback address.
import { type ChildProcess, spawn } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { createServer, connect as openSocket, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import { withTimeout } from "../../lib/async/with-timeout.ts";
import type { PrivateNetwork } from "../conversation-container.ts";
import { Names, serveNames } from "./names.ts";
import { type OpenPort, readPorts } from "./port-watch.ts";
import { SocketHelper } from "./socket-helper.ts";
import { type ConnectPolicy, openNetwork } from "./targets.ts";

const START_MS = 10_000;
const WATCH_MS = 250;
const CONNECT_MS = 30_000;
/** Commands have no right to listen on these inside, so they can stand for those of every host. */
const SHARED_PORTS = [22, 25, 80, 110, 143, 389, 443, 465, 587, 636, 853, 990, 993, 995];
/** Opened for each host by name. */
const HOST_PORTS = [1433, 3306, 5432, 6443, 9418, 27017];
const MAX_FORWARDED = 64;

function pipe(a: Socket, b: Socket): void {
  const end = () => {
    a.destroy();
    b.destroy();
  };
  for (const socket of [a, b]) {
    socket.on("error", end);
    socket.on("close", end);
  }
  a.pipe(b);
  b.pipe(a);
}

class ConversationNetwork implements PrivateNetwork {
  readonly replaced: PrivateNetwork["replaced"];
  readonly env = {};
  readonly #path: string;
  readonly #policy: ConnectPolicy;
  readonly #names = new Names();
  readonly #forwarded = new Map<number, Server>();
  readonly #own = new Set<number>(SHARED_PORTS);
  readonly #allowed = new Set<string>();
  readonly #servers = new Set<Server>();
  #holder: ChildProcess | undefined;
  #helper: SocketHelper | undefined;
  #datagrams: { close(): void } | undefined;
  #starting: Promise<{ readonly enter: readonly string[]; readonly serving: Promise<void> }> | undefined;
  #watch: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(folder: string, path: string, policy: ConnectPolicy) {
    this.#path = path;
    this.#policy = policy;
    const from = join(folder, "resolv.conf");
    writeFileSync(from, "nameserver 127.0.0.1\noptions timeout:5 attempts:1\n", { mode: 0o644 });
    let resolver = "/etc/resolv.conf";
    try {
      resolver = realpathSync(resolver);
    } catch {
      // The file does not exist; it is created inside.
    }
    this.replaced = [{ path: resolver, from }];
  }

  async enter(ready: boolean): Promise<readonly string[]> {
    this.#starting ??= this.#start();
    const { enter, serving } = await this.#starting;
    if (ready) await serving;
    return enter;
  }

  async #start(): Promise<{ readonly enter: readonly string[]; readonly serving: Promise<void> }> {
    const pid = await this.#hold();
    const enter = ["nsenter", "-t", String(pid), "-U", "-n", "--preserve-credentials", "--"];
    const serving = this.#open(enter, pid);
    // Reported to the command that waits for it.
    serving.catch(() => undefined);
    return { enter, serving };
  }

  async #open(enter: readonly string[], pid: number): Promise<void> {
    const helper = new SocketHelper(enter, this.#path);
    this.#helper = helper;
    await withTimeout(this.#serve(helper), START_MS, () => {
      throw new UserError("the network of the container did not start in time", { hint: "Try the command again." });
    });
    if (!this.#closed) this.#watch = setInterval(() => void this.#forward(pid), WATCH_MS).unref();
  }

  /** A process that keeps the network alive until this program ends. */
  async #hold(): Promise<number> {
    const args = ["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--die-with-parent"];
    const script = "echo $$; exec cat";
    const holder = spawn("bwrap", [...args, "--dev-bind", "/", "/", "sh", "-c", script], {
      cwd: "/",
      env: { PATH: this.#path },
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#holder = holder;
    holder.stdin?.on("error", () => undefined);
    holder.unref();
    const pid = await new Promise<number>((resolve, reject) => {
      holder.once("error", reject);
      holder.once("exit", () => reject(new Error("the network of the container could not be made")));
      holder.stdout?.once("data", (chunk: Buffer) => resolve(Number(chunk.toString().trim())));
    });
    for (const stream of [holder.stdin, holder.stdout]) (stream as unknown as { unref?(): void })?.unref?.();
    return pid;
  }

  async #serve(helper: SocketHelper): Promise<void> {
    await helper.ready();
    const names = await helper.datagrams(53, "127.0.0.1");
    names.unref();
    this.#datagrams = names;
    serveNames(names, this.#names, (address) => this.#openHost(address));
    await Promise.all(SHARED_PORTS.map(async (port) => this.#accept(await helper.listen(port, "0.0.0.0"), port)));
    for (const host of this.#allowed) await this.#openLocal(host);
  }

  readonly #opened = new Set<string>();

  /** Opens the usual ports at the address of a host. */
  async #openHost(address: string): Promise<void> {
    if (this.#opened.has(address)) return;
    this.#opened.add(address);
    const helper = this.#helper;
    if (!helper) return;
    await Promise.all(
      HOST_PORTS.map((port) =>
        helper.listen(port, address).then(
          (server) => this.#accept(server, port),
          // A program inside already listens on this port.
          () => undefined,
        ),
      ),
    );
  }

  #accept(server: Server, port: number): void {
    if (this.#closed) {
      server.close();
      return;
    }
    server.unref();
    this.#servers.add(server);
    server.on("error", () => undefined);
    server.on("connection", (socket) => this.#connectOut(socket, port));
  }

  #connectOut(inside: Socket, port: number): void {
    inside.on("error", () => undefined);
    const known = this.#names.at(inside.localAddress ?? "");
    if (!known || !this.#policy({ name: known.name, address: known.target, port })) {
      inside.destroy();
      return;
    }
    this.#relay(inside, port, known.target);
  }

  #relay(inside: Socket, port: number, host: string): void {
    const outside = openSocket({ port, host, allowHalfOpen: true });
    outside.setTimeout(CONNECT_MS, () => outside.destroy());
    outside.once("connect", () => outside.setTimeout(0));
    pipe(inside, outside);
    inside.resume();
  }

  allow(host: string): void {
    if (this.#allowed.has(host)) return;
    this.#allowed.add(host);
    if (this.#helper) void this.#openLocal(host).catch(() => undefined);
  }

  /** Lets commands reach one service of this machine at the address they are used to. */
  async #openLocal(host: string): Promise<void> {
    const [, port] = /^(?:localhost|127\.0\.0\.1):(\d+)$/.exec(host) ?? [];
    if (port === undefined) return;
    const number = Number(port);
    this.#own.add(number);
    // The service may already be shown here as a port of the container.
    this.#forwarded.get(number)?.close();
    const server = await this.#helper?.listen(number, "127.0.0.1");
    if (!server) return;
    server.unref();
    this.#servers.add(server);
    server.on("connection", (socket) => this.#relay(socket, number, "127.0.0.1"));
  }

  async #forward(pid: number): Promise<void> {
    const open = new Map((await readPorts(pid)).map((found) => [found.port, found]));
    if (this.#closed) return;
    for (const [port, server] of this.#forwarded) {
      if (open.has(port)) continue;
      this.#forwarded.delete(port);
      server.close();
    }
    for (const [port, found] of open)
      if (!this.#forwarded.has(port) && !this.#own.has(port) && this.#forwarded.size < MAX_FORWARDED) this.#show(found);
  }

  /** Shows a port of the container on this machine, unless something else uses it here. */
  #show({ port, host }: OpenPort): void {
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (outside) => {
      outside.on("error", () => undefined);
      this.#helper?.connect(port, host).then(
        (inside) => {
          pipe(outside, inside);
          outside.resume();
          inside.resume();
        },
        () => outside.destroy(),
      );
    });
    server.on("error", () => undefined);
    server.listen(port, "127.0.0.1").unref();
    this.#forwarded.set(port, server);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const server of [...this.#forwarded.values(), ...this.#servers]) server.close();
    this.#datagrams?.close();
    this.#helper?.close();
    this.#holder?.kill("SIGKILL");
  }
}

/** Made at the first command. */
export function openPrivateNetwork(folder: string, path: string, policy: ConnectPolicy = openNetwork): PrivateNetwork {
  return new ConversationNetwork(folder, path, policy);
}
