// Reads and writes auth.json: keys and their state, in the format of Hermes Agent v0.14. Changes are made under a lock.
import { existsSync, readFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import type { Json } from "../../core/message.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

const LOCK_TIMEOUT_MS = 15_000;

/** One key in the list of a provider. Unknown fields are preserved. */
export interface AuthEntry {
  /** Six hex digits. */
  id: string;
  label: string;
  auth_type: "api_key" | "oauth";
  priority: number;
  /** `manual`, `env:<VAR>`, `config:<name>` … */
  source: string;
  access_token: string;
  last_status?: "ok" | "exhausted" | null | undefined;
  /** Seconds since the epoch. */
  last_status_at?: number | null | undefined;
  last_error_code?: number | null | undefined;
  last_error_reason?: string | null | undefined;
  last_error_message?: string | null | undefined;
  last_error_reset_at?: number | null | undefined;
  base_url?: string | null | undefined;
  request_count?: number | undefined;
  [extra: string]: Json | undefined;
}

export interface AuthFile {
  version: number;
  updated_at: string | null;
  active_provider: string | null;
  providers: { [id: string]: Json };
  credential_pool: { [provider: string]: AuthEntry[] };
  suppressed_sources: { [provider: string]: string[] };
  [extra: string]: unknown;
}

function emptyAuth(): AuthFile {
  return {
    version: 1,
    updated_at: null,
    active_provider: null,
    providers: {},
    credential_pool: {},
    suppressed_sources: {},
  };
}

function isEntry(value: unknown): value is AuthEntry {
  return isRecord(value) && typeof value.id === "string";
}

function toEntry(raw: AuthEntry, index: number): AuthEntry {
  const text = (value: unknown, fallback: string) => (typeof value === "string" ? value : fallback);
  return {
    ...raw,
    label: text(raw.label, raw.id),
    auth_type: raw.auth_type === "oauth" ? "oauth" : "api_key",
    priority: typeof raw.priority === "number" ? raw.priority : index,
    source: text(raw.source, "manual"),
    access_token: text(raw.access_token, ""),
  };
}

/** Null when the text is not a JSON object; parts of the wrong shape are ignored. */
export function parseAuth(text: string): AuthFile | null {
  const raw = parseJson(text);
  if (!isRecord(raw)) return null;
  const pools: AuthFile["credential_pool"] = {};
  for (const [provider, list] of Object.entries(isRecord(raw.credential_pool) ? raw.credential_pool : {})) {
    if (Array.isArray(list)) pools[provider] = list.filter(isEntry).map(toEntry);
  }
  const suppressed: AuthFile["suppressed_sources"] = {};
  for (const [provider, list] of Object.entries(isRecord(raw.suppressed_sources) ? raw.suppressed_sources : {})) {
    if (Array.isArray(list)) suppressed[provider] = list.filter((item): item is string => typeof item === "string");
  }
  return {
    ...emptyAuth(),
    ...raw,
    version: typeof raw.version === "number" ? raw.version : 1,
    active_provider: typeof raw.active_provider === "string" ? raw.active_provider : null,
    providers: isRecord(raw.providers) ? (raw.providers as { [id: string]: Json }) : {},
    credential_pool: pools,
    suppressed_sources: suppressed,
  };
}

/** Synchronous: for a few kilobytes that is faster than the thread pool. */
function readText(path: string): string | null {
  // Most homes have no such file, and an exception costs more than this check.
  if (!existsSync(path)) return null;
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

/** Empty when there is no file. A malformed file is copied to `<path>.corrupt` and counts as empty. */
export async function readAuthFile(path: string): Promise<AuthFile> {
  const text = readText(path);
  if (text === null || text.trim() === "") return emptyAuth();
  const parsed = parseAuth(text);
  if (parsed) return parsed;
  await copyFile(path, `${path}.corrupt`);
  return emptyAuth();
}

/** Changes the file under its lock. `change` edits the value in place; `write: false` leaves the file unchanged. */
export async function updateAuthFile<T>(
  path: string,
  change: (auth: AuthFile) => { readonly result: T; readonly write: boolean },
): Promise<T> {
  return withFileLock(
    path,
    async () => {
      const auth = await readAuthFile(path);
      const { result, write } = change(auth);
      if (write) {
        auth.updated_at = new Date().toISOString();
        await atomicWrite(path, `${JSON.stringify(auth, null, 2)}\n`, 0o600);
      }
      return result;
    },
    { timeoutMs: LOCK_TIMEOUT_MS },
  );
}
