// `skills/.hub/lock.json`: the installed skills and their sources, in the format of Hermes 0.14. Its content is untrusted.
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "../../core/message.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { isRecord } from "../../lib/json/is-record.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

export interface LockEntry {
  readonly source: string;
  readonly identifier: string;
  readonly trust_level: string;
  readonly scan_verdict: string;
  readonly content_hash: string;
  readonly install_path: string;
  readonly files: readonly string[];
  /** `sha256` (the full pin), `file_hashes`, `origin`; absent in entries of other programs. */
  readonly metadata: JsonObject;
  readonly installed_at: string;
  readonly updated_at: string;
}

type Raw = { readonly [key: string]: unknown };

function mapping(value: unknown): Raw {
  return isRecord(value) ? value : {};
}

function entryFrom(value: unknown): LockEntry {
  const raw = mapping(value);
  const text = (key: string) => (typeof raw[key] === "string" ? (raw[key] as string) : "");
  return {
    source: text("source"),
    identifier: text("identifier"),
    trust_level: text("trust_level"),
    scan_verdict: text("scan_verdict"),
    content_hash: text("content_hash"),
    install_path: text("install_path"),
    files: Array.isArray(raw.files) ? raw.files.filter((file) => typeof file === "string") : [],
    metadata: mapping(raw.metadata) as JsonObject,
    installed_at: text("installed_at"),
    updated_at: text("updated_at"),
  };
}

export class HubLock {
  readonly #path: string;

  constructor(skillsDir: string) {
    this.#path = join(skillsDir, ".hub", "lock.json");
  }

  async #raw(): Promise<Raw | undefined> {
    const text = await readFile(this.#path, "utf8").catch(() => '{"installed":{}}');
    const value = parseJson(text);
    return value === undefined ? undefined : mapping(value);
  }

  /** An unreadable file is treated as empty. */
  async read(): Promise<ReadonlyMap<string, LockEntry>> {
    const installed = mapping((await this.#raw())?.installed);
    return new Map(Object.entries(installed).map(([name, value]) => [name, entryFrom(value)]));
  }

  async #change(edit: (installed: Map<string, unknown>) => void): Promise<void> {
    await withFileLock(this.#path, async () => {
      const raw = await this.#raw();
      // Keep a copy of a broken file, because it may be the only record of the installed skills.
      if (raw === undefined) await rename(this.#path, `${this.#path}.broken-${Date.now()}`);
      const installed = new Map(Object.entries(mapping(raw?.installed)));
      edit(installed);
      const file = { version: 1, ...raw, installed: Object.fromEntries(installed) };
      await atomicWrite(this.#path, `${JSON.stringify(file, null, 2)}\n`);
    });
  }

  put(name: string, entry: LockEntry): Promise<void> {
    return this.#change((installed) => installed.set(name, entry));
  }

  remove(name: string): Promise<void> {
    return this.#change((installed) => installed.delete(name));
  }
}
