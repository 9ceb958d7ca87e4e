// Publishes a local skill: checks and scans it, and writes it to a folder or a web site.
import { lstatSync, statSync } from "node:fs";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { UserError } from "../../core/failure.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import type { GuardReport } from "../guard/finding.ts";
import { scanSkill } from "../guard/scan-skill.ts";
import { nameMistake } from "../manage/rules.ts";
import { parseSkill } from "../parse.ts";
import { type BundleFile, checkFiles } from "./bundle.ts";
import { entriesBelow } from "./folder-entries.ts";
import { HubRefusal } from "./refusal.ts";

export interface Publication {
  readonly name: string;
  readonly description: string;
  readonly files: readonly BundleFile[];
  readonly report: GuardReport;
}

/** Hidden files are excluded. Throws for a skill that others could not or should not install. */
export async function preparePublication(path: string, options: { readonly force: boolean }): Promise<Publication> {
  const dir = resolve(path.replace(/\/SKILL\.md$/, ""));
  if (!statSync(join(dir, "SKILL.md"), { throwIfNoEntry: false })?.isFile())
    throw new UserError(`${dir} has no SKILL.md`, { hint: "Specify the folder of a skill." });
  const files = checkFiles(entriesBelow(dir));
  const { header, mistakes } = await parseSkill(await readFile(join(dir, "SKILL.md"), "utf8"));
  const [mistake] = mistakes;
  if (mistake) throw new UserError(`SKILL.md line ${mistake.line}: ${mistake.message}`, { hint: mistake.hint });
  const name = header.name ?? basename(dir);
  const wrong = nameMistake(name);
  if (wrong) throw new UserError(wrong, { hint: "Change `name` in SKILL.md." });
  const report = scanSkill(files.map((file) => ({ ...file, content: file.bytes })));
  if (report.verdict === "dangerous")
    throw new HubRefusal(
      `refused: the guard rates ${name} as dangerous, so it could not be installed`,
      "Fix the findings first.",
    );
  if (report.verdict === "caution" && !options.force)
    throw new UserError(`the guard rates ${name} as caution: others would have to install it with --force`, {
      hint: "Fix the findings, or publish it anyway with --force.",
    });
  return { name, description: header.description, files, report };
}

/** Replaces `folder`, whose parent must exist. */
async function writeFolder(folder: string, files: readonly BundleFile[]): Promise<void> {
  if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink())
    throw new UserError(`${folder} is a link`, { hint: "Remove it first." });
  await rm(folder, { recursive: true, force: true });
  for (const { path, bytes } of files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
    await chmod(file, bytes[0] === 0x23 && bytes[1] === 0x21 ? 0o755 : 0o644);
  }
}

/** Writes `<dest>/skills/<name>/`, the layout of a tap. */
export async function publishToFolder(dest: string, publication: Publication): Promise<string> {
  const folder = join(dest, "skills", publication.name);
  await writeFolder(folder, publication.files);
  return folder;
}

/** Writes `<dest>/.well-known/skills/` for a web site and updates its index. */
export async function publishToSite(dest: string, publication: Publication): Promise<string> {
  const base = join(dest, ".well-known", "skills");
  const folder = join(base, publication.name);
  await writeFolder(folder, publication.files);
  const path = join(base, "index.json");
  const known = parseJson(await readFile(path, "utf8").catch(() => "{}")) as { skills?: unknown } | null | undefined;
  const others = (Array.isArray(known?.skills) ? known.skills : []) as readonly { readonly name?: unknown }[];
  const { name, description } = publication;
  const own = { name, description, files: publication.files.map((file) => file.path) };
  const skills = [...others.filter((skill) => skill.name !== name), own];
  await atomicWrite(path, `${JSON.stringify({ skills }, null, 2)}\n`, 0o644);
  return folder;
}
