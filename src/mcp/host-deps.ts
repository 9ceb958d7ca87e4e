// What the MCP servers of a home need: the environment of their processes, the log of their errors, sign-ins.
import { appendFile, mkdir, rename, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SideModel } from "../core/model/provider.ts";
import type { McpHostDeps } from "./mcp-host.ts";

const MAX_LOG_BYTES = 1_000_000;

/** Variables that servers get without being named in their settings. */
const INHERITED =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TERM|TZ|TMPDIR|TEMP|TMP|XDG_\w+|SYSTEMROOT|APPDATA|LOCALAPPDATA|USERPROFILE|PROGRAMDATA|COMSPEC|PATHEXT)$/;

export function serverEnvironment(env: { readonly [name: string]: string | undefined }): { [name: string]: string } {
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => INHERITED.test(entry[0]) && entry[1] !== undefined,
    ),
  );
}

/** Appends what servers write to standard error; the file is rotated once it has a million bytes. */
function errorLog(path: string): (server: string, text: string) => void {
  let writing: Promise<void> = Promise.resolve();
  const write = async (line: string) => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const { size } = await stat(path).catch(() => ({ size: 0 }));
    if (size > MAX_LOG_BYTES) await rename(path, `${path}.1`);
    await appendFile(path, line, { mode: 0o600 });
  };
  return (server, text) => {
    const lines = text
      .trimEnd()
      .split("\n")
      .map((line) => `${new Date().toISOString()} [${server}] ${line}\n`);
    // A full disk must not end the conversation.
    writing = writing.then(() => write(lines.join(""))).catch(() => undefined);
  };
}

export interface HostSources {
  readonly homePath: string;
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
  redact(text: string): string;
  notice(text: string): void;
  side(): Promise<SideModel>;
}

export function mcpHostDeps(sources: HostSources): Omit<McpHostDeps, "servers"> {
  const { homePath, cwd, notice, side, redact } = sources;
  const log = errorLog(join(homePath, "logs", "mcp-stderr.log"));
  return {
    homePath,
    cwd,
    notice,
    side,
    env: serverEnvironment(sources.env),
    onErrorOutput: (server, text) => log(server, redact(text)),
    authProvider: async (options) => {
      const { TokenProvider } = await import("./oauth/token-provider.ts");
      return new TokenProvider(options, homePath);
    },
  };
}
