// Counts views, uses and changes of skills in `.usage.json`, in the format of Hermes 0.14.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { parseJson } from "../lib/json/parse-json.ts";

export interface UsageRecord {
  created_by: string | null;
  use_count: number;
  view_count: number;
  last_used_at: string | null;
  last_viewed_at: string | null;
  patch_count: number;
  last_patched_at: string | null;
  created_at: string;
  state: "active" | "stale" | "archived";
  pinned: boolean;
  archived_at: string | null;
}

export type UsageFile = { [name: string]: UsageRecord };
export type UsageBump = "use" | "view" | "patch";

function fresh(now: string, createdBy: string | null): UsageRecord {
  return {
    created_by: createdBy,
    use_count: 0,
    view_count: 0,
    last_used_at: null,
    last_viewed_at: null,
    patch_count: 0,
    last_patched_at: null,
    created_at: now,
    state: "active",
    pinned: false,
    archived_at: null,
  };
}

function bumped(record: UsageRecord, kind: UsageBump, now: string): UsageRecord {
  if (kind === "use") return { ...record, use_count: (record.use_count ?? 0) + 1, last_used_at: now };
  if (kind === "view") return { ...record, view_count: (record.view_count ?? 0) + 1, last_viewed_at: now };
  return { ...record, patch_count: (record.patch_count ?? 0) + 1, last_patched_at: now };
}

function sorted(file: UsageFile): string {
  const names = Object.keys(file).sort();
  const inner = names.map((name) => {
    const record = file[name] as unknown as { [key: string]: unknown };
    return [
      name,
      Object.fromEntries(
        Object.keys(record)
          .sort()
          .map((key) => [key, record[key]]),
      ),
    ] as const;
  });
  return `${JSON.stringify(Object.fromEntries(inner), null, 2)}\n`;
}

export class SkillUsage {
  readonly #path: string;
  /** Bundled skills and skills from a hub are not counted. */
  readonly #foreign: () => Promise<ReadonlySet<string>>;

  constructor(skillsDir: string, foreign: () => Promise<ReadonlySet<string>>) {
    this.#path = join(skillsDir, ".usage.json");
    this.#foreign = foreign;
  }

  /** An unreadable file is treated as empty. */
  async read(): Promise<UsageFile> {
    const value = parseJson(await readFile(this.#path, "utf8").catch(() => "{}"));
    return isRecord(value) ? (value as UsageFile) : {};
  }

  async #change(edit: (file: UsageFile) => UsageFile): Promise<void> {
    await withFileLock(this.#path, async () => {
      await atomicWrite(this.#path, sorted(edit(await this.read())));
    });
  }

  async bump(name: string, ...kinds: readonly UsageBump[]): Promise<void> {
    if ((await this.#foreign()).has(name)) return;
    const now = new Date().toISOString();
    await this.#change((file) => {
      const record = kinds.reduce((current, kind) => bumped(current, kind, now), file[name] ?? fresh(now, null));
      return { ...file, [name]: record };
    });
  }

  async created(name: string, by: "agent" | null): Promise<void> {
    await this.#change((file) => ({ ...file, [name]: fresh(new Date().toISOString(), by) }));
  }

  async forget(name: string): Promise<void> {
    await this.#change(({ [name]: _, ...rest }) => rest);
  }

  async isPinned(name: string): Promise<boolean> {
    return (await this.read())[name]?.pinned === true;
  }
}
