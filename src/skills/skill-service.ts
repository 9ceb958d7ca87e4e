// The skills of one home: implements the `Skills` contract. The first use syncs the bundled skills.
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { UserError } from "../core/failure.ts";
import {
  type QuarantinedSkill,
  type SkillActivation,
  type SkillEntry,
  type SkillListing,
  type SkillRequest,
  type Skills,
  type SkillView,
  skillCommandName,
} from "../core/skill.ts";
import { gateContext, type ToolContext } from "../core/tool/tool.ts";
import { errorMessage } from "../lib/error-message.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { rememberNewest } from "../lib/remember-newest.ts";
import { activationText } from "./activation.ts";
import { syncWhenChanged } from "./bundled-stamp.ts";
import { readManifest } from "./bundled-sync.ts";
import { Catalog } from "./catalog.ts";
import { type Loaded, loadSkill } from "./load.ts";
import { locate } from "./locate.ts";
import { manageSkill } from "./manage/manage-skill.ts";
import { Quarantine } from "./manage/quarantine.ts";
import { promptIndex } from "./prompt-index.ts";
import { PromptIndexCache } from "./prompt-index-cache.ts";
import { Provenance } from "./provenance.ts";
import { searchSkills } from "./search.ts";
import type { SkillHost } from "./skill-host.ts";
import type { SkillPort } from "./skill-tools.ts";
import { SkillUsage } from "./usage.ts";
import { type Answer, type Library, resolveSkill, viewSkill } from "./view.ts";

/** The conversation that the tools belong to. */
export interface SkillSurface {
  readonly platform?: string | undefined;
  readonly local: boolean;
}

const MAX_LISTED = 100;
const MAX_FOUND = 10;
/** Limit of conversations with variables or files of skills; beyond it the least recently used lose them. */
const MAX_CONVERSATIONS = 2_000;

export class SkillService implements Skills {
  readonly #host: SkillHost;
  readonly #catalog: Catalog;
  readonly #library: Library;
  readonly #usage: SkillUsage;
  readonly #provenance: Provenance;
  readonly #quarantine: Quarantine;
  readonly #indexCache: PromptIndexCache;
  readonly #credentials = new Map<string, Set<string>>();
  readonly #declared = new Map<string, Map<string, string>>();
  #ready: Promise<void> | undefined;
  #known: ReadonlySet<string> = new Set();

  constructor(given: SkillHost) {
    this.#host = { ...given, declare: (id, name, value) => this.#declare(given, id, name, value) };
    const settings = () => this.#host.settings();
    this.#catalog = new Catalog({
      home: given.home,
      system: given.system,
      externalDirs: () => settings().externalDirs,
      pluginDirs: () => settings().pluginDirs,
      disabled: (platform) => settings().disabled(platform),
    });
    const skillsDir = this.#catalog.homeRoot;
    this.#library = { host: this.#host, catalog: this.#catalog, plugin: (namespace) => this.#plugin(namespace) };
    this.#usage = new SkillUsage(skillsDir, () => this.#foreignNames());
    this.#provenance = new Provenance(skillsDir);
    this.#quarantine = new Quarantine(skillsDir);
    this.#indexCache = new PromptIndexCache(given.home);
  }

  #declare(given: SkillHost, conversationId: string, name: string, value: string): boolean {
    if (!given.declare(conversationId, name, value)) return false;
    const names = this.#declared.get(conversationId) ?? new Map<string, string>();
    rememberNewest(this.#declared, conversationId, names.set(name, value), MAX_CONVERSATIONS);
    return true;
  }

  /** Bundled skills and skills from a hub. */
  async #foreignNames(): Promise<ReadonlySet<string>> {
    const skillsDir = this.#catalog.homeRoot;
    const lock = parseJson(await readFile(join(skillsDir, ".hub", "lock.json"), "utf8").catch(() => "{}"));
    const installed = (lock as { installed?: object | undefined } | undefined | null)?.installed ?? {};
    return new Set([...readManifest(skillsDir).keys(), ...Object.keys(installed)]);
  }

  /** Syncs the bundled skills once per process. A failure is reported and does not stop anything. */
  ready(): Promise<void> {
    const { bundled, bundledBuild, home } = this.#host;
    this.#ready ??= bundled
      ? syncWhenChanged(home, bundled, bundledBuild).catch((error: unknown) =>
          this.#host.notice(`bundled skills could not be updated: ${errorMessage(error)}`),
        )
      : Promise.resolve();
    return this.#ready;
  }

  async list(
    options: { readonly platform?: string | undefined; readonly everything?: boolean } = {},
  ): Promise<SkillListing> {
    await this.ready();
    return options.everything ? this.#catalog.all() : this.#catalog.usable(options.platform);
  }

  async index(view: SkillView): Promise<string> {
    await this.ready();
    const { toolNames, toolsets, platform = "" } = view;
    const off = [...this.#host.settings().disabled(view.platform)].sort();
    const key = [[...toolNames].sort(), [...toolsets].sort(), platform, off, this.#host.system];
    const roots = this.#catalog.roots().map((root) => root.path);
    const kept = await this.#indexCache.find(roots, key);
    if (kept !== undefined) return kept;
    const surveys = this.#catalog.surveys();
    const text = promptIndex(await this.#catalog.forIndex(surveys, view.platform), view);
    await this.#indexCache.keep(surveys, key, text);
    return text;
  }

  async commands(options: { readonly platform?: string | undefined } = {}): Promise<ReadonlyMap<string, SkillEntry>> {
    const { skills } = await this.list(options);
    const commands = new Map<string, SkillEntry>();
    for (const skill of skills) {
      const name = skillCommandName(skill.name);
      if (name !== "" && !commands.has(name)) commands.set(name, skill);
    }
    return commands;
  }

  #noteCredentials(conversationId: string, files: readonly string[]): void {
    const known = this.#credentials.get(conversationId) ?? new Set<string>();
    for (const file of files) {
      if (!known.has(file)) this.#host.protect(file);
      known.add(file);
    }
    rememberNewest(this.#credentials, conversationId, known, MAX_CONVERSATIONS);
  }

  async #load(name: string, request: SkillRequest): Promise<Loaded | Answer> {
    await this.ready();
    const plugin = this.#pluginFile(name);
    const byCommand = plugin ? undefined : (await this.commands(request)).get(skillCommandName(name));
    const skill = plugin ?? byCommand ?? (await resolveSkill(this.#library, name, request.platform));
    if ("fields" in skill) return skill;
    const loaded = await loadSkill(this.#host, skill, request, "skill");
    this.#noteCredentials(request.conversationId, loaded.setup.presentFiles);
    await this.#count(loaded.name, "use");
    return loaded;
  }

  /** Skills of plugins, named `namespace:name`. */
  #plugin(namespace: string): ReadonlyMap<string, string> | undefined {
    const prefix = `${namespace}:`;
    const own = this.#host.pluginSkills().filter((skill) => skill.name.startsWith(prefix));
    return own.length === 0 ? undefined : new Map(own.map((skill) => [skill.name.slice(prefix.length), skill.path]));
  }

  #pluginFile(name: string): { file: string; dir: string } | undefined {
    const [namespace = "", bare = ""] = name.split(":", 2);
    const file = this.#plugin(namespace)?.get(bare);
    return file ? { file, dir: dirname(file) } : undefined;
  }

  /** A failure to write usage counters is ignored. */
  async #count(name: string, ...kinds: readonly ("use" | "view")[]): Promise<void> {
    await this.#usage.bump(name, ...kinds).catch(() => undefined);
  }

  async activate(name: string, request: SkillRequest, instruction = ""): Promise<SkillActivation> {
    const loaded = await this.#load(name, request);
    if ("fields" in loaded) return { ok: false, error: String(loaded.fields.error), hint: "See: /skills" };
    return {
      ok: true,
      name: loaded.name,
      text: activationText(this.#host, loaded, "command", instruction),
      notes: setupNotes(loaded),
    };
  }

  async preload(names: readonly string[], request: SkillRequest): Promise<{ text: string; notes: readonly string[] }> {
    const texts: string[] = [];
    const notes: string[] = [];
    for (const name of names) {
      const loaded = await this.#load(name, request);
      if ("fields" in loaded) throw new UserError(String(loaded.fields.error), { hint: "See: hermes skills list" });
      texts.push(activationText(this.#host, loaded, "preload"));
      notes.push(...setupNotes(loaded));
    }
    return { text: texts.join("\n\n"), notes };
  }

  passthrough(conversationId: string): { readonly [name: string]: string } {
    return Object.fromEntries(this.#declared.get(conversationId) ?? []);
  }

  credentialFiles(conversationId: string): readonly string[] {
    return [...(this.#credentials.get(conversationId) ?? [])];
  }

  async reload(): Promise<{ added: readonly string[]; removed: readonly string[]; total: number }> {
    this.#catalog.forget();
    const before = this.#known;
    const { skills } = await this.#catalog.usable();
    const now = new Set(skills.map((skill) => skill.name));
    this.#known = now;
    const first = before.size === 0;
    return {
      added: first ? [] : [...now].filter((name) => !before.has(name)),
      removed: [...before].filter((name) => !now.has(name)),
      total: now.size,
    };
  }

  quarantined(): Promise<readonly QuarantinedSkill[]> {
    return this.#quarantine.list();
  }

  quarantinedFiles(id: string): Promise<{ readonly [path: string]: string | null }> {
    return this.#quarantine.files(id);
  }

  async approve(id: string): Promise<{ readonly name: string; readonly dir: string }> {
    const put = await this.#quarantine.approve(id, {
      homeRoot: this.#catalog.homeRoot,
      roots: this.#catalog.roots().map((root) => root.path),
      find: async (name) => {
        const found = await locate(this.#catalog, name);
        return found.kind === "found" && basename(found.file) === "SKILL.md" ? found.dir : undefined;
      },
    });
    await this.#provenance.note(put.name, {
      action: "approve",
      by: "person",
      at: new Date().toISOString(),
      session_id: "",
      tainted: false,
      verdict: "approved",
    });
    this.#catalog.forget();
    return put;
  }

  reject(id: string): Promise<void> {
    return this.#quarantine.reject(id);
  }

  /** The functions that the tools of one conversation call. */
  port(surface: SkillSurface): SkillPort {
    const requestFor = (context: ToolContext): SkillRequest => ({
      conversationId: context.conversationId,
      sessionId: context.sessionId,
      human: context.human,
      signal: context.signal,
      tainted: context.tainted,
      local: surface.local,
      platform: surface.platform || undefined,
    });
    return {
      listFor: (args) => this.#listFor(args, surface.platform),
      view: async (args, context) => {
        await this.ready();
        const answer = await viewSkill(this.#library, args, requestFor(context));
        if (answer.credentialFiles) this.#noteCredentials(context.conversationId, answer.credentialFiles);
        if (answer.used) await this.#count(answer.used, "view", "use");
        return answer;
      },
      manage: async (args, context) => {
        await this.ready();
        const gate = gateContext("skill_manage", context);
        const keeping = {
          library: this.#library,
          usage: this.#usage,
          provenance: this.#provenance,
          quarantine: this.#quarantine,
        };
        return manageSkill(keeping, args, { gate, by: context.depth > 0 ? "subagent" : "agent" });
      },
    };
  }

  async #listFor(
    args: { readonly category?: string | undefined; readonly query?: string },
    platform: string | undefined,
  ): Promise<Answer> {
    const { skills, problems } = await this.list({ platform: platform || undefined });
    const top = (skill: SkillEntry) => skill.category.split("/")[0] ?? skill.category;
    const inCategory = args.category
      ? skills.filter((skill) => skill.category === args.category || top(skill) === args.category)
      : skills;
    const found = args.query ? searchSkills(inCategory, args.query).slice(0, MAX_FOUND) : inCategory;
    const shown = found.slice(0, MAX_LISTED);
    const more = found.length - shown.length;
    return {
      ok: true,
      fields: {
        success: true,
        skills: shown.map(({ name, description, category }) => ({ name, description, category })),
        categories: [...new Set(skills.map((skill) => skill.category))],
        count: found.length,
        hint: more > 0 ? `${more} more: narrow down by category or query.` : "Load one with skill_view(name).",
        ...(problems.length > 0
          ? {
              problems: problems
                .slice(0, 10)
                .map((problem) => `${problem.file}:${problem.line} ${problem.message}. ${problem.hint}`),
            }
          : {}),
      },
    };
  }
}

function setupNotes(loaded: Loaded): string[] {
  const { setup } = loaded;
  return [
    ...(setup.note ? [`${loaded.name}: ${setup.note}`] : []),
    ...(setup.gatewayHint ? [setup.gatewayHint] : []),
    ...setup.refused.map((name) => `${loaded.name} may not use ${name}: it is a key of Hermes itself.`),
  ];
}
