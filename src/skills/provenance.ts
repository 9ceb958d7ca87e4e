// Records which session changed a skill and when, in a file next to the skills that other programs ignore.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { parseJson } from "../lib/json/parse-json.ts";

const KEPT_PER_SKILL = 50;

export interface ProvenanceEntry {
  readonly action: string;
  /** `agent`, `person`, `subagent`. */
  readonly by: string;
  readonly at: string;
  readonly session_id: string;
  /** True when the turn was tainted. */
  readonly tainted: boolean;
  readonly verdict: string;
  readonly file?: string | undefined;
}

type ProvenanceFile = { version: 1; skills: { [name: string]: readonly ProvenanceEntry[] } };

export class Provenance {
  readonly #path: string;

  constructor(skillsDir: string) {
    this.#path = join(skillsDir, ".provenance.json");
  }

  async read(): Promise<ProvenanceFile["skills"]> {
    const value = parseJson(await readFile(this.#path, "utf8").catch(() => "{}")) as
      | Partial<ProvenanceFile>
      | undefined;
    return value?.skills ?? {};
  }

  async note(name: string, entry: ProvenanceEntry): Promise<void> {
    await withFileLock(this.#path, async () => {
      const skills = await this.read();
      const entries = [...(skills[name] ?? []), entry].slice(-KEPT_PER_SKILL);
      const file: ProvenanceFile = { version: 1, skills: { ...skills, [name]: entries } };
      await atomicWrite(this.#path, `${JSON.stringify(file, null, 2)}\n`);
    });
  }
}
