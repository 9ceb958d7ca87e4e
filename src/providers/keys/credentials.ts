// The key pool: chooses the key for a call and records its use. The state is in auth.json, shared by all processes.
import { createHash, randomBytes } from "node:crypto";
import type { EndpointKeys, VariableKey } from "../endpoint.ts";
import { type AuthEntry, type AuthFile, readAuthFile, updateAuthFile } from "./auth-file.ts";
import { coolDownEnd } from "./cool-down.ts";
import { isUsableKey } from "./key-check.ts";
import { isLocalUrl, sameOrigin } from "./key-hosts.ts";

export const STRATEGIES = ["fill_first", "round_robin", "least_used", "random"] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** A key for one call, with the entry to which its use and refusals are written. */
export interface Lease {
  /** Null where the server is called without a key. */
  readonly value: string | null;
  /** `argument`, `none`, `env:<VAR>`, or the source of the entry. */
  readonly source: string;
  /** Null for a key that is not in any pool. */
  readonly entry: { readonly pool: string; readonly id: string } | null;
}

export interface CredentialOptions {
  readonly path: string;
  /** auth.json of the default profile: only read, for providers without keys in this profile. */
  readonly globalPath?: string | undefined;
  readonly strategies: { readonly [provider: string]: string };
  readonly now?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
}

export interface Refusal {
  readonly status: number | null;
  readonly reason: string;
  readonly message: string;
  /** Milliseconds since the epoch. */
  readonly resetAt?: number | undefined;
}

/** One key as it is shown in lists, without the secret. */
export interface EntryView {
  readonly id: string;
  readonly label: string;
  readonly source: string;
  readonly authType: string;
  readonly priority: number;
  readonly requestCount: number;
  readonly restsUntil: number;
  readonly lastError: string | null;
  /** The last four characters of a long key, to tell keys apart. */
  readonly hint: string;
}

/** The state of a key that no provider has refused. */
const NOT_REFUSED = {
  last_status: null,
  last_status_at: null,
  last_error_code: null,
  last_error_reason: null,
  last_error_message: null,
  last_error_reset_at: null,
};

/** The same in every process, so that they share the state of a key from a variable without storing the key. */
function variableEntryId(variable: string): string {
  return createHash("sha256").update(`env:${variable}`).digest("hex").slice(0, 6);
}

function fingerprint(value: string): string {
  return createHash("sha256").update(value).digest("hex").slice(0, 12);
}

/** The entry of a variable with its value; a changed value resets the state. */
function withVariable(stored: AuthEntry | undefined, key: VariableKey, priority: number): AuthEntry {
  const base: AuthEntry = stored ?? {
    id: variableEntryId(key.variable),
    label: key.variable,
    auth_type: "api_key",
    priority,
    source: `env:${key.variable}`,
    access_token: "",
    request_count: 0,
  };
  const mark = base.token_fingerprint;
  const changed =
    (typeof mark === "string" && mark !== fingerprint(key.value)) ||
    (base.access_token !== "" && base.access_token !== key.value);
  return {
    ...base,
    access_token: key.value,
    ...(changed ? { last_status: "ok" as const, last_error_reset_at: null } : {}),
  };
}

/** Only an entry for a server on this machine or network may be short. */
function isUsableEntry(entry: AuthEntry): boolean {
  return isUsableKey(entry.access_token, isLocalUrl(entry.base_url ?? ""));
}

/** Stored entries and keys from variables, best first. Unset and suppressed variables are not included. */
function merge(auth: AuthFile, pool: string, variables: readonly VariableKey[]): AuthEntry[] {
  const stored = auth.credential_pool[pool] ?? [];
  const suppressed = new Set(auth.suppressed_sources[pool] ?? []);
  const merged = stored.filter((entry) => !entry.source.startsWith("env:") && entry.access_token !== "");
  let last = Math.max(0, ...stored.map((entry) => entry.priority));
  for (const key of variables) {
    const source = `env:${key.variable}`;
    if (suppressed.has(source)) continue;
    merged.push(
      withVariable(
        stored.find((entry) => entry.source === source),
        key,
        ++last,
      ),
    );
  }
  return merged.sort((a, b) => a.priority - b.priority);
}

/** The list under the key; created when it is missing. */
function listIn<T>(map: { [key: string]: T[] }, key: string): T[] {
  const found = map[key] ?? [];
  map[key] = found;
  return found;
}

/** The stored form of an entry; for a key from a variable it is created without the secret. */
function storedEntry(auth: AuthFile, pool: string, entry: AuthEntry): AuthEntry {
  const list = listIn(auth.credential_pool, pool);
  const fromVariable = entry.source.startsWith("env:");
  const found = list.find((other) => other.id === entry.id || (fromVariable && other.source === entry.source));
  if (found) return found;
  const created: AuthEntry = { ...entry, access_token: "", token_fingerprint: fingerprint(entry.access_token) };
  list.push(created);
  return created;
}

export class Credentials {
  readonly #options: CredentialOptions;
  readonly #writes = new Set<Promise<void>>();

  constructor(options: CredentialOptions) {
    this.#options = options;
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  async #read(pool: string): Promise<{ auth: AuthFile; path: string }> {
    const auth = await readAuthFile(this.#options.path);
    const { globalPath } = this.#options;
    if (globalPath && globalPath !== this.#options.path && (auth.credential_pool[pool] ?? []).length === 0) {
      const shared = await readAuthFile(globalPath);
      if ((shared.credential_pool[pool] ?? []).length > 0) {
        const suppressed = auth.suppressed_sources[pool] ?? [];
        return {
          auth: { ...shared, suppressed_sources: { ...shared.suppressed_sources, [pool]: suppressed } },
          path: globalPath,
        };
      }
    }
    return { auth, path: this.#options.path };
  }

  /** What `resolveEndpoint` needs: the lists that hold a usable key, and the provider that was signed in last. */
  async overview(): Promise<{
    pooled: Set<string>;
    pooledFor: { readonly [pool: string]: readonly string[] };
    unusable: { readonly [pool: string]: string };
    activeProvider: string | null;
    suppressed: AuthFile["suppressed_sources"];
  }> {
    const auth = await readAuthFile(this.#options.path);
    const { globalPath } = this.#options;
    const shared = globalPath && globalPath !== this.#options.path ? await readAuthFile(globalPath) : undefined;
    const pooled = new Set<string>();
    const pooledFor: { [pool: string]: string[] } = {};
    const unusable: { [pool: string]: string } = {};
    for (const store of shared ? [shared, auth] : [auth]) {
      for (const [pool, entries] of Object.entries(store.credential_pool)) {
        const own = entries.filter((entry) => !entry.source.startsWith("env:") && entry.access_token !== "");
        const usable = own.filter((entry) => isUsableEntry(entry));
        if (usable.length > 0) {
          pooled.add(pool);
          pooledFor[pool] = usable.map((entry) => entry.base_url ?? "");
        } else if (own[0]) unusable[pool] = own[0].label;
      }
    }
    return {
      pooled,
      pooledFor,
      unusable,
      activeProvider: auth.active_provider ?? shared?.active_provider ?? null,
      suppressed: auth.suppressed_sources,
    };
  }

  #strategy(pool: string): Strategy {
    const configured = this.#options.strategies[pool];
    return STRATEGIES.find((strategy) => strategy === configured) ?? "fill_first";
  }

  #choose(entries: readonly AuthEntry[], pool: string): AuthEntry | undefined {
    const now = this.#now();
    const available = entries.filter((entry) => coolDownEnd(entry, now) === 0);
    // If all keys are cooling down, the first one to become available is tried, because the time may be a wrong guess.
    if (available.length === 0) return [...entries].sort((a, b) => coolDownEnd(a, now) - coolDownEnd(b, now))[0];
    switch (this.#strategy(pool)) {
      case "least_used":
        return [...available].sort((a, b) => (a.request_count ?? 0) - (b.request_count ?? 0))[0];
      case "random":
        return available[Math.floor((this.#options.random?.() ?? Math.random()) * available.length)];
      default:
        return available[0];
    }
  }

  /** A key for the endpoint that was not tried before; null when there is none. */
  async lease(keys: EndpointKeys, baseUrl: string, tried: ReadonlySet<string> = new Set()): Promise<Lease | null> {
    if (keys.fixed) return tried.has("fixed") ? null : { value: keys.fixed, source: "argument", entry: null };
    const pool = keys.pool;
    if (pool !== null && this.#strategy(pool) === "least_used") await this.settled();
    const entries = pool === null ? [] : await this.#candidates(pool, keys.variables, baseUrl);
    const free = entries.filter((entry) => !tried.has(entry.id));
    const chosen = pool === null ? undefined : this.#choose(free, pool);
    if (pool !== null && chosen) {
      if (entries.length > 1 && this.#strategy(pool) === "round_robin") await this.#moveToEnd(pool, chosen, entries);
      return { value: chosen.access_token, source: chosen.source, entry: { pool, id: chosen.id } };
    }
    const bare = pool === null ? keys.variables.find((key) => !tried.has(key.variable)) : undefined;
    if (bare) return { value: bare.value, source: `env:${bare.variable}`, entry: null };
    return keys.optional && tried.size === 0 ? { value: null, source: "none", entry: null } : null;
  }

  async #candidates(pool: string, variables: readonly VariableKey[], baseUrl: string): Promise<AuthEntry[]> {
    const { auth } = await this.#read(pool);
    const local = isLocalUrl(baseUrl);
    return merge(auth, pool, variables).filter(
      (entry) => isUsableKey(entry.access_token, local) && (!entry.base_url || sameOrigin(entry.base_url, baseUrl)),
    );
  }

  /** True when a key that was not tried before can be used now. */
  async hasOther(keys: EndpointKeys, baseUrl: string, tried: ReadonlySet<string>): Promise<boolean> {
    if (keys.fixed || keys.pool === null) return false;
    const now = this.#now();
    const entries = await this.#candidates(keys.pool, keys.variables, baseUrl);
    return entries.some((entry) => !tried.has(entry.id) && coolDownEnd(entry, now) === 0);
  }

  async #moveToEnd(pool: string, chosen: AuthEntry, entries: readonly AuthEntry[]): Promise<void> {
    const { path } = await this.#read(pool);
    await updateAuthFile(path, (auth) => {
      for (const entry of entries) storedEntry(auth, pool, entry);
      const highest = Math.max(...(auth.credential_pool[pool] ?? []).map((entry) => entry.priority));
      storedEntry(auth, pool, chosen).priority = highest + 1;
      return { result: undefined, write: true };
    });
  }

  /** Changes the entry of the lease; does nothing for keys outside the pool. */
  async #change(lease: Lease, change: (entry: AuthEntry) => void, create: boolean): Promise<void> {
    const target = lease.entry;
    if (!target) return;
    const before = await this.#read(target.pool);
    const known = before.auth.credential_pool[target.pool]?.some((entry) => entry.id === target.id) ?? false;
    if (!known && !create) return;
    await updateAuthFile(before.path, (auth) => {
      const stored = auth.credential_pool[target.pool]?.find((entry) => entry.id === target.id);
      if (!stored && !(create && lease.source.startsWith("env:"))) return { result: undefined, write: false };
      const variable = lease.source.slice("env:".length);
      const entry =
        stored ?? storedEntry(auth, target.pool, withVariable(undefined, { variable, value: lease.value ?? "" }, 1));
      change(entry);
      return { result: undefined, write: true };
    });
  }

  /** The key was refused: it is not used until the reset time of the provider, or for the default time of that status. */
  async markExhausted(lease: Lease, refusal: Refusal): Promise<void> {
    const at = this.#now();
    await this.#change(
      lease,
      (entry) => {
        entry.last_status = "exhausted";
        entry.last_status_at = at / 1000;
        entry.last_error_code = refusal.status;
        entry.last_error_reason = refusal.reason;
        entry.last_error_message = refusal.message.slice(0, 300);
        entry.last_error_reset_at = refusal.resetAt === undefined ? null : refusal.resetAt / 1000;
        if (entry.source.startsWith("env:")) entry.token_fingerprint = fingerprint(lease.value ?? "");
      },
      true,
    );
  }

  /** Counts a call and clears an old refusal. A single key from a variable is not written to disk. */
  async noteUse(lease: Lease, ok: boolean): Promise<void> {
    await this.#change(
      lease,
      (entry) => {
        entry.request_count = (entry.request_count ?? 0) + 1;
        if (!ok || entry.last_status !== "exhausted") return;
        Object.assign(entry, NOT_REFUSED, { last_status: "ok", last_status_at: this.#now() / 1000 });
      },
      false,
    );
  }

  /** Counts a call without delaying the answer; `settled` waits for the write. */
  noteUseLater(lease: Lease, onError: (error: unknown) => void): void {
    const write = this.noteUse(lease, true)
      .catch(onError)
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  async settled(): Promise<void> {
    await Promise.all(this.#writes);
  }

  async list(pool: string, variables: readonly VariableKey[]): Promise<EntryView[]> {
    const { auth } = await this.#read(pool);
    const now = this.#now();
    return merge(auth, pool, variables).map((entry) => ({
      id: entry.id,
      label: entry.label,
      source: entry.source,
      authType: entry.auth_type,
      priority: entry.priority,
      requestCount: entry.request_count ?? 0,
      restsUntil: coolDownEnd(entry, now),
      lastError: entry.last_error_message ?? null,
      hint: entry.access_token.length >= 16 ? `…${entry.access_token.slice(-4)}` : "…",
    }));
  }

  /** Adds a key of the user. Variables that were suppressed in this list are used again. */
  async add(
    pool: string,
    key: { value: string; label?: string | undefined; baseUrl?: string | undefined },
  ): Promise<{ id: string; label: string }> {
    return updateAuthFile(this.#options.path, (auth) => {
      const list = listIn(auth.credential_pool, pool);
      const label = key.label || `key-${list.length + 1}`;
      const entry: AuthEntry = {
        id: randomBytes(3).toString("hex"),
        label,
        auth_type: "api_key",
        priority: list.length === 0 ? 0 : Math.max(...list.map((other) => other.priority)) + 1,
        source: "manual",
        access_token: key.value,
        ...NOT_REFUSED,
        base_url: key.baseUrl || undefined,
        request_count: 0,
      };
      list.push(entry);
      delete auth.suppressed_sources[pool];
      return { result: { id: entry.id, label }, write: true };
    });
  }

  /** Removes a key by id. A key from a variable is suppressed instead, because the variable is still set. */
  async remove(pool: string, id: string, source: string): Promise<void> {
    await updateAuthFile(this.#options.path, (auth) => {
      const list = auth.credential_pool[pool] ?? [];
      auth.credential_pool[pool] = list.filter(
        (entry) => entry.id !== id && !(source.startsWith("env:") && entry.source === source),
      );
      if (source.startsWith("env:")) {
        const suppressed = listIn(auth.suppressed_sources, pool);
        if (!suppressed.includes(source)) suppressed.push(source);
      }
      return { result: undefined, write: true };
    });
  }

  /** Ends all cool-downs of the list; returns the number of changed entries. */
  async reset(pool: string): Promise<number> {
    return updateAuthFile(this.#options.path, (auth) => {
      let changed = 0;
      for (const entry of auth.credential_pool[pool] ?? []) {
        if (entry.last_status !== "exhausted") continue;
        changed++;
        Object.assign(entry, NOT_REFUSED);
      }
      return { result: changed, write: changed > 0 };
    });
  }
}
