// Pairing: an unknown user gets a code in the chat, the owner approves it on this machine. Same files as v0.14.
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";

const ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
const CODE_LENGTH = 8;
const CODE_SECONDS = 3600;
const REQUEST_SECONDS = 600;
const MAX_PENDING = 3;
const MAX_FAILURES = 5;
const LOCK_SECONDS = 3600;
const LOCK = "_lockout:";

interface PendingEntry {
  readonly user_id: string;
  readonly user_name: string;
  readonly created_at: number;
}
interface ApprovedEntry {
  readonly user_name: string;
  readonly approved_at: number;
}
/** Both null after the first paired user was revoked: then there is no owner until the lists are empty. */
interface OwnerEntry {
  readonly platform: string | null;
  readonly user_id: string | null;
}
const OWNER = "_owner";
type Numbers = { [key: string]: number };

export interface PairingList {
  readonly pending: readonly {
    readonly platform: string;
    readonly userId: string;
    readonly userName: string;
    readonly minutesLeft: number;
  }[];
  readonly approved: readonly { readonly platform: string; readonly userId: string; readonly userName: string }[];
  /** Platforms that are locked after too many wrong codes. */
  readonly locked: readonly { readonly platform: string; readonly minutesLeft: number }[];
}

export interface PairedUser {
  readonly platform: string;
  readonly userId: string;
}

export interface Pairing {
  isApproved(platform: string, userId: string): Promise<boolean>;
  /**
   * The user who was paired first, on any platform; null when there is none. A revoked first user is not replaced:
   * otherwise a guest could become the owner.
   */
  first(): Promise<PairedUser | null>;
  /** A code for this user; null when none may be created: too many requests, too many pending codes, or locked. */
  request(platform: string, user: { readonly id: string; readonly name: string }): Promise<string | null>;
  list(): Promise<PairingList>;
  /** Grants access and returns the user. Throws UserError for a wrong or expired code. */
  approve(platform: string, code: string): Promise<{ readonly userId: string; readonly userName: string }>;
  /** False when the user had no access. */
  revoke(platform: string, userId: string): Promise<boolean>;
  /** Returns how many requests were removed. */
  clearPending(platform?: string): Promise<number>;
}

async function readMap<T>(path: string): Promise<{ [key: string]: T }> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as { [key: string]: T };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw new UserError(`${path} cannot be read`, { hint: "Repair or remove the file.", cause: error });
  }
}

function newCode(): string {
  return Array.from({ length: CODE_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

/** Removes expired entries, so that the file does not grow with every unknown user. */
function activeLimits(limits: Numbers, now: number): Numbers {
  return Object.fromEntries(
    Object.entries(limits).filter(([key, at]) => key.startsWith("_") || now - at < REQUEST_SECONDS),
  );
}

class PairingFiles implements Pairing {
  readonly #dir: string;
  readonly #now: () => number;
  readonly #approved = new Map<string, { mtime: number; ids: ReadonlySet<string> }>();
  #first: { readonly mtime: number; readonly user: PairedUser | null } | undefined;

  constructor(dir: string, now: () => number) {
    this.#dir = dir;
    this.#now = now;
  }

  #file(name: string): string {
    return join(this.#dir, `${name}.json`);
  }

  #seconds(): number {
    return this.#now() / 1000;
  }

  #locked<T>(work: () => Promise<T>): Promise<T> {
    return withFileLock(join(this.#dir, "pairing"), work);
  }

  async #write(name: string, value: object): Promise<void> {
    await atomicWrite(this.#file(name), `${JSON.stringify(value, null, 2)}\n`, 0o600);
  }

  /** Called for every message: reads the file again only after a change. */
  async isApproved(platform: string, userId: string): Promise<boolean> {
    const path = this.#file(`${platform}-approved`);
    const info = await stat(path).catch(() => null);
    if (!info) return false;
    let known = this.#approved.get(platform);
    if (known?.mtime !== info.mtimeMs) {
      known = { mtime: info.mtimeMs, ids: new Set(Object.keys(await readMap<ApprovedEntry>(path))) };
      this.#approved.set(platform, known);
    }
    return known.ids.has(userId);
  }

  /** Files are replaced as a whole, so the folder's modification time shows a change. */
  async first(): Promise<PairedUser | null> {
    const info = await stat(this.#dir).catch(() => null);
    if (!info) return null;
    if (this.#first?.mtime !== info.mtimeMs) this.#first = { mtime: info.mtimeMs, user: await this.#readFirst() };
    return this.#first.user;
  }

  async #readFirst(): Promise<PairedUser | null> {
    const stored = (await readMap<string | null>(this.#file(OWNER))) as Partial<OwnerEntry>;
    if (stored.user_id === null) return null;
    if (stored.platform && stored.user_id) return { platform: stored.platform, userId: stored.user_id };
    // Older files and those of v0.14 only have the time of each approval.
    let oldest: (PairedUser & { readonly at: number }) | null = null;
    for (const platform of await this.#platforms("approved")) {
      const entries = await readMap<ApprovedEntry>(this.#file(`${platform}-approved`));
      for (const [userId, { approved_at: at }] of Object.entries(entries))
        if (oldest === null || at < oldest.at) oldest = { platform, userId, at };
    }
    return oldest && { platform: oldest.platform, userId: oldest.userId };
  }

  async #setFirst(user: PairedUser | null): Promise<void> {
    const entry: OwnerEntry = { platform: user?.platform ?? null, user_id: user?.userId ?? null };
    await this.#write(OWNER, entry);
    this.#first = undefined;
  }

  async #anyApproved(): Promise<boolean> {
    for (const platform of await this.#platforms("approved"))
      if (Object.keys(await readMap<ApprovedEntry>(this.#file(`${platform}-approved`))).length > 0) return true;
    return false;
  }

  async #pending(platform: string): Promise<{ [code: string]: PendingEntry }> {
    const all = await readMap<PendingEntry>(this.#file(`${platform}-pending`));
    const fresh = Object.entries(all).filter(([, entry]) => this.#seconds() - entry.created_at <= CODE_SECONDS);
    return Object.fromEntries(fresh);
  }

  request(platform: string, user: { readonly id: string; readonly name: string }): Promise<string | null> {
    return this.#locked(async () => {
      const limits = await readMap<number>(this.#file("_rate_limits"));
      const now = this.#seconds();
      if (this.#lockedFor(platform, limits) > 0) return null;
      if (now - (limits[`${platform}:${user.id}`] ?? 0) < REQUEST_SECONDS) return null;
      const pending = await this.#pending(platform);
      if (Object.keys(pending).length >= MAX_PENDING) return null;
      const code = newCode();
      pending[code] = { user_id: user.id, user_name: user.name, created_at: now };
      await this.#write(`${platform}-pending`, pending);
      await this.#write("_rate_limits", { ...activeLimits(limits, now), [`${platform}:${user.id}`]: now });
      return code;
    });
  }

  async #platforms(kind: "pending" | "approved"): Promise<string[]> {
    const names = await readdir(this.#dir).catch(() => []);
    return names.filter((name) => name.endsWith(`-${kind}.json`)).map((name) => name.slice(0, -`-${kind}.json`.length));
  }

  async list(): Promise<PairingList> {
    const pending: PairingList["pending"][number][] = [];
    const approved: PairingList["approved"][number][] = [];
    for (const platform of await this.#platforms("pending")) {
      for (const entry of Object.values(await this.#pending(platform))) {
        const minutesLeft = Math.ceil((CODE_SECONDS - (this.#seconds() - entry.created_at)) / 60);
        pending.push({ platform, userId: entry.user_id, userName: entry.user_name, minutesLeft });
      }
    }
    for (const platform of await this.#platforms("approved")) {
      const entries = await readMap<ApprovedEntry>(this.#file(`${platform}-approved`));
      for (const [userId, entry] of Object.entries(entries))
        approved.push({ platform, userId, userName: entry.user_name });
    }
    const limits = await readMap<number>(this.#file("_rate_limits"));
    const locked = Object.keys(limits)
      .filter((key) => key.startsWith(LOCK))
      .map((key) => ({
        platform: key.slice(LOCK.length),
        minutesLeft: this.#lockedFor(key.slice(LOCK.length), limits),
      }))
      .filter(({ minutesLeft }) => minutesLeft > 0);
    return { pending, approved, locked };
  }

  /** Minutes until the lock ends; 0 when it is not locked. */
  #lockedFor(platform: string, limits: Numbers): number {
    return Math.max(0, Math.ceil(((limits[`${LOCK}${platform}`] ?? 0) - this.#seconds()) / 60));
  }

  async #failed(platform: string, limits: Numbers): Promise<UserError> {
    const key = `_failures:${platform}`;
    limits[key] = (limits[key] ?? 0) + 1;
    const lock = limits[key] >= MAX_FAILURES;
    if (lock) {
      limits[`${LOCK}${platform}`] = this.#seconds() + LOCK_SECONDS;
      limits[key] = 0;
    }
    await this.#write("_rate_limits", limits);
    return new UserError("The code is unknown or has expired.", {
      hint: lock
        ? `Too many wrong codes: pairing on ${platform} is locked for an hour.`
        : "Codes are valid for an hour. See: hermes pairing list",
    });
  }

  approve(platform: string, code: string): Promise<{ userId: string; userName: string }> {
    return this.#locked(async () => {
      const limits = await readMap<number>(this.#file("_rate_limits"));
      const minutes = this.#lockedFor(platform, limits);
      if (minutes > 0)
        throw new UserError(`Pairing on ${platform} is locked after too many wrong codes.`, {
          hint: `Try again in ${minutes} min, or add the user's id to ${platform.toUpperCase()}_ALLOWED_USERS.`,
        });
      const pending = await this.#pending(platform);
      if (Object.keys(pending).length === 0)
        throw new UserError(
          `No pairing request is pending on ${platform}: the code has expired, or is for another platform.`,
          {
            hint: "The user gets a new code with the next message. See: hermes pairing list",
          },
        );
      const wanted = code.trim().toUpperCase();
      const entry = pending[wanted];
      if (!entry) throw await this.#failed(platform, limits);
      const { [wanted]: _, ...rest } = pending;
      const first = (await this.#anyApproved()) ? await this.#readFirst() : { platform, userId: entry.user_id };
      const approved = await readMap<ApprovedEntry>(this.#file(`${platform}-approved`));
      approved[entry.user_id] = { user_name: entry.user_name, approved_at: this.#seconds() };
      await this.#setFirst(first);
      delete limits[`_failures:${platform}`];
      await this.#write(`${platform}-approved`, approved);
      await this.#write(`${platform}-pending`, rest);
      await this.#write("_rate_limits", limits);
      return { userId: entry.user_id, userName: entry.user_name };
    });
  }

  revoke(platform: string, userId: string): Promise<boolean> {
    return this.#locked(async () => {
      const approved = await readMap<ApprovedEntry>(this.#file(`${platform}-approved`));
      if (!Object.hasOwn(approved, userId)) return false;
      const { [userId]: _, ...rest } = approved;
      const first = await this.#readFirst();
      if (first?.platform === platform && first.userId === userId) await this.#setFirst(null);
      await this.#write(`${platform}-approved`, rest);
      return true;
    });
  }

  clearPending(platform?: string): Promise<number> {
    return this.#locked(async () => {
      let cleared = 0;
      const waiting = await this.#platforms("pending");
      for (const name of platform ? waiting.filter((each) => each === platform) : waiting) {
        cleared += Object.keys(await this.#pending(name)).length;
        await this.#write(`${name}-pending`, {});
      }
      return cleared;
    });
  }
}

/** The files are in `platforms/pairing`, or in the older `pairing` folder when only that exists. */
export function openPairing(homePath: string, now: () => number = Date.now): Pairing {
  const dir = join(homePath, "platforms", "pairing");
  const older = join(homePath, "pairing");
  return new PairingFiles(!existsSync(dir) && existsSync(older) ? older : dir, now);
}
