// The files of a fetched skill, and the rules for their paths.
import type { JsonObject } from "../../core/message.ts";
import { truncate } from "../../lib/text/truncate.ts";
import type { TrustLevel } from "../guard/policy.ts";
import { HubRefusal, LIMITS } from "./refusal.ts";

export interface BundleFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly mode?: number | undefined;
}

/** An unchecked entry of an archive or a listing. */
export interface RawEntry {
  readonly path: string;
  readonly kind: "file" | "folder" | "link" | "special";
  readonly bytes: Uint8Array;
  readonly mode?: number | undefined;
}

/** A fetched skill: its paths are checked, its content is not. */
export interface Bundle {
  readonly name: string;
  readonly source: string;
  /** The identifier that fetches it again. */
  readonly identifier: string;
  readonly trust: TrustLevel;
  readonly category?: string | undefined;
  readonly files: readonly BundleFile[];
  /** The exact origin: URL and revision. Stored in the lock file. */
  readonly origin: JsonObject;
}

const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;
/** Control, format, private-use and unassigned characters, odd spaces, variation selectors. */
const HIDDEN =
  /[\p{C}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u115f\u1160]|\u034f|\u17b4|\u17b5|[\ufe00-\ufe0f]/u;

function partMistake(part: string): string | undefined {
  if (part === "") return "has an empty part";
  if (part === "." || part === "..") return "points outside its folder";
  if (/[<>:"|?*]/.test(part)) return "has characters that some systems forbid";
  if (/[. ]$/.test(part) || part.startsWith(" ")) return "has a part that begins or ends in a space or dot";
  if (RESERVED.test(part)) return "has a name that some systems reserve";
  return part.toLowerCase() === ".git" ? "is inside .git" : undefined;
}

/** The problem with an untrusted path; undefined when it is safe to write below a folder. */
export function pathMistake(path: string): string | undefined {
  if (path === "") return "is empty";
  if (path.length > LIMITS.path) return `is longer than ${LIMITS.path} characters`;
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return "is absolute";
  if (HIDDEN.test(path)) return "has invisible characters";
  if (path !== path.normalize("NFC")) return "is not in Unicode form NFC";
  const parts = path.split("/");
  if (parts.length > LIMITS.depth) return `is more than ${LIMITS.depth} folders deep`;
  for (const part of parts) {
    const mistake = partMistake(part);
    if (mistake) return mistake;
  }
  return undefined;
}

/** A path for messages, with invisible characters escaped. */
export function visiblePath(path: string): string {
  const visible = path.replaceAll(new RegExp(HIDDEN, "gu"), (char) => `<U+${(char.codePointAt(0) ?? 0).toString(16)}>`);
  return truncate(visible, 120);
}

/** `./a\b` → `a/b`; folders lose their trailing slash. */
export function normalizePath(path: string): string {
  return path
    .replaceAll("\\", "/")
    .replace(/^(?:\.\/)+/, "")
    .replace(/\/$/, "");
}

/** Decodes the percent encoding of a URL. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HubRefusal(`refused: "${visiblePath(text)}" is not a valid URL`);
  }
}

function refuse(path: string, why: string): never {
  throw new HubRefusal(`refused: the path "${visiblePath(path)}" ${why}`);
}

function checkSizes(files: readonly BundleFile[]): void {
  if (files.length > LIMITS.files) throw new HubRefusal(`refused: more than ${LIMITS.files} files`);
  let total = 0;
  for (const file of files) {
    if (file.bytes.length > LIMITS.file) refuse(file.path, `has ${file.bytes.length} bytes; at most ${LIMITS.file}`);
    total += file.bytes.length;
  }
  if (total > LIMITS.total) throw new HubRefusal(`refused: ${total} bytes in all; at most ${LIMITS.total}`);
}

/** Two names that are equal on some file systems, or a file where a folder is needed. */
function checkCollisions(files: readonly BundleFile[]): void {
  const folded = (path: string) => path.normalize("NFKC").toLowerCase();
  const seen = new Set<string>();
  const folders = new Map<string, string>();
  for (const { path } of files) {
    const key = folded(path);
    if (seen.has(key)) refuse(path, "occurs twice, or differs from another path only by letter case");
    seen.add(key);
    const parts = path.split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const folder = parts.slice(0, depth).join("/");
      const known = folders.get(folded(folder));
      if (known !== undefined && known !== folder) refuse(path, "differs from another folder only by letter case");
      folders.set(folded(folder), folder);
    }
  }
  for (const { path } of files) if (folders.has(folded(path))) refuse(path, "is a file and a folder");
}

/** Checks that paths are safe and unique, without links and devices, and within the limits; throws HubRefusal otherwise. */
export function checkFiles(entries: readonly RawEntry[]): BundleFile[] {
  const files: BundleFile[] = [];
  for (const entry of entries) {
    const path = normalizePath(entry.path);
    if (entry.kind === "folder" && path === "") continue;
    const mistake = pathMistake(path);
    if (mistake) refuse(entry.path, mistake);
    if (entry.kind === "link") refuse(entry.path, "is a link");
    if (entry.kind === "special") refuse(entry.path, "is not a regular file");
    if (entry.kind === "file") files.push({ path, bytes: entry.bytes, mode: entry.mode });
  }
  checkSizes(files);
  checkCollisions(files);
  return files;
}

/** The skill folder of an archive: the named one, otherwise the only topmost folder with a SKILL.md. */
export function skillFolder(files: readonly BundleFile[], wanted?: string): BundleFile[] {
  const folders = files
    .filter((file) => file.path === "SKILL.md" || file.path.endsWith("/SKILL.md"))
    .map((file) => file.path.slice(0, -"SKILL.md".length));
  const depth = (folder: string) => folder.split("/").length;
  const nearest = Math.min(...folders.map(depth));
  const folderName = wanted?.replaceAll(/^\/+|\/+$/g, "");
  const matching = folderName
    ? folders.filter((folder) => folder === `${folderName}/` || folder.endsWith(`/${folderName}/`))
    : folders.filter((folder) => depth(folder) === nearest);
  const [folder] = matching;
  if (folder === undefined)
    throw new HubRefusal(`there is no SKILL.md in it${folderName ? ` below "${folderName}"` : ""}`);
  if (matching.length > 1)
    throw new HubRefusal(
      `there are several skills in it: ${matching.map((name) => name.slice(0, -1)).join(", ")}`,
      "Choose one by adding #FOLDER to the URL.",
    );
  return files
    .filter((file) => file.path.startsWith(folder))
    .map((file) => ({ ...file, path: file.path.slice(folder.length) }));
}
