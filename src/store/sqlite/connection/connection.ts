// One connection to state.db: writes in order and retried on locks, recovery from read-only and full volumes.

import { statSync } from "node:fs";
import { UserError } from "../../../core/failure.ts";
import { errorMessage } from "../../../lib/error-message.ts";
import { sqliteCode } from "../../../lib/sqlite-error.ts";
import type { StoreContext } from "../context.ts";
import { guardIndex } from "../index/health.ts";
import { risingClock } from "./clock.ts";
import { type Database, immediate, type openDatabase } from "./driver.ts";
import { LockRetry } from "./lock-retry.ts";
import { canWrite, openStateDatabase } from "./open-database.ts";
import { meansFull } from "./volume.ts";

const CHECKPOINT_EVERY = 50;
/** The log is checkpointed when no write has occurred for a while, at the latest after this many transactions. */
const QUIET = { ms: 100, mostWrites: 1_000, pages: 8_000 };

export interface ConnectionOptions {
  readonly path: string;
  /** How long SQLite may block the thread for a lock. By default not at all: the store waits without blocking. */
  readonly busyTimeoutMs?: number | undefined;
  readonly notice?: ((text: string) => void) | undefined;
  /** Only read; the file must exist. */
  readonly readOnly?: boolean | undefined;
  /** The search index failed on a write and was disabled. */
  readonly onIndexDamage?: (() => void) | undefined;
  /** Writes that wait together share a transaction. */
  readonly gather?: boolean | undefined;
  /** Another driver with the same interface. */
  readonly open?: typeof openDatabase | undefined;
}

export type VolumeState = "ok" | "read_only" | "full";

interface WaitingWrite {
  body(context: StoreContext): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export class Connection {
  readonly path: string;
  readonly #options: ConnectionOptions;
  readonly #lockRetry: LockRetry;
  readonly #now = risingClock();
  readonly #notice: (text: string) => void;
  #context: StoreContext;
  #tail: Promise<unknown> = Promise.resolve();
  #batch: WaitingWrite[] | undefined;
  /** Since the last checkpoint. */
  #writes = 0;
  #quiet: NodeJS.Timeout | undefined;
  #closed = false;
  #volume: VolumeState;
  /** Size and time of a read-only file, to notice changes by other processes. */
  #fingerprint = "";

  private constructor(options: ConnectionOptions, db: Database, lockRetry: LockRetry) {
    this.path = options.path;
    this.#lockRetry = lockRetry;
    this.#options = options;
    this.#notice = options.notice ?? (() => undefined);
    this.#context = this.#contextFor(db);
    this.#volume = "ok";
    this.#noteVolume(db);
  }

  /** Locks while opening are retried like those of writes. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const lockRetry = new LockRetry(options.path);
    return new Connection(options, await lockRetry.retry(() => openAttempt(options)), lockRetry);
  }

  get volume(): VolumeState {
    return this.#volume;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get db(): Database {
    return this.#context.db;
  }

  /** Runs at once, independent of waiting writes. */
  async read<T>(body: (context: StoreContext) => T): Promise<T> {
    return this.#lockRetry.retry(() => {
      if (this.#closed) throw closedError(this.path);
      this.#refreshReadOnly();
      return body(this.#context);
    });
  }

  /** One transaction, after those that were asked for earlier. Resolves when it is on disk. */
  write<T>(body: (context: StoreContext) => T): Promise<T> {
    if (this.#options.gather) return this.#join(body);
    return this.#enqueue(() => this.#commit(body));
  }

  #commit<T>(body: (context: StoreContext) => T): T {
    const { db } = this.#context;
    let tries = 0;
    const result = guardIndex(db, () => {
      tries++;
      return immediate(db, () => body(this.#context));
    });
    if (tries > 1) this.#options.onIndexDamage?.();
    if (this.#volume === "full") this.#volume = "ok";
    this.#writes++;
    if (this.#options.gather) this.#checkpointWhenIdle();
    else if (this.#writes % CHECKPOINT_EVERY === 0) this.#checkpoint();
    return result;
  }

  /** Runs when there was no write for a while, so that no caller waits for the checkpoint. */
  #checkpointWhenIdle(): void {
    if (this.#writes < CHECKPOINT_EVERY) return;
    if (this.#writes >= QUIET.mostWrites) this.#checkpoint();
    else if (this.#quiet) this.#quiet.refresh();
    else {
      this.#quiet = setTimeout(() => {
        if (!this.#closed) this.#checkpoint();
      }, QUIET.ms);
      this.#quiet.unref();
    }
  }

  /** Writes that wait together share a transaction, so that many conversations share one sync. */
  #join<T>(body: (context: StoreContext) => T): Promise<T> {
    if (this.#closed) return Promise.reject(closedError(this.path));
    return new Promise<T>((resolve, reject) => {
      const write: WaitingWrite = { body, resolve: resolve as (value: unknown) => void, reject };
      if (this.#batch) return void this.#batch.push(write);
      const batch = [write];
      this.#batch = batch;
      // One turn of the event loop, so that calls that have already arrived join the batch.
      this.#tail = this.#tail.then(() => new Promise((next) => setImmediate(next))).then(() => this.#runBatch(batch));
    });
  }

  async #runBatch(batch: readonly WaitingWrite[]): Promise<void> {
    if (this.#batch === batch) this.#batch = undefined;
    try {
      const results = await this.#attempt(() => this.#commit((context) => batch.map(({ body }) => body(context))));
      for (const [index, write] of batch.entries()) write.resolve(results[index]);
    } catch (error) {
      if (batch.length === 1) return batch[0]?.reject(error);
      // One failing write must not fail the others of the batch: each is repeated alone.
      for (const write of batch) await this.#attempt(() => this.#commit(write.body)).then(write.resolve, write.reject);
    }
  }

  /** In the same order as writes, but with its own transactions or none (VACUUM, index steps). */
  exclusive<T>(body: (db: Database) => T): Promise<T> {
    this.#batch = undefined;
    return this.#enqueue(() => body(this.#context.db));
  }

  /** Checks again whether a read-only volume has become writable. */
  async recheckVolume(): Promise<VolumeState> {
    if (this.#volume === "read_only" && !this.#closed) await this.#lockRetry.retry(() => this.#recover());
    return this.#volume;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#tail;
    this.#checkpoint();
    this.#context.db.close();
  }

  #enqueue<T>(body: () => T): Promise<T> {
    if (this.#closed) return Promise.reject(closedError(this.path));
    const turn = this.#tail.then(() => this.#attempt(body));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async #attempt<T>(body: () => T): Promise<T> {
    await this.#lockRetry.yieldToOthers();
    try {
      return await this.#lockRetry.retry(() => {
        if (this.#volume === "read_only" && !this.#recover()) throw this.#readOnlyError();
        return body();
      });
    } catch (error) {
      throw this.#explain(error);
    }
  }

  #explain(error: unknown): unknown {
    const code = sqliteCode(error);
    if (meansFull(this.path, error)) {
      this.#volume = "full";
      return this.#fullError(error);
    }
    if (code?.startsWith("SQLITE_READONLY")) {
      this.#volume = "read_only";
      return this.#readOnlyError(error);
    }
    return error;
  }

  #fullError(cause?: unknown): UserError {
    return new UserError(`The disk that holds ${this.path} is full; this could not be saved.`, {
      hint: "Free some space and try again. Nothing that was saved before is affected.",
      cause,
    });
  }

  #readOnlyError(cause?: unknown): UserError {
    // Opened for reading although it may be written: the side files could not be created.
    if (!this.#options.readOnly && canWrite(this.path)) return this.#fullError(cause);
    return new UserError(`${this.path} is read-only; nothing can be saved.`, {
      hint: "Make the file and its folder writable; the store recovers by itself.",
      cause,
    });
  }

  /** True when the file can be written again. */
  #recover(): boolean {
    if (this.#options.readOnly || !canWrite(this.path)) return false;
    this.#reopen();
    return this.#volume !== "read_only";
  }

  /** The old connection is closed first: within a process SQLite would hand its read-only side files to the new one. */
  #reopen(): void {
    this.#context.db.close();
    const fresh = openAttempt(this.#options);
    this.#context = this.#contextFor(fresh);
    this.#noteVolume(fresh);
  }

  #noteVolume(db: Database): void {
    const wasReadOnly = this.#volume === "read_only";
    this.#volume = db.readOnly ? "read_only" : "ok";
    if (!db.readOnly) return;
    this.#fingerprint = fingerprint(this.path);
    if (wasReadOnly || this.#options.readOnly) return;
    const why = canWrite(this.path) ? "cannot be written (the disk is full, or will not take it)" : "is read-only";
    this.#notice(`${this.path} ${why}: sessions can be read and searched, but not saved.`);
  }

  #refreshReadOnly(): void {
    if (this.#volume !== "read_only") return;
    if (!this.#context.db.open || fingerprint(this.path) !== this.#fingerprint) this.#reopen();
  }

  #contextFor(db: Database): StoreContext {
    // SQLite's automatic checkpoints run inside a commit, which a caller waits for: only as a last resort.
    if (this.#options.gather && !db.readOnly) db.pragma(`wal_autocheckpoint = ${QUIET.pages}`);
    return { db, now: this.#now, notice: this.#notice };
  }

  #checkpoint(): void {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    this.#writes = 0;
    try {
      if (!this.#context.db.readOnly) this.#context.db.pragma("wal_checkpoint(PASSIVE)");
    } catch (error) {
      // The data is safe in the log; another checkpoint follows.
      this.#notice(`${this.path}: a checkpoint was postponed (${errorMessage(error)}).`);
    }
  }
}

function openAttempt(options: ConnectionOptions): Database {
  return openStateDatabase({
    path: options.path,
    busyTimeoutMs: options.busyTimeoutMs ?? 0,
    notice: options.notice ?? (() => undefined),
    readOnly: options.readOnly ?? false,
    open: options.open,
  });
}

function closedError(path: string): Error {
  return new Error(`The session store ${path} has been closed.`);
}

function fingerprint(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeMs}` : "";
}
