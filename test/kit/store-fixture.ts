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

/** In memory where the machine has such a folder: hundreds of small files are faster there. */
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
  /** Runs SQL on a second connection. */
  sql(text: string, ...params: SqlValue[]): void;
  rows<Row>(text: string, ...params: SqlValue[]): Row[];
  /** Closes and opens again. */
  reopen(): Promise<FullStore>;
}

export type Suite = (fixture: () => StoreFixture) => void;

/** Registers the hooks of one `describe`; the returned function returns the fixture of the running test. */
export function useStore(host: StoreHost): () => StoreFixture {
  let fixture: (StoreFixture & { store: FullStore }) | undefined;
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
    fixture = {
      store,
      dir,
      path,
      notices,
      sql: (text, ...params) => void db.prepare(text).run(...params),
      rows: (text, ...params) => db.prepare(text).all(...params) as never,
      async reopen() {
        if (!fixture) throw new Error("no store");
        await fixture.store.close();
        fixture = { ...fixture, store: await open() };
        return fixture.store;
      },
    };
  });
  afterEach(async () => {
    side?.close();
    await fixture?.store.close();
    if (fixture) rmSync(fixture.dir, { recursive: true, force: true });
    fixture = undefined;
  });
  return () => {
    if (!fixture) throw new Error("only inside a test");
    return fixture;
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
