// The container of one conversation: its view of the machine, its permissions, its temporary folder and its network.
import { mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  type Contained,
  type ContainedRun,
  type ConversationContainer,
  formatPermission,
  type NamedPermission,
  type Need,
  type Permission,
  type PermissionScope,
  type ProgramCall,
} from "../core/container.ts";
import { isPathInside } from "../lib/path-inside.ts";
import { findDeniedHost, findDeniedPath } from "./denial.ts";
import { keptVariables, SERVICE_VARIABLES } from "./grant-mounts.ts";
import { holdCreated, missingPaths } from "./held-files.ts";
import { MOUNTED_CACHES, viewHome } from "./home-view.ts";
import {
  type Grants,
  hiddenFolders,
  isInside,
  type LayoutFacts,
  type ProjectFacts,
  planMounts,
  visibleInHome,
  writableRoots,
} from "./layout.ts";
import { socketPaths } from "./local-sockets.ts";
import type { MountPlan } from "./mount-plan.ts";
import { grantPermission, readPermissions } from "./permission-file.ts";
import { areLocal, changesPlainSettings, needOf } from "./programs.ts";
import { findSecretFiles, isProjectEnv, RUN_BY_EDITORS } from "./project-files.ts";
import { findRepository, type Repository } from "./repository.ts";

/** How long a search for secret files is trusted. */
const SECRETS_FRESH_MS = 10_000;

/** The network of a conversation, separate from that of this machine. */
export interface PrivateNetwork {
  /** Arguments before the container's program, which enter the network. `ready`: wait until connections work. */
  enter(ready: boolean): Promise<readonly string[]>;
  readonly replaced: ProjectFacts["replaced"];
  readonly env: { readonly [name: string]: string | undefined };
  /** Local addresses that may be reached. */
  allow(host: string): void;
  close(): Promise<void>;
}

export interface ContainerParts {
  readonly facts: LayoutFacts;
  readonly hermesHome: string;
  /** Removed when the container closes; contains `facts.temp`. */
  readonly folder: string;
  readonly isSecret: (path: string) => boolean;
  readonly credentials: () => readonly string[];
  readonly network: PrivateNetwork | undefined;
  onClose(): void;
  /** Writes a plan as the start of a command line. */
  render(plan: MountPlan, network: boolean): readonly string[];
}

export class OpenContainer implements ConversationContainer {
  readonly #parts: ContainerParts;
  readonly #session = new Map<string, Permission>();
  readonly #once = new Map<string, Permission>();
  #secrets: { readonly at: number; readonly paths: readonly string[] } | undefined;

  constructor(parts: ContainerParts) {
    this.#parts = parts;
    for (const permission of readPermissions(parts.hermesHome, parts.facts.roots[0] ?? "/")) this.#add(permission);
    for (const name of [...MOUNTED_CACHES, ...viewHome(parts.facts.home, []).caches])
      mkdirSync(join(parts.facts.caches, name), { recursive: true, mode: 0o700 });
  }

  get temp(): string {
    return this.#parts.facts.temp;
  }

  #add(permission: Permission, into = this.#session): void {
    into.set(formatPermission(permission), permission);
    if (permission.kind === "host") this.#parts.network?.allow(permission.host);
  }

  #permissions(): Permission[] {
    return [...this.#session.values(), ...this.#once.values()];
  }

  #grants(): Grants {
    const paths = (kind: "read" | "write") =>
      this.#permissions().flatMap((permission) =>
        permission.kind === kind && !this.belongsToHermes(permission.path) ? [permission.path] : [],
      );
    const named = this.#permissions().flatMap((permission): NamedPermission[] =>
      permission.kind === "named" ? [permission.name] : [],
    );
    return { read: paths("read"), write: [...paths("write"), ...this.#parts.credentials()], named: new Set(named) };
  }

  #repositories(): Repository[] {
    const { roots, home } = this.#parts.facts;
    return roots.map((root) => findRepository(root, home)).filter((found) => found !== undefined);
  }

  async #secretFiles(): Promise<readonly string[]> {
    const now = Date.now();
    if (this.#secrets && now - this.#secrets.at < SECRETS_FRESH_MS) return this.#secrets.paths;
    const roots = writableRoots(this.#parts.facts);
    const found = await Promise.all(roots.map((root) => findSecretFiles(root, this.#parts.isSecret)));
    this.#secrets = { at: now, paths: found.flat() };
    return this.#secrets.paths;
  }

  async contain(run: ContainedRun): Promise<Contained> {
    const { network, render } = this.#parts;
    const facts = run.roots ? { ...this.#parts.facts, roots: run.roots } : this.#parts.facts;
    const grants = this.#grants();
    const usesOwn = network !== undefined && run.network !== false && !grants.named.has("services");
    const [secrets, enter] = await Promise.all([this.#secretFiles(), usesOwn ? network.enter(run.local !== true) : []]);
    const plan = planMounts(
      facts,
      grants,
      {
        repositories: this.#repositories(),
        secrets,
        sockets: socketPaths(),
        replaced: usesOwn ? network.replaced : [],
      },
      run,
    );
    const kept = keptVariables(grants.named);
    const removed = SERVICE_VARIABLES.filter((name) => !kept.has(name));
    return {
      wrapper: [...enter, ...render(plan, run.network !== false)],
      env: {
        ...Object.fromEntries(removed.map((name) => [name, undefined])),
        ...(usesOwn ? network.env : {}),
        TMPDIR: "/tmp",
      },
    };
  }

  /** Paths that do not exist now and must not appear without a question. */
  guard(): readonly string[] {
    return missingPaths(
      writableRoots(this.#parts.facts).flatMap((root) => RUN_BY_EDITORS.map((name) => join(root, name))),
    ).filter((path) => !isInside(path, this.#grants().write));
  }

  /** Moves files that appeared at guarded paths to the temporary folder; returns their paths. */
  holdCreated(guarded: readonly string[]): Promise<string[]> {
    return holdCreated(guarded, this.temp);
  }

  hostPath(path: string): string {
    const absolute = resolve(path);
    const { temp, home } = this.#parts.facts;
    const mounted = [...writableRoots(this.#parts.facts), ...this.#grants().read, ...this.#grants().write];
    if (isPathInside(absolute, "/tmp") && !isInside(absolute, [...mounted, temp, home]))
      return join(temp, absolute.slice("/tmp".length));
    return absolute;
  }

  belongsToHermes(path: string): boolean {
    const { hidden, readable, roots } = this.#parts.facts;
    // A workspace below the home of Hermes belongs to the user.
    const below = roots.filter((root) => isInside(root, hidden));
    return isInside(path, hidden) && !isInside(path, [...readable, ...below, ...this.#parts.credentials()]);
  }

  canWrite(path: string): boolean {
    const { facts } = this.#parts;
    const grants = this.#grants();
    if (isInside(path, grants.write)) return true;
    if (isInside(path, [facts.temp, "/dev", "/proc"])) return true;
    if (!isInside(path, writableRoots(facts)) || this.belongsToHermes(path)) return false;
    const repositories = this.#repositories();
    const kept = repositories.flatMap(({ protectedPaths, settings }) => [...protectedPaths, ...settings]);
    const editors = writableRoots(facts).flatMap((root) => RUN_BY_EDITORS.map((name) => join(root, name)));
    return !isInside(path, [...kept, ...editors]) && this.canRead(path);
  }

  canRead(path: string): boolean {
    const { facts, isSecret } = this.#parts;
    const grants = this.#grants();
    const opened = [...grants.read, ...grants.write, ...facts.readable];
    if (isInside(path, opened) || isInside(path, [facts.temp]) || path === facts.home) return true;
    const name = path.slice(path.lastIndexOf("/") + 1);
    if (this.belongsToHermes(path)) return false;
    if (isSecret(path) || this.#secrets?.paths.includes(path)) return false;
    if (isInside(path, writableRoots(facts))) return !isProjectEnv(name);
    if (isInside(path, hiddenFolders(facts)))
      return isInside(path, visibleInHome(facts)) && !isInside(path, facts.hidden);
    return !isInside(path, ["/run", "/var/tmp"]);
  }

  has(permission: Permission): boolean {
    const grants = this.#grants();
    if (permission.kind === "read") return isInside(permission.path, [...grants.read, ...grants.write]);
    if (permission.kind === "write") return isInside(permission.path, grants.write);
    const text = formatPermission(permission);
    if (this.#session.has(text) || this.#once.has(text)) return true;
    return permission.kind === "host" && grants.named.has("services");
  }

  async allow(permission: Permission, scope: PermissionScope): Promise<void> {
    this.#add(permission, scope === "once" ? this.#once : this.#session);
    if (scope === "project")
      await grantPermission(this.#parts.hermesHome, this.#parts.facts.roots[0] ?? "/", permission);
  }

  endCommand(): void {
    this.#once.clear();
  }

  missing(calls: readonly ProgramCall[]): readonly Need[] {
    const facts = {
      home: this.#parts.facts.home,
      env: this.#parts.facts.env,
      repositorySettings: this.#repositories().flatMap(({ settings }) => settings),
    };
    const found = new Map<string, Need>();
    for (const call of calls) {
      const need = needOf(call, facts);
      if (need && !this.has(need.permission)) found.set(formatPermission(need.permission), need);
    }
    return [...found.values()];
  }

  runsOutside(calls: readonly ProgramCall[]): boolean {
    return (
      calls.length > 0 &&
      calls.every(({ name }) => this.has({ kind: "outside", program: name.slice(name.lastIndexOf("/") + 1) }))
    );
  }

  areLocal(calls: readonly ProgramCall[]): boolean {
    return areLocal(calls);
  }

  changesSettings(calls: readonly ProgramCall[]): boolean {
    return changesPlainSettings(calls);
  }

  explainFailure(output: string, folders: readonly string[]): Need | undefined {
    const path = findDeniedPath(output, folders, {
      canRead: (at) => this.canRead(at),
      canWrite: (at) => this.canWrite(this.hostPath(at)),
    });
    if (path && "path" in path.permission && this.belongsToHermes(path.permission.path)) return undefined;
    if (path) return path;
    const host = this.#parts.network ? findDeniedHost(output) : undefined;
    return host && !this.has(host.permission) ? host : undefined;
  }

  async close(): Promise<void> {
    this.#parts.onClose();
    await this.#parts.network?.close();
    await rm(this.#parts.folder, { recursive: true, force: true });
  }
}
