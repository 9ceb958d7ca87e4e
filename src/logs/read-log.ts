// Reads log files: the last entries that match a filter, and new ones as they are written.
import { open, readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isAtLeast, type LogLevel, type ParsedLogLine, parseLogLine } from "../core/log.ts";

export interface LogFilter {
  readonly level?: LogLevel | undefined;
  /** The name of a component, or its first part. */
  readonly component?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number | undefined;
}

/** An entry with its text as in the file; lines that follow an entry belong to it. */
export interface LogRecord {
  readonly text: string;
  readonly parsed: ParsedLogLine | undefined;
}

const CHUNK = 256 * 1024;
const POLL_MS = 200;

/** Components of v0.14 have the names of Python modules. */
const OLD_NAMES: { readonly [component: string]: readonly string[] } = {
  agent: ["run_agent", "model_tools", "batch_runner"],
  cli: ["hermes_cli"],
};

function isComponent(found: string, wanted: string): boolean {
  const names = [wanted, ...(OLD_NAMES[wanted] ?? [])];
  return names.some((name) => found === name || found.startsWith(`${name}.`) || found.startsWith(`${name}:`));
}

function matches({ parsed }: LogRecord, filter: LogFilter): boolean {
  const filtered = filter.level ?? filter.component ?? filter.sessionId ?? filter.since;
  if (!parsed) return filtered === undefined;
  if (filter.level && !isAtLeast(parsed.level, filter.level)) return false;
  if (filter.component && !isComponent(parsed.component, filter.component)) return false;
  if (
    filter.sessionId &&
    !(parsed.sessionId?.startsWith(filter.sessionId) || parsed.message.includes(filter.sessionId))
  )
    return false;
  return filter.since === undefined || parsed.at >= filter.since;
}

/** Lines → entries. The first lines may be the rest of an entry; they stay without a head. */
export function splitEntries(text: string): LogRecord[] {
  const records: { text: string; parsed: ParsedLogLine | undefined }[] = [];
  for (const line of text.split("\n")) {
    const parsed = parseLogLine(line);
    const last = records.at(-1);
    if (parsed || !last || !/^\s/.test(line)) records.push({ text: line, parsed });
    else last.text += `\n${line}`;
  }
  return records.filter((record) => record.text.trim() !== "");
}

/** The file and its rotated predecessors, newest first. */
async function generations(path: string): Promise<string[]> {
  const names = await readdir(dirname(path)).catch(() => []);
  const own = basename(path);
  const older = names
    .filter((name) => name.startsWith(`${own}.`) && /^\d+$/.test(name.slice(own.length + 1)))
    .sort((a, b) => Number(a.slice(own.length + 1)) - Number(b.slice(own.length + 1)));
  return [path, ...older.map((name) => join(dirname(path), name))];
}

/** The entries of one file from its end; stops when `enough` says so. */
async function readBackwards(path: string, enough: (records: readonly LogRecord[]) => boolean): Promise<LogRecord[]> {
  const handle = await open(path, "r").catch(() => undefined);
  if (!handle) return [];
  try {
    let at = (await handle.stat()).size;
    let bytes = Buffer.alloc(0);
    for (;;) {
      const from = Math.max(0, at - CHUNK);
      const part = Buffer.alloc(at - from);
      await handle.read(part, 0, part.length, from);
      bytes = Buffer.concat([part, bytes]);
      at = from;
      // The first line of a part may be cut; it is complete with the part before it.
      const start = at === 0 ? 0 : bytes.indexOf(10) + 1;
      const records = splitEntries(bytes.subarray(start).toString("utf8"));
      if (at === 0 || enough(records)) return records;
    }
  } finally {
    await handle.close();
  }
}

/** The last `count` matching entries, oldest first, also from rotated files. */
export async function readLog(path: string, filter: LogFilter, count: number): Promise<LogRecord[]> {
  let found: LogRecord[] = [];
  for (const file of await generations(path)) {
    const isOld = (record: LogRecord) => filter.since !== undefined && (record.parsed?.at ?? Infinity) < filter.since;
    const missing = count - found.length;
    const records = await readBackwards(
      file,
      (read) => read.filter((record) => matches(record, filter)).length >= missing || read.some(isOld),
    );
    found = [...records.filter((record) => matches(record, filter)), ...found];
    if (found.length >= count || records.some(isOld)) break;
  }
  return found.slice(-count);
}

/** New matching entries until the signal fires; continues with the new file after a rotation. */
export async function* followLog(path: string, filter: LogFilter, signal: AbortSignal): AsyncGenerator<LogRecord> {
  const start = await stat(path).catch(() => null);
  let inode = start?.ino ?? 0;
  let at = start?.size ?? 0;
  while (!signal.aborted) {
    const info = await stat(path).catch(() => null);
    if (info && (info.ino !== inode || info.size < at)) {
      inode = info.ino;
      at = 0;
    }
    if (info && info.size > at) {
      const handle = await open(path, "r");
      const part = Buffer.alloc(Math.min(info.size - at, 4 * CHUNK));
      const { bytesRead } = await handle.read(part, 0, part.length, at).finally(() => handle.close());
      // Only whole lines are shown; a character may be cut at the end of the part.
      const lines = part.subarray(0, bytesRead).lastIndexOf(10) + 1;
      // A line that is longer than the part is shown in pieces.
      const end = lines === 0 && bytesRead === 4 * CHUNK ? bytesRead : lines;
      at += end;
      for (const record of splitEntries(part.subarray(0, end).toString("utf8")))
        if (matches(record, filter)) yield record;
      if (end > 0) continue;
    }
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      signal.addEventListener("abort", () => resolve(clearTimeout(timer)), { once: true });
    });
  }
}
