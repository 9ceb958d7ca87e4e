// Quarantined changes: stored with their findings until the user approves or rejects them.
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { QuarantinedSkill } from "../../core/skill.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { isPathInside } from "../../lib/path-inside.ts";
import type { GuardReport } from "../guard/finding.ts";
import { insideSkill } from "../skill-files.ts";
import { applyPlan } from "./apply.ts";
import type { ManageArgs, Plan } from "./plan.ts";
import { filePathMistake, nameMistake } from "./rules.ts";

/** A record contains no paths, because the file may have been tampered with. */
interface Stored extends QuarantinedSkill {
  /** For new skills. */
  readonly category?: string | undefined;
  readonly files: { readonly [path: string]: string | null };
}

/** The skill folders according to the current settings. */
export interface SkillFolders {
  readonly homeRoot: string;
  readonly roots: readonly string[];
  /** The folder of an existing skill. */
  find(name: string): Promise<string | undefined>;
}

const ID = /^[a-z0-9][a-z0-9._-]*$/;

const ACTIONS: readonly string[] = ["create", "edit", "patch", "delete", "write_file", "remove_file"];

function tampered(what: string): UserError {
  return new UserError(`the quarantined change was modified outside Hermes (${what}); nothing was changed`, {
    hint: "Reject it and check who changed the file below skills/.quarantine.",
  });
}

function checkRecord(stored: Stored): void {
  if (typeof stored.name !== "string" || !ACTIONS.includes(stored.action)) throw tampered("its name or action");
  const parts = stored.name.split("/");
  if (parts.some((part) => part === "" || part === "." || part === ".." || part.includes("\\")))
    throw tampered(`the name ${stored.name}`);
  if (typeof stored.files !== "object" || stored.files === null) throw tampered("its files");
  for (const [file, text] of Object.entries(stored.files))
    if ((file !== "SKILL.md" && filePathMistake(file)) || (text !== null && typeof text !== "string"))
      throw tampered(`the path ${file}`);
}

/** The first root that contains the folder, links resolved; undefined when none does. */
function rootAbove(dir: string, roots: readonly string[]): string | undefined {
  return roots.find((root) => {
    if (!existsSync(root)) return false;
    const real = realpathSync(root);
    return dir !== real && isPathInside(dir, real);
  });
}

async function resolveFolder(stored: Stored, folders: SkillFolders): Promise<{ dir: string; root: string }> {
  if (stored.action === "create") {
    const { name, category } = stored;
    if (nameMistake(name) || (category !== undefined && nameMistake(category))) throw tampered("its path");
    const parent = join(folders.homeRoot, ...(category === undefined ? [] : [category]));
    if (existsSync(parent) && parent !== folders.homeRoot && !rootAbove(realpathSync(parent), [folders.homeRoot]))
      throw tampered(`${parent} is outside the skills folder`);
    const dir = join(parent, name);
    if (existsSync(dir))
      throw new UserError(`${dir} already exists`, { hint: "Delete one of the two, then approve again." });
    return { dir, root: folders.homeRoot };
  }
  const dir = await folders.find(stored.name);
  if (dir === undefined)
    throw new UserError(`the skill "${stored.name}" no longer exists`, { hint: "Reject the change." });
  const root = rootAbove(realpathSync(dir), folders.roots);
  if (root === undefined) throw tampered(`${dir} is not in a skills folder`);
  return { dir, root };
}

export class Quarantine {
  readonly #dir: string;

  constructor(skillsDir: string) {
    this.#dir = join(skillsDir, ".quarantine");
  }

  /** Stores the change in one file, which cannot be found or loaded as a skill. */
  async keep(plan: Plan, report: GuardReport, origin: { sessionId: string }): Promise<string> {
    const id = `${basename(plan.name)
      .toLowerCase()
      .replaceAll(/[^a-z0-9._-]|^[._-]/g, "x")}-${randomBytes(3).toString("hex")}`;
    const stored: Stored = {
      id,
      name: plan.name,
      action: plan.action,
      at: new Date().toISOString(),
      sessionId: origin.sessionId,
      verdict: report.verdict === "dangerous" ? "dangerous" : "caution",
      findings: report.findings
        .filter((finding) => finding.severity !== "low")
        .map(
          (finding) =>
            `${finding.severity} ${finding.category}/${finding.pattern_id} ${finding.file}:${finding.line} ${finding.description}`,
        ),
      category: typeof plan.extra.category === "string" ? plan.extra.category : undefined,
      files: Object.fromEntries(plan.files),
    };
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#dir, `${id}.json`), `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
    return id;
  }

  async #read(id: string): Promise<Stored> {
    const path = join(this.#dir, `${id}.json`);
    const stored = ID.test(id) && existsSync(path) ? parseJson(await readFile(path, "utf8")) : undefined;
    if (!stored) throw new UserError(`there is no quarantined skill "${id}"`, { hint: "See: hermes skills list" });
    return stored as Stored;
  }

  async list(): Promise<QuarantinedSkill[]> {
    if (!existsSync(this.#dir)) return [];
    const ids = readdirSync(this.#dir).filter((name) => name.endsWith(".json"));
    const stored = await Promise.all(ids.map((name) => this.#read(name.slice(0, -".json".length))));
    return stored.map(({ category: _category, files: _files, ...shown }) => shown);
  }

  /** The files that the change would write, for review. */
  async files(id: string): Promise<{ readonly [path: string]: string | null }> {
    return (await this.#read(id)).files;
  }

  /** Computes the folder again; a record for another folder is refused and kept. */
  async approve(id: string, folders: SkillFolders): Promise<{ name: string; dir: string }> {
    const stored = await this.#read(id);
    checkRecord(stored);
    const { dir, root } = await resolveFolder(stored, folders);
    if (stored.action !== "create")
      for (const file of Object.keys(stored.files)) if (!insideSkill(dir, file).ok) throw tampered(`the path ${file}`);
    const plan: Plan = {
      action: stored.action as ManageArgs["action"],
      name: stored.name,
      dir,
      files: new Map(Object.entries(stored.files)),
      message: "",
      extra: {},
    };
    await applyPlan(plan, root);
    await rm(join(this.#dir, `${id}.json`));
    return { name: stored.name, dir };
  }

  async reject(id: string): Promise<void> {
    await this.#read(id);
    await rm(join(this.#dir, `${id}.json`));
  }
}
