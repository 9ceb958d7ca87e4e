// Opens the session store, in this process or in a worker.
import type { FullStore } from "./full-store.ts";

export interface OpenSessionStoreOptions {
  /** state.db; created with its folder when missing. */
  readonly path: string;
  /** runtime.db, for the side index of short CJK words. */
  readonly runtimePath?: string | undefined;
  /** `worker` for long-running processes: their event loop never waits for the disk. */
  readonly host?: "in-process" | "worker" | undefined;
  /** Notices for the user: degraded storage, damaged indexes. */
  readonly onNotice?: ((text: string) => void) | undefined;
  /** `compact` moves the file to that layout in the background; `inline` leaves a file as it is. */
  readonly indexLayout?: "inline" | "compact" | undefined;
  /** Only read, for example another home's file; it must exist. */
  readonly readOnly?: boolean | undefined;
}

/** Rejects with a UserError when the file cannot be used. */
export async function openSessionStore(options: OpenSessionStoreOptions): Promise<FullStore> {
  const { host, ...rest } = options;
  if (host === "worker") {
    const { openWorkerSessionStore } = await import("./worker-host.ts");
    return openWorkerSessionStore(rest);
  }
  const { SqliteSessionStore } = await import("./sqlite-session-store.ts");
  return SqliteSessionStore.open({ ...rest, gather: true });
}
