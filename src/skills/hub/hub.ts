// The hub of one home: searches, fetches, scans, installs, checks and removes skills.
import { existsSync, readdirSync } from "node:fs";
import { rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { UserError } from "../../core/failure.ts";
import type { FileChange, InstalledSkill } from "../../core/skill-hub.ts";
import { withFileLock } from "../../lib/file-lock.ts";
import { nearest } from "../../lib/nearest.ts";
import type { GuardReport } from "../guard/finding.ts";
import { decide, trustLevel } from "../guard/policy.ts";
import { readSkillFiles } from "../guard/read-files.ts";
import { scanSkill } from "../guard/scan-skill.ts";
import { type AuditLine, appendAudit } from "./audit-log.ts";
import type { Bundle } from "./bundle.ts";
import { diffFiles } from "./changes.ts";
import { fingerprint, readFolder } from "./hash.ts";
import { hubFolders, realSkillsDir } from "./hub-folders.ts";
import { type HubHost, withDeadline } from "./hub-host.ts";
import { installSkill, type ReplaceOptions } from "./install.ts";
import { HubLock, type LockEntry } from "./lock.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";
import { resolveName, type SearchResult, searchHub, sourceFor } from "./router.ts";
import { discard, type Staged, type StageOptions, stage } from "./stage.ts";
import { type LocalState, localState } from "./state.ts";

export interface CheckRow {
  readonly name: string;
  readonly identifier: string;
  readonly status: "up_to_date" | "update_available" | "unavailable";
  readonly local: LocalState;
  readonly reason?: string | undefined;
}

export interface AuditRow {
  readonly name: string;
  readonly identifier: string;
  readonly trust: string;
  readonly recorded: string;
  readonly local: LocalState;
  /** Absent when there is nothing to scan. */
  readonly report?: GuardReport | undefined;
  /** True when the policy would refuse it now. */
  readonly blocked: boolean;
}

export class Hub {
  readonly host: HubHost;
  readonly #lock: HubLock;

  constructor(host: HubHost) {
    this.host = host;
    this.#lock = new HubLock(host.skillsDir);
  }

  search(
    query: string,
    options: { readonly source?: string | undefined; readonly limit: number },
  ): Promise<SearchResult> {
    return searchHub(this.#bounded(), query, options);
  }

  #bounded(): HubHost {
    return withDeadline(this.host, LIMITS.fetchMs);
  }

  installed(): Promise<ReadonlyMap<string, LockEntry>> {
    return this.#lock.read();
  }

  async #entries(name?: string): Promise<readonly (readonly [string, LockEntry])[]> {
    const all = await this.#lock.read();
    if (name === undefined) return [...all];
    const entry = all.get(name);
    if (entry) return [[name, entry]];
    const guess = nearest(name, [...all.keys()]);
    throw new UserError(`"${name}" was not installed from a hub${guess ? `; did you mean ${guess}?` : ""}`, {
      hint: "See: hermes skills list --source hub",
    });
  }

  #note(line: AuditLine): Promise<void> {
    return appendAudit(this.host.skillsDir, this.host.now(), line);
  }

  #noteBlocked(bundle: Pick<Bundle, "name" | "source" | "trust">, verdict: string, extra: string): Promise<void> {
    const { name, source, trust } = bundle;
    return this.#note({ action: "BLOCKED", name, source, trust, verdict, extra });
  }

  /** Fetches and scans without installing. The caller passes the result to `install` or `discard`. */
  async stage(given: string, options: StageOptions = {}): Promise<Staged> {
    const identifier = /[/:]/.test(given) ? given : await resolveName(this.#bounded(), given);
    const source = sourceFor(this.#bounded(), identifier);
    let bundle: Bundle | undefined;
    try {
      bundle = await source.fetch(identifier);
      const staged = await stage(this.host, bundle, options);
      if (staged.decision.action !== "allow")
        await this.#noteBlocked({ ...bundle, name: staged.name }, staged.report.verdict, staged.decision.reason);
      return staged;
    } catch (error) {
      if (error instanceof HubRefusal)
        await this.#noteBlocked(
          bundle ?? { name: options.name ?? identifier, source: source.id, trust: trustLevel(identifier) },
          "refused",
          error.message,
        );
      throw error;
    }
  }

  async install(staged: Staged, options: ReplaceOptions): Promise<InstalledSkill> {
    const put = await installSkill(this.host, staged, options);
    await this.#note({
      action: put.updated ? "UPDATE" : "INSTALL",
      name: put.name,
      source: staged.bundle.source,
      trust: staged.bundle.trust,
      verdict: staged.report.verdict,
      extra: staged.print.pin,
    });
    await discard(staged);
    return put;
  }

  discard(staged: Staged): Promise<void> {
    return discard(staged);
  }

  /** The differences between a staged skill and the installed version. */
  async changes(staged: Staged): Promise<readonly FileChange[]> {
    const entry = (await this.#lock.read()).get(staged.name);
    const local = entry ? localState(this.host.skillsDir, staged.name, entry) : undefined;
    return diffFiles(local?.dir ? readFolder(local.dir) : [], staged.bundle.files);
  }

  local(name: string, entry: LockEntry): LocalState {
    return localState(this.host.skillsDir, name, entry);
  }

  /** Fetches each skill again and compares it with the pinned hash. */
  async check(name?: string): Promise<CheckRow[]> {
    const rows: CheckRow[] = [];
    for (const [key, entry] of await this.#entries(name)) {
      const { identifier } = entry;
      const row = { name: key, identifier, local: this.local(key, entry) };
      try {
        const bundle = await sourceFor(this.#bounded(), identifier).fetch(identifier);
        const print = fingerprint(bundle.files);
        const pin = entry.metadata.sha256;
        const same = typeof pin === "string" ? pin === print.pin : entry.content_hash === print.contentHash;
        rows.push({ ...row, status: same ? "up_to_date" : "update_available" });
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        rows.push({ ...row, status: "unavailable", reason: error.message });
      }
    }
    return rows;
  }

  /** Checks the files on disk: hashes against the lock file, content with the guard. Works offline. */
  async audit(name?: string): Promise<AuditRow[]> {
    return (await this.#entries(name)).map(([key, entry]) => {
      const local = this.local(key, entry);
      // The trust level is derived from the identifier, not read from the lock file.
      const trust = trustLevel(entry.identifier);
      const row = { name: key, identifier: entry.identifier, trust, recorded: entry.scan_verdict, local };
      if (local.dir === undefined) return { ...row, blocked: false };
      const report = scanSkill(readSkillFiles(local.dir));
      return { ...row, report, blocked: decide(report, trust).action !== "allow" };
    });
  }

  /** Removes a skill. `forget` only removes it from the lock file. Edited skills need `overwrite`. */
  async uninstall(
    name: string,
    options: { readonly forget: boolean; readonly overwrite: boolean },
  ): Promise<LocalState> {
    const [found] = await this.#entries(name);
    if (!found) throw new Error(`${name} is not in the lock file`);
    const [key, entry] = found;
    const { hub, quarantine } = await hubFolders(this.host.skillsDir);
    return withFileLock(join(hub, "changes"), async () => {
      const local = this.local(key, entry);
      if (!options.forget && local.state === "misplaced")
        throw new UserError(`${name}: ${local.reason}; nothing was deleted`, {
          hint: `Remove it from the list with: hermes skills uninstall ${name} --forget`,
        });
      if (!options.forget && local.state === "edited" && !options.overwrite)
        throw new UserError(`${name} was edited here: ${local.edits.join(", ")}`, {
          hint: "Delete it with your edits: --overwrite. Keep the files: --forget.",
        });
      if (!options.forget && local.dir !== undefined) await this.#remove(local.dir, quarantine);
      await this.#lock.remove(key);
      const action = options.forget ? "FORGET" : "UNINSTALL";
      await this.#note({
        action,
        name: key,
        source: entry.source,
        trust: trustLevel(entry.identifier),
        verdict: entry.scan_verdict,
      });
      return local;
    });
  }

  /** Moves the folder away before deleting it, so that a partial skill is never loaded. Removes an empty category. */
  async #remove(dir: string, quarantine: string): Promise<void> {
    const trash = join(quarantine, `.removed-${process.pid}-${Date.now()}`);
    await rename(dir, trash);
    await rm(trash, { recursive: true, force: true });
    const category = dirname(dir);
    const root = await realSkillsDir(this.host.skillsDir);
    if (category !== root && existsSync(category) && readdirSync(category).length === 0) await rmdir(category);
  }
}
