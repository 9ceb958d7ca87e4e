// `skills/.hub/taps.json`: GitHub repositories whose skills are searched and listed.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { pathMistake } from "./bundle.ts";

export interface Tap {
  /** `owner/repo`. */
  readonly repo: string;
  /** The folder with the skills; empty for the whole repository. */
  readonly path: string;
}

/** Searched in every home. */
export const DEFAULT_TAPS: readonly Tap[] = [
  { repo: "openai/skills", path: "skills/" },
  { repo: "anthropics/skills", path: "skills/" },
  { repo: "huggingface/skills", path: "skills/" },
];

const REPO = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})\/[A-Za-z0-9._-]{1,100}$/;

export function isRepo(text: string): boolean {
  return REPO.test(text) && !/\/\.{1,2}$/.test(text);
}

/** Parses user input to `owner/repo`. */
export function parseRepo(given: string): string {
  const repo = given
    .trim()
    .replace(/^https?:\/\/(?:www\.)?github\.com\//, "")
    .replace(/(?:\.git)?\/?$/, "");
  if (isRepo(repo)) return repo;
  throw new UserError(`"${given}" is not a repository`, { hint: "Use the form owner/repo.", exitCode: 2 });
}

function tapFrom(value: unknown): Tap[] {
  const { repo, path = "skills/" } = (value ?? {}) as { repo?: unknown; path?: unknown };
  if (typeof repo !== "string" || typeof path !== "string" || !isRepo(repo)) return [];
  const folder = path.replaceAll(/^\/+|\/+$/g, "");
  return folder !== "" && pathMistake(folder) ? [] : [{ repo, path: folder === "" ? "" : `${folder}/` }];
}

export class Taps {
  readonly #path: string;

  constructor(skillsDir: string) {
    this.#path = join(skillsDir, ".hub", "taps.json");
  }

  /** The taps that the user added; entries without a repository are ignored. */
  async own(): Promise<Tap[]> {
    const value = parseJson(await readFile(this.#path, "utf8").catch(() => "{}")) as { taps?: unknown } | undefined;
    return Array.isArray(value?.taps) ? value.taps.flatMap(tapFrom) : [];
  }

  async all(): Promise<readonly Tap[]> {
    const own = await this.own();
    return [...own, ...DEFAULT_TAPS.filter((tap) => !own.some((mine) => mine.repo === tap.repo))];
  }

  async #write(taps: readonly Tap[]): Promise<void> {
    await atomicWrite(this.#path, `${JSON.stringify({ taps }, null, 2)}\n`);
  }

  /** Returns false when it already exists. */
  add(tap: Tap): Promise<boolean> {
    const [checked] = tapFrom(tap);
    if (!checked)
      throw new UserError(`"${tap.repo}" with the folder "${tap.path}" is not a valid tap`, { exitCode: 2 });
    return withFileLock(this.#path, async () => {
      const taps = await this.own();
      if (taps.some((known) => known.repo === checked.repo && known.path === checked.path)) return false;
      await this.#write([...taps.filter((known) => known.repo !== checked.repo), checked]);
      return true;
    });
  }

  /** Returns false when it does not exist. */
  remove(repo: string): Promise<boolean> {
    return withFileLock(this.#path, async () => {
      const taps = await this.own();
      const kept = taps.filter((tap) => tap.repo !== repo);
      if (kept.length === taps.length) return false;
      await this.#write(kept);
      return true;
    });
  }
}
