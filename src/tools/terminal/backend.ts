// Where commands run: this machine, another one over ssh, or a container. One interface for all.
import type { Availability } from "../../core/tool.ts";
import type { OutputCapture } from "./output-capture.ts";

export interface ExecRequest {
  readonly command: string;
  /** Overrides the tracked working directory for this command. */
  readonly cwd?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly stdin?: string | undefined;
  /** Receives everything the command prints; bounded in memory, complete on disk. */
  readonly output: OutputCapture;
  onOutput?(text: string): void;
  /** Neither begins with the state of the last command nor leaves one: for the file tools' own commands. */
  readonly stateless?: boolean | undefined;
  /** Asked when a sandbox stops a path; without it the path stays closed. */
  permit?(options: PathRequest): Promise<"once" | "session" | "deny">;
}

/** The one permission that a command lacked. */
export interface PathRequest {
  readonly access: "read" | "write";
  readonly path: string;
}

/** What a sandbox around this machine's files leaves open. */
export interface SandboxLimits {
  canRead(path: string): boolean;
  canWrite(path: string): boolean;
  /** Opens a path for the rest of the conversation. */
  allow(options: PathRequest): void;
}

export interface ExecResult {
  /** 124 after a time-out, 130 after an interrupt, 126 when the working directory is gone. */
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly interrupted: boolean;
  /** The working directory afterwards. */
  readonly cwd: string;
  /** What the model should know about the place where it ran: a path that a sandbox kept closed. */
  readonly note?: string | undefined;
}

export interface SpawnRequest {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly pty: boolean;
  onOutput(text: string): void;
  onExit(exitCode: number): void;
}

/** A process that outlives the call that started it, but never the program. */
export interface RunningProcess {
  readonly pid: number | null;
  write(data: string): boolean;
  closeStdin(): void;
  /** Ends the whole process group: politely, then by force. Resolves when it is gone. */
  kill(): Promise<void>;
}

export interface Backend {
  readonly name: string;
  /** True when its files are not this machine's: file tools then work through `run`. */
  readonly remote?: boolean | undefined;
  /** HOME where the commands run; this machine's own when absent. */
  readonly home?: string | undefined;
  /** A command or a background process of it is running. */
  readonly busy?: boolean | undefined;
  /** Set where commands are shut in: the file tools keep to the same limits. */
  readonly limits?: SandboxLimits | undefined;
  available(): Promise<Availability>;
  /** The directory in which the next command starts. */
  readonly cwd: string;
  run(request: ExecRequest): Promise<ExecResult>;
  spawn(request: SpawnRequest): Promise<RunningProcess>;
  /** Ends what still runs and gives back what the backend holds. Idempotent. */
  close(): Promise<void>;
}
