// The mailbox over runtime.db: calls that arrive together become one transaction, so that many chats share one sync.
import type { Mailbox, MailboxCounts } from "../../core/store/mailbox.ts";
import { isLocked } from "../../lib/sqlite-error.ts";
import { type Database, immediate } from "../sqlite/connection/driver.ts";
import * as inbox from "./inbox.ts";
import * as outbox from "./outbox.ts";

const DAY_MS = 86_400_000;
const TRIES = 200;
/** The log is checkpointed when no write has occurred for a while, at the latest after this many transactions. */
const QUIET = { ms: 100, leastCommits: 50, mostCommits: 2_000, pages: 8_000 };

interface Job {
  run(db: Database): unknown;
  readonly relaxed: boolean;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Runs jobs in order, all that wait in one transaction. */
export class GroupCommit {
  readonly #db: Database;
  #jobs: Job[] = [];
  #working: Promise<void> | undefined;
  #synchronous: "FULL" | "NORMAL" = "FULL";
  #commits = 0;
  #quiet: NodeJS.Timeout | undefined;

  constructor(db: Database) {
    this.#db = db;
    // SQLite's automatic checkpoints run inside a commit, which a caller waits for: only as a last resort.
    db.pragma(`wal_autocheckpoint = ${QUIET.pages}`);
  }

  /** Resolves when it is on disk. */
  add<T>(run: (db: Database) => T): Promise<T> {
    return this.#add(run, false);
  }

  /**
   * Resolves when the write survives the end of the process. A power failure may undo it, unless a durable write came
   * after it. For values that can be reconstructed.
   */
  note<T>(run: (db: Database) => T): Promise<T> {
    return this.#add(run, true);
  }

  #add<T>(run: (db: Database) => T, relaxed: boolean): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ run, relaxed, resolve: resolve as (value: unknown) => void, reject });
      this.#working ??= this.#work();
    });
  }

  /** With NORMAL a commit is only handed to the operating system; with FULL it is on disk, together with all earlier ones. */
  #level(batch: readonly Job[]): void {
    const level = batch.every((job) => job.relaxed) ? "NORMAL" : "FULL";
    if (level === this.#synchronous) return;
    this.#db.pragma(`synchronous = ${level}`);
    this.#synchronous = level;
  }

  async #work(): Promise<void> {
    try {
      await new Promise((resolve) => setImmediate(resolve));
      while (this.#jobs.length > 0) {
        const batch = this.#jobs.splice(0);
        await this.#commit(batch);
      }
    } finally {
      this.#working = undefined;
    }
  }

  async #commit(batch: readonly Job[]): Promise<void> {
    for (let tried = 1; ; tried++) {
      try {
        this.#level(batch);
        const values = immediate(this.#db, () => batch.map((job) => job.run(this.#db)));
        for (const [index, job] of batch.entries()) job.resolve(values[index]);
        this.#checkpointWhenIdle();
        return;
      } catch (error) {
        if (isLocked(error) && tried < TRIES) {
          await new Promise((resolve) => setTimeout(resolve, 5 + Math.random() * 20));
          continue;
        }
        // One failing call must not fail the others of the batch: each is repeated alone.
        if (batch.length === 1) batch[0]?.reject(error);
        else for (const job of batch) await this.#commit([job]);
        return;
      }
    }
  }

  #checkpointWhenIdle(): void {
    this.#commits += 1;
    if (this.#commits < QUIET.leastCommits) return;
    if (this.#commits >= QUIET.mostCommits) this.#checkpoint();
    else if (this.#quiet) this.#quiet.refresh();
    else {
      this.#quiet = setTimeout(() => this.#checkpoint(), QUIET.ms);
      this.#quiet.unref();
    }
  }

  #checkpoint(): void {
    clearTimeout(this.#quiet);
    this.#quiet = undefined;
    this.#commits = 0;
    try {
      if (this.#db.open) this.#db.pragma("wal_checkpoint(PASSIVE)");
    } catch {
      // Nothing depends on it: the data is safe in the log, and another checkpoint follows.
      return;
    }
  }

  async idle(): Promise<void> {
    while (this.#working) await this.#working;
    clearTimeout(this.#quiet);
  }
}

export function createMailbox(
  db: Database,
  clock: () => number = Date.now,
  group: GroupCommit = new GroupCommit(db),
): Mailbox {
  return {
    accept: (platform, events) => group.add((on) => [...inbox.acceptEvents(on, platform, events, clock())]),
    pending: () => group.add((on) => ({ inbox: inbox.pendingEvents(on), outbox: outbox.pendingRows(on, clock()) })),
    begin: (ids, place) => group.note((on) => inbox.beginEvents(on, ids, place)),
    finish: (ids, outcome, outgoing = [], sending) =>
      group.add((on) => {
        const changed = inbox.finishEvents(on, ids, outcome, clock());
        return changed === 0 && ids.length > 0 ? [] : outbox.enqueueRows(on, outgoing, clock(), sending);
      }),
    enqueue: (outgoing) => group.add((on) => outbox.enqueueRows(on, outgoing, clock())),
    sending: (id, mark) => group.add((on) => outbox.markSending(on, id, mark)),
    sent: (id, messageId) => group.note((on) => outbox.markSent(on, id, messageId, clock())),
    postponed: (id, reason) => group.add((on) => outbox.markPostponed(on, id, reason)),
    failed: (id, reason) => group.add((on) => outbox.markFailed(on, id, reason, clock())),
    findOutgoing: (key) => group.add((on) => outbox.rowByKey(on, key)),
    knownMessages: (platform, since) =>
      group.add((on) => [...inbox.receivedIds(on, platform, since), ...outbox.sentIds(on, platform, since)]),
    newestMessages: (platform) => group.add((on) => outbox.newestIds(on, platform)),
    failures: (limit) => group.add((on) => outbox.failedRows(on, limit)),
    getMemory: (platform, key) =>
      group.add(
        (on) =>
          on
            .prepare<{ value: string }>("SELECT value FROM gateway_memory WHERE platform = ? AND key = ?")
            .get(platform, key)?.value ?? null,
      ),
    setMemory: (platform, key, value, until) =>
      group.note((on) => {
        on.prepare("INSERT OR REPLACE INTO gateway_memory(platform, key, value, until) VALUES (?, ?, ?, ?)").run(
          platform,
          key,
          value,
          until ?? null,
        );
      }),
    counts: () =>
      group.add((on): MailboxCounts => {
        const events = inbox.countEvents(on);
        const rows = outbox.countRows(on, clock() - DAY_MS);
        return { inbox: events.open, oldestInbox: events.oldest, outbox: rows.open, failed: rows.failed };
      }),
    prune: (before) =>
      group.add((on) => {
        on.prepare("DELETE FROM gateway_memory WHERE until < ?").run(clock());
        return inbox.pruneEvents(on, before) + outbox.pruneRows(on, before);
      }),
    close: async () => {
      await group.idle();
      if (db.open) db.close();
    },
  };
}
