// Lists every skill of a home: from the home's folder, external folders and plugins. Unchanged files are read once.
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SkillEntry, SkillListing, SkillProblem, SkillRoot } from "../core/skill.ts";
import { errorMessage } from "../lib/error-message.ts";
import { findIndexFiles, type IndexFile, type Survey, splitSkillPath, survey } from "./find.ts";
import { parseFrontMatter } from "./front-matter.ts";
import { inBatches } from "./in-batches.ts";
import { type ParsedSkill, parseSkill, runsOn } from "./parse.ts";
import { type IndexedSkill, readSnapshot, SNAPSHOT_FILE, type Snapshot, writeSnapshot } from "./snapshot.ts";

/** The front matter is at the start, so only this much of a file is read for a list. */
const HEAD_BYTES = 64 * 1024;
const PARALLEL = 32;
const MAX_INDEX_DESCRIPTION = 60;

export interface CatalogOptions {
  readonly home: string;
  /** Called for every list, because settings may change while the process runs. */
  externalDirs(): readonly string[];
  pluginDirs(): readonly string[];
  /** Names that are disabled on a platform. */
  disabled(platform: string | undefined): ReadonlySet<string>;
  /** `process.platform`. */
  readonly system: string;
}

interface CachedSkill {
  readonly mtimeNs: bigint;
  readonly size: number;
  readonly skill: ParsedSkill;
}

async function readHead(path: string): Promise<string> {
  const handle = await open(path, "r");
  try {
    const buffer = Buffer.alloc(HEAD_BYTES);
    const { bytesRead } = await handle.read(buffer, 0, HEAD_BYTES, 0);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** One line of at most 60 characters. */
export function shortDescription(description: string): string {
  const line = description.replaceAll(/\s+/g, " ").trim();
  return line.length > MAX_INDEX_DESCRIPTION ? `${line.slice(0, MAX_INDEX_DESCRIPTION - 3)}...` : line;
}

function unreadableSkill(error: unknown): ParsedSkill {
  return {
    header: {
      description: "",
      dependencies: [],
      allowedTools: [],
      platforms: [],
      tags: [],
      relatedSkills: [],
      conditions: { requires_toolsets: [], requires_tools: [], fallback_for_toolsets: [], fallback_for_tools: [] },
      settings: [],
      variables: [],
      credentialFiles: [],
      commands: [],
    },
    body: "",
    mistakes: [
      { line: 1, message: `the file cannot be read (${errorMessage(error)})`, hint: "Check its owner and mode." },
    ],
  };
}

export class Catalog {
  readonly #options: CatalogOptions;
  readonly #read = new Map<string, CachedSkill>();

  constructor(options: CatalogOptions) {
    this.#options = options;
  }

  get homeRoot(): string {
    return join(this.#options.home, "skills");
  }

  /** The home, then the user's external folders, then the folders of plugins; each folder once. */
  roots(): readonly SkillRoot[] {
    const { externalDirs, pluginDirs } = this.#options;
    const roots: SkillRoot[] = [
      { path: this.homeRoot, kind: "home" },
      ...externalDirs().map((path) => ({ path, kind: "external" as const })),
      ...pluginDirs().map((path) => ({ path, kind: "plugin" as const })),
    ];
    return roots.filter((root, index) => roots.findIndex((other) => other.path === root.path) === index);
  }

  forget(): void {
    this.#read.clear();
  }

  async #parse(file: IndexFile): Promise<ParsedSkill> {
    const known = this.#read.get(file.path);
    if (known && known.mtimeNs === file.mtimeNs && known.size === file.size) return known.skill;
    const skill = await readHead(file.path).then(parseSkill, unreadableSkill);
    this.#read.set(file.path, { mtimeNs: file.mtimeNs, size: file.size, skill });
    return skill;
  }

  async #scanRoot(
    root: SkillRoot,
    files: readonly IndexFile[],
  ): Promise<{ skills: SkillEntry[]; problems: SkillProblem[]; categories: Map<string, string> }> {
    const problems: SkillProblem[] = [];
    const categories = new Map<string, string>();
    const skills = await inBatches(
      files.filter((file) => file.rel.endsWith("SKILL.md")),
      PARALLEL,
      async (file): Promise<SkillEntry> => {
        const { header, mistakes } = await this.#parse(file);
        const { category, folder } = splitSkillPath(file.rel);
        for (const mistake of mistakes) problems.push({ file: file.path, ...mistake });
        return {
          name: header.name ?? folder,
          description: header.description,
          category,
          folder,
          dir: dirname(file.path),
          file: file.path,
          root,
          platforms: header.platforms,
          conditions: header.conditions,
        };
      },
    );
    for (const file of files.filter((candidate) => candidate.rel.endsWith("DESCRIPTION.md"))) {
      const { fields } = await readHead(file.path).then(parseFrontMatter, () => ({
        fields: {} as { readonly [key: string]: unknown },
      }));
      if (typeof fields.description === "string")
        categories.set(file.rel.split("/").slice(0, -1).join("/"), fields.description);
    }
    return { skills, problems: problems.sort((a, b) => (a.file < b.file ? -1 : 1)), categories };
  }

  /** All skills in the order of the roots, including disabled ones and duplicates. */
  async all(): Promise<SkillListing> {
    const skills: SkillEntry[] = [];
    const problems: SkillProblem[] = [];
    const categories = new Map<string, string>();
    for (const root of this.roots()) {
      const found = await this.#scanRoot(root, findIndexFiles(root.path));
      skills.push(...found.skills);
      problems.push(...found.problems);
      for (const [name, description] of found.categories) if (!categories.has(name)) categories.set(name, description);
    }
    return { skills, problems, categories };
  }

  /** The usable skills: the first of each name, for this system, not disabled; sorted by category and name. */
  async usable(platform?: string): Promise<SkillListing> {
    const listing = await this.all();
    const disabled = this.#options.disabled(platform);
    const seen = new Set<string>();
    const skills = listing.skills.filter((skill) => {
      if (seen.has(skill.name)) return false;
      seen.add(skill.name);
      return runsOn(skill.platforms, this.#options.system) && !disabled.has(skill.name);
    });
    return { ...listing, skills: skills.sort((a, b) => compare(a.category, b.category) || compare(a.name, b.name)) };
  }

  /** The entries of the home: from the snapshot when no file changed, otherwise read and stored again. */
  async #homeIndex(files: readonly IndexFile[]): Promise<Snapshot> {
    const path = join(this.#options.home, SNAPSHOT_FILE);
    const kept = await readSnapshot(path, files);
    if (kept) return kept;
    const scanned = await this.#scanRoot({ path: this.homeRoot, kind: "home" }, files);
    const snapshot = { skills: scanned.skills.map(indexed), categories: Object.fromEntries(scanned.categories) };
    // The snapshot is only a cache: when it cannot be written, the next run reads the files again.
    await writeSnapshot(path, files, snapshot).catch(() => undefined);
    return snapshot;
  }

  /** The current files and folders that the list depends on. */
  surveys(): Survey[] {
    return this.roots().map((root) => survey(root.path));
  }

  /** The skills for the prompt, before the conditions on tools are applied. */
  async forIndex(surveys: readonly Survey[], platform?: string): Promise<Snapshot> {
    const findFiles = (root: string) => surveys.find((one) => one.root === root)?.files ?? [];
    const home = await this.#homeIndex(findFiles(this.homeRoot));
    const skills = [...home.skills];
    const categories = { ...home.categories };
    for (const root of this.roots().slice(1)) {
      const found = await this.#scanRoot(root, findFiles(root.path));
      skills.push(...found.skills.map(indexed));
      for (const [name, description] of found.categories) categories[name] ??= description;
    }
    const disabled = this.#options.disabled(platform);
    const seen = new Set<string>();
    const kept = skills.filter((skill) => {
      if (seen.has(skill.frontmatter_name)) return false;
      seen.add(skill.frontmatter_name);
      if (disabled.has(skill.frontmatter_name) || disabled.has(skill.skill_name)) return false;
      return runsOn(skill.platforms, this.#options.system);
    });
    return { skills: kept, categories };
  }
}

export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function indexed(skill: SkillEntry): IndexedSkill {
  return {
    skill_name: skill.folder,
    category: skill.category,
    frontmatter_name: skill.name,
    description: shortDescription(skill.description),
    platforms: skill.platforms,
    conditions: skill.conditions,
  };
}
