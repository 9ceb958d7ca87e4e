// The door to the session store: picks the host.
import type { FullStore } from "./full-store.ts";

export interface OpenSessionStoreOptions {
  /** state.db; created with its folder when missing. */
  readonly path: string;
  /** runtime.db, for the side index of short CJK words. */
  readonly runtimePath?: string | undefined;
  /** `worker` for long-running processes: their event loop never waits for the disk. */
  readonly host?: "in-process" | "worker" | undefined;
  /** Degraded storage, damaged indexes and the like, for the person. */
  readonly onNotice?: ((text: string) => void) | undefined;
  /** `compact` moves the file to that layout in the background; `inline` leaves a file as it is. */
  readonly indexLayout?: "inline" | "compact" | undefined;
  /** Only read, for example another home's file; it must exist. */
  readonly readOnly?: boolean | undefined;
}

/** Rejects with an error for the person when the file cannot be used; `formatStoreUnavailable` explains it later. */
export async function openSessionStore(options: OpenSessionStoreOptions): Promise<FullStore> {
  const { host, ...rest } = options;
  if (host === "worker") {
    const { openWorkerSessionStore } = await import("./worker-host.ts");
    return openWorkerSessionStore(rest);
  }
  const { SqliteSessionStore } = await import("./sqlite-session-store.ts");
  return SqliteSessionStore.open(rest);
}
