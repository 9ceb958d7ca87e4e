// The standard streams of a program, with what a terminal adds to them.
import type { Readable, Writable } from "node:stream";

export interface TerminalStreams {
  readonly stdin: Readable & { isTTY?: boolean | undefined; setRawMode?(on: boolean): unknown };
  readonly stdout: Writable & { isTTY?: boolean | undefined; columns?: number; rows?: number | undefined };
  readonly stderr: Writable & { isTTY?: boolean | undefined; columns?: number; rows?: number | undefined };
}
