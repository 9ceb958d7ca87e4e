// Plans a change requested by the agent: which files of which skill change. Writes nothing.
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { JsonObject } from "../../core/message.ts";
import { locate } from "../locate.ts";
import { insideSkill, linkedFiles } from "../skill-files.ts";
import type { Library } from "../view.ts";
import { contentMistake, fileContentMistake, filePathMistake, nameMistake } from "./rules.ts";

export interface ManageArgs {
  readonly action: "create" | "edit" | "patch" | "delete" | "write_file" | "remove_file";
  readonly name: string;
  readonly content?: string | undefined;
  readonly category?: string | undefined;
  readonly old_string?: string | undefined;
  readonly new_string?: string | undefined;
  readonly replace_all?: boolean | undefined;
  readonly file_path?: string | undefined;
  readonly file_content?: string | undefined;
  readonly absorbed_into?: string | undefined;
}

export interface Plan {
  readonly action: ManageArgs["action"];
  readonly name: string;
  readonly dir: string;
  /** Relative path → new text; null removes the file. */
  readonly files: ReadonlyMap<string, string | null>;
  readonly message: string;
  readonly extra: JsonObject;
}

export type Planned = { readonly plan: Plan } | { readonly error: string; readonly extra?: JsonObject | undefined };

const SHOWN_ON_FAILURE = 500;

async function existing(
  library: Library,
  name: string,
): Promise<{ dir: string } | { error: string; extra: JsonObject }> {
  const found = await locate(library.catalog, name);
  if (found.kind === "ambiguous")
    return {
      error: `several skills are called "${name}"; use one of these paths as the name`,
      extra: { matches: found.matches.map((file) => file.replace(/\/SKILL\.md$/, "")) },
    };
  if (found.kind === "none")
    return { error: `there is no skill "${name}"`, extra: { available_skills: [...found.names] } };
  return basename(found.file) === "SKILL.md"
    ? { dir: found.dir }
    : { error: `"${name}" is a single file; only skills in a folder can be changed`, extra: {} };
}

async function create(library: Library, args: ManageArgs): Promise<Planned> {
  const { name, content = "", category = "" } = args;
  const mistake =
    nameMistake(name) ??
    (category === "" ? undefined : nameMistake(category, "category")) ??
    (await contentMistake(content));
  if (mistake) return { error: mistake };
  const dir = join(library.catalog.homeRoot, ...(category === "" ? [] : [category]), name);
  const taken = (await library.catalog.all()).skills.find((skill) => skill.folder === name || skill.name === name);
  if (taken || existsSync(dir))
    return { error: `a skill "${name}" already exists at ${taken?.dir ?? dir}; use edit or patch` };
  return {
    plan: {
      action: "create",
      name,
      dir,
      files: new Map([["SKILL.md", content]]),
      message: `Skill "${name}" is created.`,
      extra: {
        path: join(...(category === "" ? [] : [category]), name),
        skill_md: join(dir, "SKILL.md"),
        ...(category === "" ? {} : { category }),
        hint: `Add scripts or references with skill_manage(action="write_file", name="${name}", file_path="scripts/…").`,
      },
    },
  };
}

async function patch(library: Library, args: ManageArgs, dir: string): Promise<Planned> {
  const file = args.file_path ?? "SKILL.md";
  const bad = file === "SKILL.md" ? undefined : filePathMistake(file);
  if (bad) return { error: bad };
  if (!args.old_string) return { error: "patch needs old_string" };
  if (args.new_string === undefined) return { error: "patch needs new_string; an empty one deletes the passage" };
  const inside = insideSkill(dir, file);
  if (!inside.ok) return { error: inside.error };
  if (!existsSync(inside.path))
    return { error: `${file} is not in the skill`, extra: { available_files: linkedFiles(dir) } };
  const before = readFileSync(inside.path, "utf8");
  const change = await library.host.replace(before, {
    oldText: args.old_string,
    newText: args.new_string,
    all: args.replace_all ?? false,
  });
  if (!change.ok) return { error: change.error, extra: { file_preview: before.slice(0, SHOWN_ON_FAILURE) } };
  const mistake = file === "SKILL.md" ? await contentMistake(change.text) : fileContentMistake(change.text);
  if (mistake) return { error: `the patched ${file} would be invalid: ${mistake}` };
  const message = `${change.count} passage${change.count === 1 ? "" : "s"} of ${file} in "${args.name}" changed.`;
  return { plan: { action: "patch", name: args.name, dir, files: new Map([[file, change.text]]), message, extra: {} } };
}

function writeFile(args: ManageArgs, dir: string): Planned {
  const { file_path: file = "", file_content: content } = args;
  const mistake =
    filePathMistake(file) ?? (content === undefined ? "file_content is missing" : fileContentMistake(content));
  if (mistake || content === undefined) return { error: mistake ?? "" };
  const inside = insideSkill(dir, file);
  if (!inside.ok) return { error: inside.error };
  const message = `${file} of "${args.name}" is written.`;
  return {
    plan: {
      action: "write_file",
      name: args.name,
      dir,
      files: new Map([[file, content]]),
      message,
      extra: { path: inside.path },
    },
  };
}

function removeFile(args: ManageArgs, dir: string): Planned {
  const { file_path: file = "" } = args;
  const mistake = filePathMistake(file);
  if (mistake) return { error: mistake };
  const inside = insideSkill(dir, file);
  if (!inside.ok) return { error: inside.error };
  if (!existsSync(inside.path))
    return { error: `${file} is not in "${args.name}"`, extra: { available_files: linkedFiles(dir) } };
  const message = `${file} of "${args.name}" is removed.`;
  return { plan: { action: "remove_file", name: args.name, dir, files: new Map([[file, null]]), message, extra: {} } };
}

async function edit(args: ManageArgs, dir: string): Promise<Planned> {
  const { content = "" } = args;
  const mistake = await contentMistake(content);
  if (mistake) return { error: mistake };
  const message = `SKILL.md of "${args.name}" is replaced.`;
  return {
    plan: { action: "edit", name: args.name, dir, files: new Map([["SKILL.md", content]]), message, extra: {} },
  };
}

async function remove(library: Library, args: ManageArgs, dir: string): Promise<Planned> {
  const into = args.absorbed_into ?? "";
  if (into !== "") {
    if (into === args.name) return { error: "absorbed_into must be another skill" };
    if ((await locate(library.catalog, into)).kind !== "found")
      return { error: `absorbed_into: there is no skill "${into}"` };
  }
  const message =
    into === "" ? `Skill "${args.name}" is deleted.` : `Skill "${args.name}" is deleted; "${into}" replaces it.`;
  return {
    plan: {
      action: "delete",
      name: args.name,
      dir,
      files: new Map(),
      message,
      extra: into === "" ? {} : { absorbed_into: into },
    },
  };
}

/** Validates the request before approval and before anything is written. */
export async function planChange(library: Library, args: ManageArgs): Promise<Planned> {
  if (args.action === "create") return create(library, args);
  if (args.name.trim() === "") return { error: "name is missing" };
  const skill = await existing(library, args.name);
  if ("error" in skill) return skill;
  switch (args.action) {
    case "edit":
      return edit(args, skill.dir);
    case "patch":
      return patch(library, args, skill.dir);
    case "write_file":
      return writeFile(args, skill.dir);
    case "remove_file":
      return removeFile(args, skill.dir);
    case "delete":
      return remove(library, args, skill.dir);
  }
}
