// sessions.json: the current session of each chat. Kept in memory, written atomically; new ids are written before use.
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Source } from "../../core/chat/platform.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { newSessionId } from "../../lib/ids.ts";

/** An entry as on disk; unknown fields are preserved. */
export interface SessionEntry {
  session_key: string;
  session_id: string;
  created_at: string;
  updated_at: string;
  origin: { [name: string]: string | boolean | null };
  display_name: string | null;
  platform: string;
  chat_type: string;
  was_auto_reset: boolean;
  auto_reset_reason: string | null;
  reset_had_activity: boolean;
  is_fresh_reset: boolean;
  expiry_finalized: boolean;
  suspended: boolean;
  resume_pending: boolean;
  resume_reason: string | null;
  last_prompt_tokens: number;
  [other: string]: unknown;
}

const WRITE_DELAY_MS = 5_000;

/** Counters of v0.14's file; this program keeps them in the store. */
const ZERO_COUNTERS = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  total_tokens: 0,
  estimated_cost_usd: 0,
  cost_status: "unknown",
};
/** The pause after a write is a multiple of its duration: with many chats the file is large. */
const WRITE_PAUSE = { times: 20, mostMs: 500 };

/** Local time without a zone, as in the files of v0.14. */
function stamp(ms: number): string {
  const date = new Date(ms);
  return new Date(ms - date.getTimezoneOffset() * 60_000).toISOString().slice(0, -1);
}

function toOrigin(source: Source): SessionEntry["origin"] {
  return {
    platform: source.platform,
    chat_id: source.chatId,
    chat_name: source.chatName ?? null,
    chat_type: source.chatKind,
    user_id: source.userId,
    user_name: source.userName ?? null,
    thread_id: source.threadId ?? null,
    chat_topic: source.chatTopic ?? null,
  };
}

function isEntry(value: unknown): value is SessionEntry {
  return typeof value === "object" && value !== null && "session_id" in value && typeof value.session_id === "string";
}

type EntryChange = Partial<SessionEntry> & { readonly sessionId?: string | undefined };

export class SessionIndex {
  readonly #path: string;
  readonly #now: () => number;
  readonly #entries: Map<string, SessionEntry>;
  /** Entries as written to the file; changed ones are serialized again. */
  readonly #serialized = new Map<string, Buffer>();
  #writing: Promise<void> | undefined;
  /** The next write, not started yet; it includes all changes up to its start. */
  #next: Promise<void> | undefined;
  readonly #saving = new Map<string, Promise<void>>();
  #nextWriteAt = 0;
  #closing = false;
  #timer: NodeJS.Timeout | undefined;

  private constructor(path: string, entries: Map<string, SessionEntry>, now: () => number) {
    this.#path = path;
    this.#entries = entries;
    this.#now = now;
  }

  /** An unreadable file is not changed and reported; the index then starts empty. */
  static async open(path: string, now: () => number, report: (text: string) => void): Promise<SessionIndex> {
    const entries = new Map<string, SessionEntry>();
    try {
      const parsed = JSON.parse(await readFile(path, "utf8")) as { readonly [key: string]: unknown };
      for (const [key, value] of Object.entries(parsed)) if (isEntry(value)) entries.set(key, value);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") {
        report(`${path} could not be read; chats start new sessions`);
        const backupPath = `${path}.unreadable-${now()}`;
        await readFile(path)
          .then((bytes) => atomicWrite(backupPath, bytes))
          .catch(() => undefined);
      }
    }
    return new SessionIndex(path, entries, now);
  }

  get(key: string): SessionEntry | undefined {
    return this.#entries.get(key);
  }

  entries(): IterableIterator<SessionEntry> {
    return this.#entries.values();
  }

  lastActive(entry: SessionEntry): number {
    const time = Date.parse(entry.updated_at);
    return Number.isNaN(time) ? 0 : time;
  }

  /** A new session for the chat, on disk when this resolves. */
  async renew(key: string, source: Source, change: EntryChange = {}): Promise<SessionEntry> {
    const entry = this.start(key, source, change);
    await this.saved(key);
    return entry;
  }

  /** The same without waiting for the disk; `saved` must be awaited before the message is finished. */
  start(key: string, source: Source, change: EntryChange = {}): SessionEntry {
    const { sessionId, ...fields } = change;
    const time = stamp(this.#now());
    const entry: SessionEntry = {
      ...this.#entries.get(key),
      ...ZERO_COUNTERS,
      session_key: key,
      session_id: sessionId ?? newSessionId(new Date(this.#now()), 8),
      created_at: time,
      updated_at: time,
      origin: toOrigin(source),
      display_name: source.chatName ?? source.userName ?? null,
      platform: source.platform,
      chat_type: source.chatKind,
      was_auto_reset: false,
      auto_reset_reason: null,
      reset_had_activity: false,
      is_fresh_reset: false,
      expiry_finalized: false,
      suspended: false,
      resume_pending: false,
      resume_reason: null,
      last_prompt_tokens: 0,
      ...fields,
    };
    this.#entries.set(key, entry);
    this.#serialized.delete(key);
    const saving = this.flush();
    this.#saving.set(key, saving);
    const done = () => void (this.#saving.get(key) === saving && this.#saving.delete(key));
    saving.then(done, done);
    return entry;
  }

  /** The chat's session has a new id, after a compaction. */
  async moved(key: string, sessionId: string): Promise<void> {
    const entry = this.#entries.get(key);
    if (!entry || entry.session_id === sessionId) return;
    entry.session_id = sessionId;
    this.#serialized.delete(key);
    await this.flush();
  }

  /** Records activity in the chat; written a little later together with others. */
  touch(key: string, change: Partial<SessionEntry> = {}): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    Object.assign(entry, change, { updated_at: stamp(this.#now()) });
    this.#serialized.delete(key);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      // The next write includes a time stamp that could not be written.
      this.flush().catch(() => undefined);
    }, WRITE_DELAY_MS);
    this.#timer.unref();
  }

  /** Removes chats without activity for longer than `ms`. */
  prune(olderThanMs: number): number {
    let removed = 0;
    for (const [key, entry] of this.#entries) {
      if (this.#now() - this.lastActive(entry) <= olderThanMs) continue;
      this.#entries.delete(key);
      this.#serialized.delete(key);
      removed += 1;
    }
    return removed;
  }

  /** Resolves when the current state is on disk; concurrent calls share a write. */
  flush(): Promise<void> {
    this.#next ??= (this.#writing ?? Promise.resolve()).catch(() => undefined).then(() => this.#write());
    return this.#next;
  }

  /** Resolves when the chat's newest session is on disk. */
  async saved(key: string): Promise<void> {
    await this.#saving.get(key);
  }

  /** The whole file, from serialized entries: serializing a thousand chats again would block the event loop. */
  #bytes(): Buffer {
    if (this.#entries.size === 0) return Buffer.from("{}\n");
    const parts: Buffer[] = [];
    for (const [key, entry] of this.#entries) {
      let bytes = this.#serialized.get(key);
      if (bytes === undefined) {
        const text = JSON.stringify(entry, null, 1).replaceAll("\n", "\n ");
        bytes = Buffer.from(`,\n ${JSON.stringify(key)}: ${text}`);
        this.#serialized.set(key, bytes);
      }
      parts.push(bytes);
    }
    // The first entry has no comma before it.
    parts[0] = parts[0]?.subarray(1) ?? Buffer.alloc(0);
    return Buffer.concat([Buffer.from("{"), ...parts, Buffer.from("\n}\n")]);
  }

  async #write(): Promise<void> {
    const rest = this.#nextWriteAt - performance.now();
    if (rest > 0 && !this.#closing) await sleep(rest);
    const began = performance.now();
    const writing = atomicWrite(this.#path, this.#bytes(), 0o600);
    this.#writing = writing;
    this.#next = undefined;
    try {
      await writing;
    } finally {
      if (this.#writing === writing) this.#writing = undefined;
      const took = performance.now() - began;
      this.#nextWriteAt = performance.now() + Math.min(WRITE_PAUSE.times * took, WRITE_PAUSE.mostMs);
    }
  }

  async close(): Promise<void> {
    this.#closing = true;
    clearTimeout(this.#timer);
    await this.flush();
  }
}
