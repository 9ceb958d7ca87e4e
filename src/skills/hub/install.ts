// Installs a scanned skill atomically; restores the previous version when that fails.
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { JsonObject } from "../../core/message.ts";
import type { InstalledSkill } from "../../core/skill-hub.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import type { BundleFile } from "./bundle.ts";
import { hubFolders, newSkillFolder, realSkillsDir, skillsNamed } from "./hub-folders.ts";
import type { HubHost } from "./hub-host.ts";
import { HubLock, type LockEntry } from "./lock.ts";
import { HubRefusal } from "./refusal.ts";
import type { Staged } from "./stage.ts";
import { localState } from "./state.ts";

export interface ReplaceOptions {
  /** Replace the installed version. */
  readonly replace: boolean;
  /** Replace it even when the user edited it; the edited copy is kept. */
  readonly overwrite: boolean;
}

async function writeDraft(quarantine: string, files: readonly BundleFile[]): Promise<string> {
  const draft = await mkdtemp(join(quarantine, ".draft-"));
  for (const { path, bytes } of files) {
    const file = join(draft, path);
    await mkdir(dirname(file), { recursive: true, mode: 0o755 });
    // Modes of the archive are ignored: scripts become executable, other files do not.
    const script = bytes[0] === 0x23 && bytes[1] === 0x21;
    await writeFile(file, bytes, { mode: script ? 0o755 : 0o644, flag: "wx" });
  }
  await chmod(draft, 0o755);
  return draft;
}

interface Target {
  readonly dir: string;
  readonly before: LockEntry | undefined;
  readonly edited: boolean;
}

async function targetFor(host: HubHost, staged: Staged, options: ReplaceOptions): Promise<Target> {
  const { name, category } = staged;
  const before = (await new HubLock(host.skillsDir).read()).get(name);
  const local = before ? localState(host.skillsDir, name, before) : undefined;
  if (local?.state === "clean" || local?.state === "edited") {
    if (!options.replace)
      throw new UserError(`${name} is already installed`, {
        hint: `To update it: hermes skills update ${name}. To reinstall it: --force.`,
      });
    const edited = local.state === "edited";
    if (edited && !options.overwrite)
      throw new UserError(`${name} was edited here`, { hint: "Replace your edits with --overwrite; a copy is kept." });
    return { dir: local.dir ?? "", before, edited };
  }
  const dir = await newSkillFolder(host.skillsDir, name, category);
  const others = skillsNamed(host.skillsDir, name);
  if (others.length > 0 || existsSync(dir))
    throw new UserError(`another skill has this name: ${others[0] ?? dir}`, {
      hint: "Install it under another name with --name.",
    });
  return { dir, before, edited: false };
}

/** Moves the old folder away and the new one in; moves the old one back when that fails. */
async function swap(draft: string, target: string, backup: string | undefined): Promise<void> {
  if (backup !== undefined) await rename(target, backup);
  try {
    await rename(draft, target);
  } catch (error) {
    if (backup !== undefined) await rename(backup, target);
    throw error;
  }
}

async function entryFor(host: HubHost, staged: Staged, target: Target): Promise<LockEntry> {
  const { bundle, print, report } = staged;
  const now = host.now().toISOString();
  const root = await realSkillsDir(host.skillsDir);
  const metadata: JsonObject = { sha256: print.pin, file_hashes: print.files, origin: bundle.origin };
  return {
    source: bundle.source,
    identifier: bundle.identifier,
    trust_level: bundle.trust,
    scan_verdict: report.verdict,
    content_hash: print.contentHash,
    install_path: relative(root, target.dir).split(sep).join("/"),
    files: Object.keys(print.files),
    metadata,
    installed_at: target.before?.installed_at || now,
    updated_at: now,
  };
}

/** Writes exactly the bytes that were scanned. Throws when the decision does not allow the skill. */
export async function installSkill(host: HubHost, staged: Staged, options: ReplaceOptions): Promise<InstalledSkill> {
  if (staged.decision.action !== "allow") throw new HubRefusal(`refused: ${staged.decision.reason}`);
  const { hub, quarantine } = await hubFolders(host.skillsDir);
  return withFileLock(join(hub, "changes"), async () => {
    const target = await targetFor(host, staged, options);
    const replaces = existsSync(target.dir);
    const stamp = host.now().toISOString().replaceAll(/[:.]/g, "-");
    const backupDir = join(hub, target.edited ? "replaced" : "quarantine");
    await mkdir(backupDir, { recursive: true, mode: 0o700 });
    const backup = replaces ? join(backupDir, `${staged.name}-${stamp}`) : undefined;
    const draft = await writeDraft(quarantine, staged.bundle.files);
    try {
      await swap(draft, target.dir, backup);
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
    await new HubLock(host.skillsDir).put(staged.name, await entryFor(host, staged, target));
    if (backup !== undefined && !target.edited) await rm(backup, { recursive: true, force: true });
    const kept = target.edited && backup !== undefined ? { kept: backup } : {};
    return { name: staged.name, dir: target.dir, updated: replaces, ...kept };
  });
}
