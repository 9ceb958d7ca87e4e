// Opens the session store of a home with its settings.
import { join } from "node:path";
import type { Home } from "../core/home.ts";
import type { SessionStore } from "../core/session.ts";
import { privateDatabase } from "../home/home-layout.ts";
import type { FullStore } from "../store/full-store.ts";

export interface OpenStoreOptions {
  /** `worker` for long-running processes: their event loop never waits for the disk. */
  readonly host?: "in-process" | "worker" | undefined;
  /** `sessions.index`, when the configuration is already loaded. */
  readonly indexLayout?: "inline" | "compact" | undefined;
  /** Receives notices for the user, for example about degraded storage or damaged indexes. */
  onNotice?(text: string): void;
}

async function indexLayout(home: Home): Promise<"inline" | "compact"> {
  const { openSettings } = await import("../config/api.ts");
  return (await openSettings(home).inspect()).config.sessions.index;
}

/** Folder of session transcripts, which are removed together with their session. */
export function sessionsDir(home: Home): string {
  return join(home.path, "sessions");
}

export async function openHomeStore(home: Home, options: OpenStoreOptions = {}): Promise<FullStore> {
  const { openSessionStore } = await import("../store/open.ts");
  return openSessionStore({
    path: privateDatabase(home, "state.db"),
    runtimePath: privateDatabase(home, "runtime.db"),
    host: options.host ?? "in-process",
    indexLayout: options.indexLayout ?? (await indexLayout(home)),
    ...(options.onNotice ? { onNotice: options.onNotice } : {}),
  });
}

/** Opens the state.db of another home, read-only. */
export async function openForeignStore(path: string): Promise<SessionStore> {
  const { openSessionStore } = await import("../store/open.ts");
  return openSessionStore({ path, host: "in-process", readOnly: true });
}
