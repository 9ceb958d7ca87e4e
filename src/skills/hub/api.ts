// What `hermes skills` does with skills from outside: find, look at, install, check, update, remove, carry over, publish.

import { openHub } from "../../app/open-hub.ts";
import { UserError } from "../../core/failure.ts";
import type { Home } from "../../core/home.ts";
import type { FileChange } from "./changes.ts";
import type { AuditRow, CheckRow, Hub } from "./hub.ts";
import type { Put } from "./put.ts";
import { HubRefusal } from "./refusal.ts";
import type { Found } from "./router.ts";
import { exportSnapshot, parseSnapshot, type SnapshotFile } from "./snapshot-file.ts";
import { githubSource } from "./sources/github.ts";
import type { Staged } from "./stage.ts";
import { parseRepo, type Tap, Taps } from "./taps.ts";

/** A skill on trial, as a person is shown it before they decide. */
export interface InstallPlan {
  readonly name: string;
  readonly category: string;
  readonly description: string;
  readonly version: string;
  readonly source: string;
  readonly identifier: string;
  readonly trust: string;
  readonly verdict: string;
  readonly action: string;
  /** A block that `--force` would lift. */
  readonly overridable: boolean;
  readonly reason: string;
  readonly findings: readonly {
    readonly severity: string;
    readonly what: string;
    readonly file: string;
    readonly line: number;
    readonly match: string;
  }[];
  readonly files: readonly string[];
  readonly bytes: number;
  readonly sha256: string;
  readonly needs: readonly string[];
  /** A copy to read; it goes when the decision is made. */
  readonly folder: string;
  /** What would change in the one that is installed; everything is new otherwise. */
  readonly changes: readonly FileChange[];
  /** Files of the installed one that the person edited. */
  readonly edits: readonly string[];
  readonly edited: boolean;
}

export interface InstallOptions {
  readonly name?: string | undefined;
  readonly category?: string | undefined;
  readonly force?: boolean | undefined;
}

/** The person's answer to a plan; `overwrite` also gives up their edits of the installed one. */
export type Consent = (plan: InstallPlan) => Promise<"no" | "yes" | "overwrite">;

export type InstallOutcome =
  | { readonly done: true; readonly plan: InstallPlan; readonly put: Put }
  | { readonly done: false; readonly plan: InstallPlan };

export interface ImportRow {
  readonly name: string;
  readonly identifier: string;
  readonly outcome: "installed" | "present" | "changed" | "refused" | "declined";
  readonly reason?: string | undefined;
}

export interface HubActions {
  search(query: string, options: { readonly source?: string | undefined; readonly limit: number }): Promise<Found>;
  /** Throws HubRefusal for what may not be installed, after `show` saw why. */
  install(identifier: string, options: InstallOptions, consent: Consent): Promise<InstallOutcome>;
  /** The plan and the text of SKILL.md; nothing stays behind. */
  inspect(identifier: string): Promise<InstallPlan & { readonly text: string }>;
  check(name?: string): Promise<readonly CheckRow[]>;
  audit(name?: string): Promise<readonly AuditRow[]>;
  /** Fetches, scans and offers one that changed at its source. */
  update(name: string, options: InstallOptions, consent: Consent): Promise<InstallOutcome>;
  /** Throws UserError for one that did not come from a hub. */
  mustBeInstalled(name: string): Promise<void>;
  uninstall(name: string, options: { readonly forget: boolean; readonly overwrite: boolean }): Promise<void>;
  exportSnapshot(): Promise<SnapshotFile>;
  importSnapshot(text: string, options: InstallOptions, consent: Consent): Promise<readonly ImportRow[]>;
  taps(): Promise<readonly (Tap & { readonly own: boolean })[]>;
  /** How many skills it has; throws when it cannot be read or has none. */
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
  /** A folder, or the address of a pull request. */
  readonly where: string;
}

function needsOf({ header }: Staged): string[] {
  return [
    ...header.variables.filter((variable) => !variable.optional).map((variable) => variable.name),
    ...header.credentialFiles.map((file) => file.path),
    ...header.commands.map((command) => `the program ${command}`),
  ];
}

async function planOf(hub: Hub, staged: Staged): Promise<InstallPlan> {
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
    needs: needsOf(staged),
    folder: staged.folder,
    changes: local?.dir ? await hub.changes(staged) : [],
    edits: local?.edits ?? [],
    edited: local?.state === "edited",
  };
}

function refusalOf(plan: InstallPlan): HubRefusal {
  return new HubRefusal(
    `${plan.name} is not installed: ${plan.reason}`,
    plan.overridable
      ? "Read the findings. If you trust it all the same: add --force."
      : plan.verdict === "dangerous"
        ? "A dangerous skill is not installed, with --force neither."
        : "Nothing was installed.",
  );
}

interface Trial {
  readonly options: InstallOptions;
  readonly consent: Consent;
  readonly replace: boolean;
  /** Throws when the fetched skill is not the one that was asked for. */
  check?(staged: Staged): void;
}

/** Quarantine is empty again afterwards, whatever happens. */
async function tryOut(hub: Hub, identifier: string, trial: Trial): Promise<InstallOutcome> {
  const { options, consent, replace } = trial;
  const staged = await hub.stage(identifier, options);
  try {
    trial.check?.(staged);
    const plan = await planOf(hub, staged);
    const present = (await hub.installed()).get(staged.name);
    if (!replace && present && hub.local(staged.name, present).dir !== undefined)
      throw new UserError(`${staged.name} is installed already, from ${present.identifier}`, {
        hint: `Newest version: hermes skills update ${staged.name}. Under another name: --name NAME. Again: --force.`,
      });
    if (plan.action !== "allow") {
      // The findings are shown; there is nothing to agree to.
      await consent(plan);
      throw refusalOf(plan);
    }
    const answer = await consent(plan);
    if (answer === "no") return { done: false, plan };
    const put = await hub.install(staged, { replace, overwrite: answer === "overwrite" });
    return { done: true, plan, put };
  } finally {
    await hub.discard(staged);
  }
}

async function importOne(
  hub: Hub,
  skill: SnapshotFile["skills"][number],
  options: InstallOptions,
  consent: Consent,
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
      if (differs && !options.force) throw new HubRefusal("it is not what it was when the snapshot was made");
    };
    const outcome = await tryOut(hub, skill.identifier, {
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
    if (!options.repo) throw new UserError("which repository?", { hint: "Add --repo OWNER/REPO.", exitCode: 2 });
    const { publishToGitHub } = await import("./publish-github.ts");
    return {
      name,
      verdict: report.verdict,
      where: await publishToGitHub(hub.host, parseRepo(options.repo), publication),
    };
  }
  if (!options.dir)
    throw new UserError("where to?", {
      hint: "Add --dir DIR for a folder, --to site --dir DIR for a web site, or --repo OWNER/REPO for GitHub.",
      exitCode: 2,
    });
  const put = options.to === "site" ? publishToSite : publishToFolder;
  return { name, verdict: report.verdict, where: await put(options.dir, publication) };
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
        throw new UserError(`${tap.repo} has no skills below "${path}"`, { hint: "Name their folder with --path." });
      return { repo: tap.repo, skills, added: await taps.add(tap) };
    },
    removeTap: (repo) => taps.remove(parseRepo(repo)),
  };
}

function notFromHub(name: string): UserError {
  return new UserError(`"${name}" was not installed from a hub`, { hint: "See: hermes skills list --source hub" });
}

export async function openHubActions(home: Home): Promise<HubActions> {
  const hub = await openHub(home);
  return {
    search: (query, options) => hub.search(query, options),
    install: (identifier, options, consent) =>
      tryOut(hub, identifier, { options, consent, replace: options.force ?? false }),
    inspect: async (identifier) => {
      const staged = await hub.stage(identifier);
      try {
        const main = staged.bundle.files.find((file) => file.path === "SKILL.md");
        return { ...(await planOf(hub, staged)), text: new TextDecoder().decode(main?.bytes) };
      } finally {
        await hub.discard(staged);
      }
    },
    check: (name) => hub.check(name),
    audit: (name) => hub.audit(name),
    update: async (name, options, consent) => {
      const entry = (await hub.installed()).get(name);
      if (!entry) throw notFromHub(name);
      // One that was deleted here comes back to its category.
      const parts = entry.install_path.split("/");
      const place = parts.length === 2 && parts[0] !== undefined ? { category: parts[0] } : {};
      return tryOut(hub, entry.identifier, { options: { ...options, ...place, name }, consent, replace: true });
    },
    mustBeInstalled: async (name) => {
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
