// Lets the file tools run their own commands on a backend, apart from the person's shell there.
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "../terminal/backend.ts";
import { OutputCapture } from "../terminal/output-capture.ts";
import type { RemoteShell } from "./remote-files.ts";

/** More than the largest file that is read in one piece, in base64. */
const MAX_CHARS = 40 * 1024 * 1024;

export function backendShell(backend: Backend): RemoteShell {
  return async (command, options) => {
    const output = new OutputCapture({ limit: MAX_CHARS, spillPath: join(tmpdir(), "hermes-unused") });
    const { exitCode } = await backend.run({
      command,
      cwd: "/",
      stateless: true,
      timeoutMs: options.timeoutMs,
      signal: options.signal ?? new AbortController().signal,
      output,
      ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
    });
    return { exitCode, output: (await output.finish()).text };
  };
}
