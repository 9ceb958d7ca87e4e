// Stages a fetched skill: checks its structure, scans it, decides, and writes a copy to quarantine for review.
import { lstat, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SkillHeader } from "../../core/skill.ts";
import type { GuardReport } from "../guard/finding.ts";
import { decide, type GuardDecision } from "../guard/policy.ts";
import { scanSkill } from "../guard/scan-skill.ts";
import { nameMistake } from "../manage/rules.ts";
import { parseSkill } from "../parse.ts";
import type { Bundle } from "./bundle.ts";
import { type Fingerprint, fingerprint } from "./hash.ts";
import { checkNames, hubFolders } from "./hub-folders.ts";
import type { HubHost } from "./hub-host.ts";
import { HubRefusal } from "./refusal.ts";

const STALE_MS = 3_600_000;

export interface StageOptions {
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  /** Overrides blocks, except for a dangerous verdict. */
  readonly force?: boolean | undefined;
}

export interface Staged {
  readonly bundle: Bundle;
  readonly name: string;
  readonly category: string | undefined;
  readonly header: SkillHeader;
  /** Mistakes in SKILL.md that do not prevent its use. */
  readonly hints: readonly string[];
  readonly report: GuardReport;
  readonly decision: GuardDecision;
  readonly print: Fingerprint;
  /** The copy in quarantine: not executable and never loaded. */
  readonly folder: string;
}

function mainText(bundle: Bundle): string {
  const main = bundle.files.find((file) => file.path === "SKILL.md");
  if (!main) throw new HubRefusal("refused: there is no SKILL.md");
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(main.bytes);
  } catch {
    throw new HubRefusal("refused: SKILL.md is not UTF-8 text");
  }
}

/** The installer takes what the loader takes; mistakes become hints. */
async function parseHeader(bundle: Bundle): Promise<{ header: SkillHeader; hints: string[] }> {
  const { header, body, mistakes } = await parseSkill(mainText(bundle));
  const hints = mistakes.map(({ line, message, hint }) => `SKILL.md line ${line}: ${message}. ${hint}`);
  if (body.trim() === "") throw new HubRefusal(`refused: ${hints[0] ?? "SKILL.md has no instructions"}`);
  return { header, hints };
}

function readCategory(bundle: Bundle, header: SkillHeader): string | undefined {
  const { hermes } = (header.metadata ?? {}) as { hermes?: { category?: unknown } };
  const own = bundle.category ?? hermes?.category;
  return typeof own === "string" && nameMistake(own) === undefined ? own : undefined;
}

/** Removes copies that a killed process left behind more than an hour ago. */
async function sweep(quarantine: string): Promise<void> {
  for (const name of await readdir(quarantine)) {
    const path = join(quarantine, name);
    const info = await lstat(path).catch(() => undefined);
    if (info && Date.now() - info.mtimeMs > STALE_MS) await rm(path, { recursive: true, force: true });
  }
}

async function writeToQuarantine(host: HubHost, name: string, bundle: Bundle): Promise<string> {
  const { quarantine } = await hubFolders(host.skillsDir);
  await sweep(quarantine);
  const folder = await mkdtemp(join(quarantine, `${name}-`));
  for (const { path, bytes } of bundle.files) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, bytes, { mode: 0o600, flag: "wx" });
  }
  return folder;
}

/** Throws HubRefusal for an invalid skill; a blocked one is returned with its decision. */
export async function stage(host: HubHost, bundle: Bundle, options: StageOptions = {}): Promise<Staged> {
  const { header, hints } = await parseHeader(bundle);
  const name = options.name ?? bundle.name;
  if (name === "") throw new HubRefusal("the skill has no name", "Set one with --name.");
  const category = options.category ?? readCategory(bundle, header);
  checkNames(name, category);
  const report = scanSkill(bundle.files.map(({ path, bytes, mode }) => ({ path, content: bytes, mode })));
  const decision = decide(report, bundle.trust, { force: options.force ?? false });
  const folder = await writeToQuarantine(host, name, bundle);
  return { bundle, name, category, header, hints, report, decision, print: fingerprint(bundle.files), folder };
}

export async function discard(staged: Pick<Staged, "folder">): Promise<void> {
  await rm(staged.folder, { recursive: true, force: true });
}
