// Runs commands over ssh or in a container: each in a new bash and process group, with the state of the last one.
import { randomBytes } from "node:crypto";
import { UserError } from "../../core/failure.ts";
import type { Availability } from "../../core/tool/tool.ts";
import { shellQuote } from "../../lib/text/shell-quote.ts";
import type { Backend, ExecRequest, ExecResult, RunningProcess, SpawnRequest } from "./backend.ts";
import { type RemoteChannel, type RemoteEnd, RunningCommand } from "./remote-command.ts";
import { RemoteFileSync, type RemoteFiles } from "./remote-file-sync.ts";
import { EXPORTS } from "./remote-script.ts";

const START_MS = 30_000;

export interface RemoteOptions {
  readonly channel: RemoteChannel;
  /** The initial folder; empty for the remote home. */
  readonly cwd: string;
  /** Variables for the commands. Sent on standard input, never in arguments, which other users could see. */
  readonly variables: { readonly [name: string]: string };
  /** Variables and files of loaded skills; read before every command. */
  skillFiles?(): RemoteFiles;
}

export class RemoteBackend implements Backend {
  readonly remote = true;
  readonly #options: RemoteOptions;
  readonly #folder = `/tmp/hermes-${randomBytes(12).toString("hex")}`;
  readonly #running = new Set<RunningCommand>();
  readonly #sync: RemoteFileSync;
  #starting: Promise<void> | undefined;
  #cwd: string;
  #home = "/";

  constructor(options: RemoteOptions) {
    this.#options = options;
    this.#cwd = options.cwd;
    this.#sync = new RemoteFileSync(() => options.skillFiles?.() ?? { variables: {}, files: [] });
  }

  get name(): string {
    return this.#options.channel.name;
  }

  get cwd(): string {
    return this.#cwd;
  }

  get busy(): boolean {
    return this.#running.size > 0;
  }

  get home(): string {
    return this.#home;
  }

  available(): Promise<Availability> {
    return this.#options.channel.available();
  }

  /** Connects and reads the remote folder and home. After a failure the next call tries again. */
  start(): Promise<void> {
    this.#starting ??= this.#start().catch((error) => {
      this.#starting = undefined;
      throw error;
    });
    return this.#starting;
  }

  async #start(): Promise<void> {
    const { channel, variables, cwd } = this.#options;
    const usable = await channel.available();
    if (!usable.ok) throw new UserError(`the ${channel.name} terminal cannot be used: ${usable.reason}`);
    await channel.open();
    const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${shellQuote(value)}\n`);
    const command = [
      '. /dev/stdin; bash -l -c \'printf "%s\\n" "$HOME" > "$0/home"; ',
      `${EXPORTS}' "$__h_d" > "$__h_d/state" 2>/dev/null </dev/null`,
      `\ncd -- ${shellQuote(cwd || ".")} 2>/dev/null || cd\npwd -P; cat "$__h_d/home"`,
    ].join("");
    let output = "";
    const running = this.#launch({ command, cwd: "", input: true, state: "none" }, (chunk) => {
      output += chunk.toString();
      return undefined;
    });
    running.write(exports.join(""));
    running.closeInput();
    const timer = setTimeout(() => void running.stop(), START_MS);
    const end = await running.ended;
    clearTimeout(timer);
    const [start, home] = output.trimEnd().split("\n").slice(-2);
    if (end.exitCode === undefined || !start?.startsWith("/"))
      throw new UserError(
        `${channel.label} did not respond: ${(end.clientError || output).trim() || "no shell was found"}`,
        {
          hint: "Check that bash is installed on it and that the settings under terminal are right",
        },
      );
    this.#cwd = start;
    this.#home = home?.startsWith("/") ? home : start;
  }

  #launch(
    options: Omit<ConstructorParameters<typeof RunningCommand>[1], "folder">,
    onOutput: ConstructorParameters<typeof RunningCommand>[2],
  ): RunningCommand {
    const running = new RunningCommand(this.#options.channel, { ...options, folder: this.#folder }, onOutput);
    this.#running.add(running);
    void running.ended.then(() => this.#running.delete(running));
    return running;
  }

  /** Copies variables and files of skills. Returns a line for the output when something failed; the command runs anyway. */
  async #copySkillFiles(): Promise<string> {
    const missing = await this.#sync.copy(async (command, input) => {
      const running = this.#launch({ command, cwd: "", input: true, state: "none" }, () => undefined);
      running.write(input);
      running.closeInput();
      const timer = setTimeout(() => void running.stop(), START_MS);
      const end = await running.ended;
      clearTimeout(timer);
      return end.exitCode === 0;
    });
    return missing.length === 0
      ? ""
      : `[not copied to ${this.#options.channel.label}, because it is too large or a file of that name exists there: ${missing.join(", ")}]\n`;
  }

  async run(request: ExecRequest): Promise<ExecResult> {
    await this.start();
    const note = request.stateless ? "" : await this.#copySkillFiles();
    if (note !== "") request.output.push(Buffer.from(note));
    const running = this.#launch(
      {
        command: request.command,
        cwd: request.cwd ?? this.#cwd,
        input: request.stdin !== undefined,
        state: request.stateless ? "none" : "keep",
      },
      (chunk) => {
        if (chunk.length > 0) request.onOutput?.(chunk.toString());
        return request.output.push(chunk);
      },
    );
    let reason: "timeout" | "interrupt" | undefined;
    const stop = (why: "timeout" | "interrupt") => {
      reason ??= why;
      void running.stop();
    };
    const timer = setTimeout(() => stop("timeout"), request.timeoutMs);
    const onAbort = () => stop("interrupt");
    if (request.signal.aborted) onAbort();
    request.signal.addEventListener("abort", onAbort, { once: true });
    if (request.stdin !== undefined) {
      running.write(request.stdin);
      running.closeInput();
    }
    const end = await running.ended;
    clearTimeout(timer);
    request.signal.removeEventListener("abort", onAbort);
    if (end.cwd.startsWith("/") && !reason && end.cwd !== request.cwd) this.#cwd = end.cwd;
    if (end.exitCode === undefined && !reason) request.output.push(Buffer.from(this.#connectionLost(end)));
    return {
      exitCode: reason === "timeout" ? 124 : reason === "interrupt" ? 130 : (end.exitCode ?? 255),
      timedOut: reason === "timeout",
      interrupted: reason === "interrupt",
      cwd: this.#cwd,
    };
  }

  #connectionLost(end: RemoteEnd): string {
    return `\n[the connection to ${this.#options.channel.label} was lost: ${end.clientError || "no reason given"}]\n`;
  }

  async spawn(request: SpawnRequest): Promise<RunningProcess> {
    await this.start();
    const note = await this.#copySkillFiles();
    if (note !== "") request.onOutput(note);
    const running = this.#launch(
      {
        command: request.command,
        cwd: request.cwd ?? this.#cwd,
        input: true,
        state: "use",
        pty: request.pty,
      },
      (chunk) => {
        if (chunk.length > 0) request.onOutput(chunk.toString());
        return undefined;
      },
    );
    void running.ended.then((end) => {
      if (end.exitCode === undefined) request.onOutput(this.#connectionLost(end));
      request.onExit(end.exitCode ?? 255);
    });
    return {
      pid: await running.started,
      write: (data) => running.write(data),
      closeStdin: () => running.closeInput(),
      kill: () => running.stop(),
    };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running].map((running) => running.stop()));
    if (this.#starting) {
      const running = this.#launch(
        {
          command: [`rm -rf ${this.#folder}`, this.#sync.removeCommand()].join("; ").replace(/; $/, ""),
          cwd: "",
          input: false,
          state: "none",
        },
        () => undefined,
      );
      await Promise.race([running.ended, new Promise((resolve) => setTimeout(resolve, 3_000).unref())]);
    }
    this.#starting = undefined;
    await this.#options.channel.close();
  }
}
