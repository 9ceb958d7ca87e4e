// Rules for what the agent may write: names, paths, sizes, and a valid SKILL.md.
import { SUPPORT_FOLDERS } from "../find.ts";
import { MAX_DESCRIPTION, MAX_NAME, parseSkill } from "../parse.ts";

const NAME = /^[a-z0-9][a-z0-9._-]*$/;
export const MAX_CHARS = 100_000;
const MAX_FILE_BYTES = 1024 * 1024;

/** Each rule returns the problem, or undefined. */
export function nameMistake(name: string, what = "name"): string | undefined {
  if (name === "") return `${what} is missing`;
  if (name.length > MAX_NAME) return `${what} has ${name.length} characters; at most ${MAX_NAME}`;
  if (!NAME.test(name) || name.includes(".."))
    return `${what} "${name}" must be lower-case letters, digits, dots, hyphens and underscores, starting with a letter or digit`;
  return undefined;
}

export function filePathMistake(path: string): string | undefined {
  const parts = path.split("/");
  const folder = parts[0] ?? "";
  if (path === "") return "file_path is missing";
  if (path.includes("\\") || parts.some((part) => part === "" || part === "." || part === ".."))
    return `file_path "${path}" must be a plain relative path`;
  if (!SUPPORT_FOLDERS.includes(folder) || parts.length < 2)
    return `file_path "${path}" must name a file below ${SUPPORT_FOLDERS.map((name) => `${name}/`).join(", ")}`;
  return parts.some((part) => part.startsWith(".")) ? `file_path "${path}" must not name hidden files` : undefined;
}

export function fileContentMistake(content: string): string | undefined {
  if (content.length > MAX_CHARS) return `file_content has ${content.length} characters; at most ${MAX_CHARS}`;
  return Buffer.byteLength(content) > MAX_FILE_BYTES ? "file_content is larger than 1 MiB" : undefined;
}

export async function contentMistake(content: string): Promise<string | undefined> {
  if (content.trim() === "") return "content is missing: the whole SKILL.md, front matter and instructions";
  if (content.length > MAX_CHARS)
    return `content has ${content.length} characters; at most ${MAX_CHARS}. Move details to references/ with write_file.`;
  const { header, body, mistakes } = await parseSkill(content);
  const first = mistakes[0];
  if (first) return `line ${first.line}: ${first.message}. ${first.hint}`;
  if (header.name === undefined) return "the front matter has no name";
  if (header.description.length > MAX_DESCRIPTION) return `description is longer than ${MAX_DESCRIPTION} characters`;
  return body.trim() === "" ? "there are no instructions below the front matter" : undefined;
}
