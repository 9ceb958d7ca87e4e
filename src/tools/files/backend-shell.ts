// Runs commands of the file tools on a backend without affecting the state of its shell.
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Backend } from "../terminal/backend.ts";
import { OutputCapture } from "../terminal/output-capture.ts";
import type { RemoteShell } from "./remote-files.ts";

/** More than the largest file that is read at once, in base64. */
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
      stdin: options.stdin,
    });
    return { exitCode, output: (await output.finish()).text };
  };
}
