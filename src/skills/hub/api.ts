// Actions of `hermes skills` on the hub: search, inspect, install, check, update, remove, export, import, publish.

import { UserError } from "../../core/failure.ts";
import type { InstallConsent, InstallOptions, InstallOutcome, InstallPlan, SkillHub } from "../../core/skill-hub.ts";
import type { AuditRow, CheckRow, Hub } from "./hub.ts";
import { HubRefusal } from "./refusal.ts";
import type { SearchResult } from "./router.ts";
import { exportSnapshot, parseSnapshot, type SnapshotFile } from "./snapshot-file.ts";
import { githubSource } from "./sources/github.ts";
import type { Staged } from "./stage.ts";
import { parseRepo, type Tap, Taps } from "./taps.ts";

export interface ImportRow {
  readonly name: string;
  readonly identifier: string;
  readonly outcome: "installed" | "present" | "changed" | "refused" | "declined";
  readonly reason?: string | undefined;
}

export interface HubActions extends SkillHub {
  search(
    query: string,
    options: { readonly source?: string | undefined; readonly limit: number },
  ): Promise<SearchResult>;
  check(name?: string): Promise<readonly CheckRow[]>;
  audit(name?: string): Promise<readonly AuditRow[]>;
  /** Fetches and scans the current version, then installs it with consent. */
  update(name: string, options: InstallOptions, consent: InstallConsent): Promise<InstallOutcome>;
  /** Throws UserError when the skill was not installed from a hub. */
  requireInstalled(name: string): Promise<void>;
  exportSnapshot(): Promise<SnapshotFile>;
  importSnapshot(text: string, options: InstallOptions, consent: InstallConsent): Promise<readonly ImportRow[]>;
  taps(): Promise<readonly (Tap & { readonly own: boolean })[]>;
  /** Returns the number of skills; throws when the repository cannot be read or has none. */
  addTap(
    repo: string,
    path: string,
  ): Promise<{ readonly repo: string; readonly skills: number; readonly added: boolean }>;
  removeTap(repo: string): Promise<boolean>;
  publish(path: string, options: PublishOptions): Promise<PublishOutcome>;
}

export interface PublishOptions {
  readonly to: "folder" | "site" | "github";
  readonly dir?: string | undefined;
  readonly repo?: string | undefined;
  readonly force: boolean;
}

export interface PublishOutcome {
  readonly name: string;
  readonly verdict: string;
  /** A folder, or the URL of a pull request. */
  readonly where: string;
}

function listRequirements({ header }: Staged): string[] {
  return [
    ...header.variables.filter((variable) => !variable.optional).map((variable) => variable.name),
    ...header.credentialFiles.map((file) => file.path),
    ...header.commands.map((command) => `the program ${command}`),
  ];
}

async function buildPlan(hub: Hub, staged: Staged): Promise<InstallPlan> {
  const { bundle, header, report, decision } = staged;
  const entry = (await hub.installed()).get(staged.name);
  const local = entry ? hub.local(staged.name, entry) : undefined;
  return {
    name: staged.name,
    category: staged.category ?? "",
    description: header.description,
    version: header.version ?? "",
    source: bundle.source,
    identifier: bundle.identifier,
    trust: bundle.trust,
    verdict: report.verdict,
    action: decision.action,
    overridable: decision.overridable,
    reason: decision.reason,
    findings: report.findings.map(({ severity, category, pattern_id: id, file, line, match, description }) => ({
      severity,
      what: `${category}/${id}: ${description}`,
      file,
      line,
      match,
    })),
    files: bundle.files.map((file) => file.path),
    bytes: report.bytes,
    sha256: staged.print.pin,
    needs: listRequirements(staged),
    hints: staged.hints,
    folder: staged.folder,
    changes: local?.dir ? await hub.changes(staged) : [],
    edits: local?.edits ?? [],
    edited: local?.state === "edited",
  };
}

function createRefusal(plan: InstallPlan): HubRefusal {
  return new HubRefusal(
    `${plan.name} is not installed: ${plan.reason}`,
    plan.overridable
      ? "Read the findings. To install it anyway, add --force."
      : `Read the marked lines. To install it anyway, run this in a terminal and type its name, or add --accept ${plan.sha256.replace(/^sha256:/, "").slice(0, 12)}.`,
  );
}

interface InstallRequest {
  readonly options: InstallOptions;
  readonly consent: InstallConsent;
  readonly replace: boolean;
  /** Throws when the fetched skill is not the expected one. */
  check?(staged: Staged): void;
}

/** Always removes the staged copy from quarantine, also after a failure. */
async function installWithConsent(hub: Hub, identifier: string, request: InstallRequest): Promise<InstallOutcome> {
  const { options, consent, replace } = request;
  const staged = await hub.stage(identifier, options);
  try {
    request.check?.(staged);
    const plan = await buildPlan(hub, staged);
    const present = (await hub.installed()).get(staged.name);
    if (!replace && present && hub.local(staged.name, present).dir !== undefined)
      throw new UserError(`${staged.name} is already installed, from ${present.identifier}`, {
        hint: `To update it: hermes skills update ${staged.name}. To install it under another name: --name NAME. To reinstall it: --force.`,
      });
    const answer = await consent(plan);
    if (plan.action !== "allow" && answer !== "accept") throw createRefusal(plan);
    if (answer === "no") return { done: false, plan };
    const reason = `${staged.decision.reason}; accepted by the user`;
    const allowed: Staged =
      answer === "accept" ? { ...staged, decision: { ...staged.decision, action: "allow", reason } } : staged;
    const installed = await hub.install(allowed, { replace, overwrite: answer === "overwrite" });
    return { done: true, plan, installed };
  } finally {
    await hub.discard(staged);
  }
}

async function importOne(
  hub: Hub,
  skill: SnapshotFile["skills"][number],
  options: InstallOptions,
  consent: InstallConsent,
): Promise<ImportRow> {
  const row = { name: skill.name, identifier: skill.identifier };
  const entry = (await hub.installed()).get(skill.name);
  if (entry && hub.local(skill.name, entry).dir !== undefined && !options.force) return { ...row, outcome: "present" };
  const changed = (staged: Staged) =>
    skill.sha256 === undefined
      ? skill.content_hash !== undefined && skill.content_hash !== staged.print.contentHash
      : skill.sha256 !== staged.print.pin;
  let differs = false;
  try {
    const own = { ...options, name: skill.name, ...(skill.category ? { category: skill.category } : {}) };
    const check = (staged: Staged) => {
      differs = changed(staged);
      if (differs && !options.force) throw new HubRefusal("it changed since the snapshot was made");
    };
    const outcome = await installWithConsent(hub, skill.identifier, {
      options: own,
      consent,
      replace: options.force ?? false,
      check,
    });
    return { ...row, outcome: outcome.done ? "installed" : "declined" };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return { ...row, outcome: differs ? "changed" : "refused", reason: error.message };
  }
}

async function publish(hub: Hub, path: string, options: PublishOptions): Promise<PublishOutcome> {
  const { preparePublication, publishToFolder, publishToSite } = await import("./publish.ts");
  const publication = await preparePublication(path, { force: options.force });
  const { name, report } = publication;
  if (options.to === "github") {
    if (!options.repo) throw new UserError("no repository given", { hint: "Add --repo OWNER/REPO.", exitCode: 2 });
    const { publishToGitHub } = await import("./publish-github.ts");
    return {
      name,
      verdict: report.verdict,
      where: await publishToGitHub(hub.host, parseRepo(options.repo), publication),
    };
  }
  if (!options.dir)
    throw new UserError("no target folder given", {
      hint: "Add --dir DIR for a folder, --to site --dir DIR for a web site, or --repo OWNER/REPO for GitHub.",
      exitCode: 2,
    });
  const write = options.to === "site" ? publishToSite : publishToFolder;
  return { name, verdict: report.verdict, where: await write(options.dir, publication) };
}

function tapActions(hub: Hub): Pick<HubActions, "taps" | "addTap" | "removeTap"> {
  const taps = new Taps(hub.host.skillsDir);
  return {
    taps: async () => {
      const own = await taps.own();
      return (await taps.all()).map((tap) => ({ ...tap, own: own.some((mine) => mine.repo === tap.repo) }));
    },
    addTap: async (given, path) => {
      const tap = { repo: parseRepo(given), path };
      const skills = (await githubSource(hub.host).list(tap)).length;
      if (skills === 0)
        throw new UserError(`${tap.repo} has no skills below "${path}"`, { hint: "Set their folder with --path." });
      return { repo: tap.repo, skills, added: await taps.add(tap) };
    },
    removeTap: (repo) => taps.remove(parseRepo(repo)),
  };
}

function notFromHub(name: string): UserError {
  return new UserError(`"${name}" was not installed from a hub`, { hint: "See: hermes skills list --source hub" });
}

export function hubActions(hub: Hub): HubActions {
  return {
    search: (query, options) => hub.search(query, options),
    install: (identifier, options, consent) =>
      installWithConsent(hub, identifier, { options, consent, replace: options.force ?? false }),
    inspect: async (identifier) => {
      const staged = await hub.stage(identifier);
      try {
        const main = staged.bundle.files.find((file) => file.path === "SKILL.md");
        return { ...(await buildPlan(hub, staged)), text: new TextDecoder().decode(main?.bytes) };
      } finally {
        await hub.discard(staged);
      }
    },
    check: (name) => hub.check(name),
    audit: (name) => hub.audit(name),
    update: async (name, options, consent) => {
      const entry = (await hub.installed()).get(name);
      if (!entry) throw notFromHub(name);
      // A skill whose folder was deleted is restored to its category.
      const parts = entry.install_path.split("/");
      const category = parts.length === 2 && parts[0] !== undefined ? { category: parts[0] } : {};
      return installWithConsent(hub, entry.identifier, {
        options: { ...options, ...category, name },
        consent,
        replace: true,
      });
    },
    requireInstalled: async (name) => {
      if (!(await hub.installed()).has(name)) throw notFromHub(name);
    },
    uninstall: async (name, options) => void (await hub.uninstall(name, options)),
    exportSnapshot: () => exportSnapshot(hub),
    importSnapshot: async (text, options, consent) => {
      const snapshot = parseSnapshot(text);
      const taps = new Taps(hub.host.skillsDir);
      for (const tap of snapshot.taps) await taps.add(tap);
      const rows: ImportRow[] = [];
      for (const skill of snapshot.skills) rows.push(await importOne(hub, skill, options, consent));
      return rows;
    },
    publish: (path, options) => publish(hub, path, options),
    ...tapActions(hub),
  };
}
