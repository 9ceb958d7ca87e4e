// A store in a temporary folder, with a second connection for changing and damaging its file.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach } from "vitest";
import type { FullStore } from "../../src/store/full-store.ts";
import { type Database, openDatabase, type SqlValue } from "../../src/store/sqlite/connection/driver.ts";
import { SqliteSessionStore, type SqliteStoreOptions } from "../../src/store/sqlite-session-store.ts";
import { openWorkerSessionStore } from "../../src/store/worker-host.ts";
import { bundle } from "./bundle.ts";

export interface StoreHost {
  readonly name: string;
  /** Once, before the first store. */
  prepare(): Promise<void>;
  open(options: Pick<SqliteStoreOptions, "path" | "runtimePath" | "onNotice" | "indexLayout">): Promise<FullStore>;
}

let workerFile = "";

/** In memory where there is such a place: hundreds of small files need no real disk to prove their point. */
const TEMPORARY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export const HOSTS: readonly StoreHost[] = [
  { name: "in this process", prepare: async () => undefined, open: (options) => SqliteSessionStore.open(options) },
  {
    name: "in a worker",
    prepare: async () => {
      workerFile = await bundle("src/store/worker-entry.ts");
    },
    open: (options) => openWorkerSessionStore({ ...options, workerFile }),
  },
];

export interface StoreFixture {
  readonly store: FullStore;
  readonly dir: string;
  readonly path: string;
  readonly notices: string[];
  /** Runs SQL beside the store. */
  sql(text: string, ...params: SqlValue[]): void;
  rows<Row>(text: string, ...params: SqlValue[]): Row[];
  /** Closes and opens again. */
  reopen(): Promise<FullStore>;
}

export type Suite = (bench: () => StoreFixture) => void;

/** Registers the hooks of one `describe`; the returned function gives the bench of the running test. */
export function useStore(host: StoreHost): () => StoreFixture {
  let bench: (StoreFixture & { store: FullStore }) | undefined;
  let side: Database | undefined;
  beforeAll(() => host.prepare());
  beforeEach(async () => {
    const dir = mkdtempSync(join(TEMPORARY, "hermes-store-"));
    const path = join(dir, "state.db");
    const notices: string[] = [];
    const open = () =>
      host.open({ path, runtimePath: join(dir, "runtime.db"), onNotice: (text) => void notices.push(text) });
    const store = await open();
    const db = openDatabase(path);
    side = db;
    db.pragma("foreign_keys = OFF");
    bench = {
      store,
      dir,
      path,
      notices,
      sql: (text, ...params) => void db.prepare(text).run(...params),
      rows: (text, ...params) => db.prepare(text).all(...params) as never,
      async reopen() {
        if (!bench) throw new Error("no store");
        await bench.store.close();
        bench = { ...bench, store: await open() };
        return bench.store;
      },
    };
  });
  afterEach(async () => {
    side?.close();
    await bench?.store.close();
    if (bench) rmSync(bench.dir, { recursive: true, force: true });
    bench = undefined;
  });
  return () => {
    if (!bench) throw new Error("only inside a test");
    return bench;
  };
}

export const DAY = 24 * 3600;

export function nowSeconds(): number {
  return Date.now() / 1000;
}

/** Moves a session into the past. */
export function backdate({ sql }: StoreFixture, id: string, times: { started: number; ended?: number }): void {
  sql("UPDATE sessions SET started_at = ? WHERE id = ?", times.started, id);
  if (times.ended !== undefined) sql("UPDATE sessions SET ended_at = ? WHERE id = ?", times.ended, id);
}
