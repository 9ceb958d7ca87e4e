// Files of another machine or a container: each operation is one remote command.
import { shellQuote } from "../../lib/text/shell-quote.ts";
import type { FileAccess, FileInfo } from "./file-access.ts";
import { type Lines, PageCollector, resultPath, type Searcher, type SearchQuery } from "./line-search.ts";

const MAX_READ_BYTES = 20 * 1024 * 1024;
const CHUNK_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
const MISSING = 44;
const TOO_LARGE = 45;

/** Runs a bash command remotely without affecting the state of the shell; returns its whole output. */
export type RemoteShell = (
  command: string,
  options: {
    readonly stdin?: string | undefined;
    readonly timeoutMs: number;
    readonly signal?: AbortSignal | undefined;
  },
) => Promise<{ readonly exitCode: number; readonly output: string }>;

class RemoteFiles implements FileAccess {
  readonly #shell: RemoteShell;

  constructor(shell: RemoteShell) {
    this.#shell = shell;
  }

  /** Runs a command in which `$p` is the path. Null when the path does not exist. */
  async #run(path: string, command: string, stdin?: string): Promise<string | null> {
    const { exitCode, output } = await this.#shell(`p=${shellQuote(path)}\n${command}`, {
      timeoutMs: TIMEOUT_MS,
      stdin,
    });
    if (exitCode === 0) return output;
    if (exitCode === MISSING) return null;
    if (exitCode === TOO_LARGE)
      throw new Error(`${path} is larger than ${MAX_READ_BYTES / 1024 / 1024} MB; use the terminal to inspect it`);
    throw new Error(output.trim().split("\n").at(-1) || `the command for ${path} ended with ${exitCode}`);
  }

  async #runExisting(path: string, command: string, stdin?: string): Promise<string> {
    const output = await this.#run(path, command, stdin);
    if (output === null) throw new Error(`no such file: ${path}`);
    return output;
  }

  async info(path: string): Promise<FileInfo | null> {
    // GNU and BusyBox first, then the BSD form.
    const output = await this.#run(
      path,
      `[ -e "$p" ] || exit ${MISSING}; stat -L -c 'hex %f %s %.9Y' -- "$p" 2>/dev/null || stat -L -f 'oct %p %z %m' -- "$p"`,
    );
    if (output === null) return null;
    const [base, rawMode = "0", size = "0", seconds = "0"] = output.trim().split(" ");
    const mode = Number.parseInt(rawMode, base === "hex" ? 16 : 8);
    const type = mode & 0o170000;
    const kind = type === 0o100000 ? "file" : type === 0o040000 ? "directory" : "other";
    return { kind, size: Number(size), mtimeMs: Math.round(Number(seconds) * 1000), mode: mode & 0o777 };
  }

  async read(path: string): Promise<Uint8Array> {
    const output = await this.#runExisting(
      path,
      `[ -e "$p" ] || exit ${MISSING}; [ "$(wc -c < "$p")" -le ${MAX_READ_BYTES} ] || exit ${TOO_LARGE}; base64 < "$p"`,
    );
    return Buffer.from(output, "base64");
  }

  async head(path: string, bytes: number): Promise<Uint8Array> {
    return Buffer.from(
      await this.#runExisting(path, `[ -e "$p" ] || exit ${MISSING}; head -c ${bytes} "$p" | base64`),
      "base64",
    );
  }

  async *stream(path: string): AsyncIterable<Uint8Array> {
    for (let at = 1; ; at += CHUNK_BYTES) {
      const chunk = Buffer.from(
        await this.#runExisting(
          path,
          `[ -e "$p" ] || exit ${MISSING}; tail -c +${at} "$p" | head -c ${CHUNK_BYTES} | base64`,
        ),
        "base64",
      );
      if (chunk.length > 0) yield chunk;
      if (chunk.length < CHUNK_BYTES) return;
    }
  }

  async write(path: string, data: Uint8Array): Promise<{ createdFolders: boolean }> {
    const command = [
      '[ -L "$p" ] && p=$(readlink -f "$p"); d=$(dirname "$p"); m=644',
      'if [ ! -d "$d" ]; then mkdir -p "$d" || exit 1; echo made; fi',
      '[ -e "$p" ] && m=$(stat -c %a "$p" 2>/dev/null || stat -f %Lp "$p")',
      't=$(mktemp "$d/.hermes.XXXXXX") || exit 1',
      'if base64 -d > "$t" && chmod "$m" "$t" && mv -f "$t" "$p"; then exit 0; fi',
      'rm -f "$t"; exit 1',
    ].join("\n");
    const output = await this.#runExisting(path, command, Buffer.from(data).toString("base64"));
    return { createdFolders: output.trim() === "made" };
  }

  async move(from: string, to: string): Promise<void> {
    await this.#runExisting(from, `t=${shellQuote(to)}; mkdir -p "$(dirname "$t")" && mv -f "$p" "$t"`);
  }

  async remove(path: string): Promise<void> {
    await this.#runExisting(path, 'if [ -d "$p" ] && [ ! -L "$p" ]; then rm -r "$p"; else rm "$p"; fi');
  }

  async names(folder: string): Promise<string[]> {
    const output = await this.#run(folder, `[ -d "$p" ] || exit ${MISSING}; ls -1Ap "$p"`);
    return (output ?? "").split("\n").filter(Boolean);
  }
}

export function remoteFiles(shell: RemoteShell): FileAccess {
  return new RemoteFiles(shell);
}

function searchCommand(query: SearchQuery): string {
  if (query.kind === "names") {
    const glob = shellQuote(query.glob.includes("/") ? query.glob : `*/${query.glob}`);
    const test = `find . -name .git -prune -o -type f -ipath ${glob}`;
    return `${test} -printf '%T@ %P\\n' 2>/dev/null | sort -rn | cut -d' ' -f2- | grep . || ${test} -print | sed 's|^\\./||'`;
  }
  const mode = { content: "-n", files_only: "-l", count: "-c" }[query.mode];
  const flags = [
    "-rHI --exclude-dir=.git",
    query.mode === "files_only" ? "" : "-Z",
    mode,
    query.mode === "content" && query.context > 0 ? `-C ${query.context}` : "",
    query.fileGlob ? `--include=${shellQuote(query.fileGlob)}` : "",
  ];
  // Perl syntax is closest to what models write; extended syntax is used where grep does not support it.
  return `k=-P; printf x | grep -qP x 2>/dev/null || k=-E\ngrep $k ${flags.filter(Boolean).join(" ")} -e ${shellQuote(query.pattern)} -- ${shellQuote(query.where)}`;
}

/** Searches with grep and find, which return lines in the same format as ripgrep. */
export function remoteSearch(shell: RemoteShell): Searcher {
  return async (query, folder, page): Promise<Lines> => {
    const { exitCode, output } = await shell(`cd -- ${shellQuote(folder)} || exit 2\n${searchCommand(query)}`, {
      timeoutMs: TIMEOUT_MS,
      signal: page.signal,
    });
    const found = new PageCollector(page);
    // grep prints `--` between groups of context, and counts of 0 for files without a match.
    const lines = output.split("\n").filter((line) => line !== "" && line !== "--" && !line.endsWith("\0" + "0"));
    if (exitCode > 1) return { lines: [], total: 0, more: false, error: output.trim() || `exit code ${exitCode}` };
    for (const line of lines) {
      if (page.accepts && !(await page.accepts(resultPath(line)))) continue;
      if (!found.push(line)) break;
    }
    return { lines: found.lines, total: found.total, more: found.full, error: "" };
  };
}
