// The interface of everything that runs commands: this machine, ssh, containers.
import type { ConversationContainer, Need, PermissionScope, ProgramCall } from "../../core/container.ts";
import type { Availability } from "../../core/tool/tool.ts";
import type { OutputCapture } from "./output-capture.ts";

export interface ExecRequest {
  readonly command: string;
  /** Overrides the tracked working directory for this command. */
  readonly cwd?: string | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly stdin?: string | undefined;
  /** Receives the output of the command. */
  readonly output: OutputCapture;
  onOutput?(text: string): void;
  /** Neither restores nor saves variables and working directory; used by the file tools. */
  readonly stateless?: boolean | undefined;
  /** The programs of the command, as far as the gate knows them. */
  readonly calls?: readonly ProgramCall[] | undefined;
  /** True when they are the whole command. */
  readonly exact?: boolean | undefined;
  /** The user approved that this command runs outside the container. */
  readonly outside?: boolean | undefined;
  /** Called when the container lacks a permission; without it the permission stays denied. */
  permit?(need: Need): Promise<PermissionScope | "deny">;
}

export interface ExecResult {
  /** 124 after a time-out, 130 after an interrupt, 126 when the working directory is gone. */
  readonly exitCode: number;
  readonly timedOut: boolean;
  readonly interrupted: boolean;
  /** The working directory afterwards. */
  readonly cwd: string;
  /** For the model: what the container denied. */
  readonly note?: string | undefined;
}

export interface SpawnRequest {
  readonly command: string;
  readonly calls?: readonly ProgramCall[] | undefined;
  readonly exact?: boolean | undefined;
  readonly outside?: boolean | undefined;
  readonly cwd?: string | undefined;
  readonly pty: boolean;
  onOutput(text: string): void;
  onExit(exitCode: number): void;
}

/** A background process. It ends with the program at the latest. */
export interface RunningProcess {
  readonly pid: number | null;
  write(data: string): boolean;
  closeStdin(): void;
  /** Ends the process group: TERM, then KILL. Resolves when it has ended. */
  kill(): Promise<void>;
}

export interface Backend {
  readonly name: string;
  /** True when its files are on another machine; the file tools then use `run`. */
  readonly remote?: boolean | undefined;
  /** HOME of the commands; that of this process when absent. */
  readonly home?: string | undefined;
  /** True while a command or background process runs. */
  readonly busy?: boolean | undefined;
  /** Set when commands are contained; the file tools obey the same limits. */
  readonly container?: ConversationContainer | undefined;
  available(): Promise<Availability>;
  /** The directory in which the next command starts. */
  readonly cwd: string;
  run(request: ExecRequest): Promise<ExecResult>;
  spawn(request: SpawnRequest): Promise<RunningProcess>;
  /** Ends running commands and releases connections, containers and folders. Idempotent. */
  close(): Promise<void>;
}
