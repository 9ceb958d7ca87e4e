// Changes that the guard stopped: kept aside with the findings until a person approves or rejects them.
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { QuarantinedSkill } from "../../core/skill.ts";
import { parseJson } from "../../lib/parse-json.ts";
import type { GuardReport } from "../guard/finding.ts";
import { applyPlan } from "./apply.ts";
import type { ManageArgs, Plan } from "./plan.ts";

interface Stored extends QuarantinedSkill {
  readonly dir: string;
  readonly root: string;
  readonly files: { readonly [path: string]: string | null };
}

const ID = /^[a-z0-9][a-z0-9._-]*$/;

export class Quarantine {
  readonly #dir: string;

  constructor(skillsDir: string) {
    this.#dir = join(skillsDir, ".quarantine");
  }

  /** The change as it would have been, in one file: nothing in it can be found or loaded as a skill. */
  async keep(plan: Plan, report: GuardReport, origin: { sessionId: string; root: string }): Promise<string> {
    const id = `${plan.name}-${randomBytes(3).toString("hex")}`;
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
      dir: plan.dir,
      root: origin.root,
      files: Object.fromEntries(plan.files),
    };
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    await writeFile(join(this.#dir, `${id}.json`), `${JSON.stringify(stored, null, 2)}\n`, { mode: 0o600 });
    return id;
  }

  async #read(id: string): Promise<Stored> {
    const path = join(this.#dir, `${id}.json`);
    const stored = ID.test(id) && existsSync(path) ? parseJson(await readFile(path, "utf8")) : undefined;
    if (!stored) throw new UserError(`there is no quarantined skill "${id}"`, { cure: "See: hermes skills list" });
    return stored as Stored;
  }

  async list(): Promise<QuarantinedSkill[]> {
    if (!existsSync(this.#dir)) return [];
    const ids = readdirSync(this.#dir).filter((name) => name.endsWith(".json"));
    const stored = await Promise.all(ids.map((name) => this.#read(name.slice(0, -".json".length))));
    return stored.map(({ dir: _dir, root: _root, files: _files, ...shown }) => shown);
  }

  /** What the change would write, for the person to read. */
  async files(id: string): Promise<{ readonly [path: string]: string | null }> {
    return (await this.#read(id)).files;
  }

  async approve(id: string): Promise<{ name: string; dir: string }> {
    const stored = await this.#read(id);
    const action = stored.action as ManageArgs["action"];
    if (action === "create" && existsSync(stored.dir))
      throw new UserError(`${stored.dir} exists already`, { cure: "Delete one of the two, then approve again." });
    const plan: Plan = {
      action,
      name: stored.name,
      dir: stored.dir,
      files: new Map(Object.entries(stored.files)),
      message: "",
      extra: {},
    };
    await applyPlan(plan, stored.root);
    await rm(join(this.#dir, `${id}.json`));
    return { name: stored.name, dir: stored.dir };
  }

  async reject(id: string): Promise<void> {
    await this.#read(id);
    await rm(join(this.#dir, `${id}.json`));
  }
}
