// Writes config.yaml and keeps comments, order and `${NAME}` references: under a lock, atomically, readable by the owner only.
import { readFile } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../core/failure.ts";
import { atomicWrite } from "../lib/atomic-write.ts";
import { withFileLock } from "../lib/file-lock.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { withAt } from "../lib/json/tree-path.ts";
import type { Env } from "./expand.ts";
import { configPath } from "./load.ts";
import { restoreReferences } from "./restore.ts";
import { type ParsedYaml, parseYaml, type YamlDocument } from "./yaml-file.ts";

/** The fields of a home that writing uses. */
export interface WritableHome {
  readonly path: string;
  readonly env: Env;
  readonly managedBy: string | null;
}

export function refuseWhenManaged(home: WritableHome, what: string): void {
  if (home.managedBy === null) return;
  throw new UserError(`${what} cannot be changed here: this install is managed by ${home.managedBy}`, {
    hint: `Change it where ${home.managedBy} keeps its settings.`,
  });
}

/** The text of a file; empty when there is none. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function refuseWhenBroken(parsed: ParsedYaml, path: string): void {
  if (!parsed.problem) return;
  const { line, column } = parsed.problem;
  const place = line === undefined ? "" : ` (line ${line}, column ${column})`;
  throw new UserError(`${path} is not valid${place}; nothing was changed`, {
    hint: "Repair it first: hermes config edit, then hermes config check",
  });
}

/** False when lists are not indented below their key, as PyYAML writes them. */
function listsAreIndented(text: string): boolean {
  return !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text);
}

function detectLayout(text: string) {
  return { lineWidth: 0, indentSeq: listsAreIndented(text), flowCollectionPadding: /[[{] \S/.test(text) };
}

/** Reads the file under its lock and writes the result of `edit`. A broken file is never overwritten. */
async function editFile(
  home: WritableHome,
  edit: (text: string, parsed: ParsedYaml) => Promise<string>,
): Promise<void> {
  refuseWhenManaged(home, "The configuration");
  const path = configPath(home);
  await withFileLock(path, async () => {
    const text = await readText(path);
    const parsed = await parseYaml(text);
    refuseWhenBroken(parsed, path);
    const written = await edit(text, parsed);
    if (written !== text) await atomicWrite(path, written, 0o600);
  });
}

async function editDocument(home: WritableHome, edit: (parsed: ParsedYaml) => void): Promise<void> {
  await editFile(home, async (text, parsed) => {
    edit(parsed);
    return parsed.document.toString(detectLayout(text));
  });
}

/**
 * Replaces a single value within the text, so that every other byte stays. Undefined when the key does not exist, or when
 * the result would not parse to the new value.
 */
async function spliceValue(
  text: string,
  parsed: ParsedYaml,
  path: readonly string[],
  value: unknown,
): Promise<string | undefined> {
  const node = parsed.document.getIn([...path], true) as
    | { range?: [number, number, number]; items?: unknown }
    | undefined;
  if (!node?.range || node.items || (value !== null && typeof value === "object")) return undefined;
  const written = parsed.document.createNode(value);
  const holder = new parsed.Document({ k: written }, { version: "1.1" });
  const inline = holder.toString({ lineWidth: 0 }).replace(/^k: ?/, "").trimEnd();
  if (inline.includes("\n")) return undefined;
  const start = node.range[0];
  const spaced = start > 0 && text[start - 1] === ":" ? ` ${inline}` : inline;
  const result = text.slice(0, start) + spaced + text.slice(node.range[1]);
  const again = await parseYaml(result);
  return !again.problem && isDeepStrictEqual(again.tree, withAt(parsed.tree, path, value)) ? result : undefined;
}

function isCollection(node: unknown): boolean {
  return node !== null && typeof node === "object" && "items" in node;
}

/** Sets a value; single values on the path are replaced by maps. */
function setIn(document: YamlDocument, path: readonly string[], value: unknown): void {
  if (!isCollection(document.contents)) document.contents = document.createNode({}) as typeof document.contents;
  for (let depth = 1; depth < path.length; depth++) {
    const way = path.slice(0, depth);
    if (!isCollection(document.getIn(way, true))) document.setIn(way, document.createNode({}));
  }
  document.setIn([...path], document.createNode(value));
}

/** Keeps the node of a single value, so that its comment stays. */
function setKeeping(document: YamlDocument, path: readonly string[], value: unknown): void {
  const node = document.getIn([...path], true);
  const single = value === null || typeof value !== "object";
  if (single && node !== null && typeof node === "object" && "value" in node && !isCollection(node)) {
    document.setIn([...path], value);
  } else setIn(document, path, value);
}

/** Sets one key. */
export async function setConfigValue(home: WritableHome, path: readonly string[], value: unknown): Promise<void> {
  await editFile(home, async (text, parsed) => {
    const spliced = await spliceValue(text, parsed, path, value);
    if (spliced !== undefined) return spliced;
    setKeeping(parsed.document, path, value);
    return parsed.document.toString(detectLayout(text));
  });
}

/** Removes one key; no change when it is not there. */
export async function removeConfigValue(home: WritableHome, path: readonly string[]): Promise<void> {
  await editDocument(home, ({ document }) => {
    if (document.hasIn([...path])) document.deleteIn([...path]);
  });
}

type Tree = { readonly [key: string]: unknown };

function applyDifferences(document: YamlDocument, before: Tree, after: Tree, prefix: readonly string[]): void {
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) document.deleteIn([...prefix, key]);
  for (const [key, value] of Object.entries(after)) {
    const path = [...prefix, key];
    const old = Object.hasOwn(before, key) ? before[key] : undefined;
    if (isDeepStrictEqual(old, value)) continue;
    if (isRecord(old) && isRecord(value) && Object.keys(old).length > 0) applyDifferences(document, old, value, path);
    else setKeeping(document, path, value);
  }
}

/** Makes the file equal to `tree` (which may hold expanded values) and changes only what differs. */
export async function saveConfigTree(home: WritableHome, tree: Tree): Promise<void> {
  await editDocument(home, ({ document, tree: before }) => {
    const wanted = restoreReferences(tree, before, home.env) as Tree;
    if (!isCollection(document.contents)) document.contents = document.createNode({}) as typeof document.contents;
    applyDifferences(document, before, wanted, []);
  });
}
