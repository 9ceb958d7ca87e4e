// Parses the V4A patch format: one text that updates, adds, deletes or moves several files.

export interface Hunk {
  /** Text after `@@`, which helps to find the position. */
  readonly hint: string;
  readonly oldLines: readonly string[];
  readonly newLines: readonly string[];
}

export type PatchOperation =
  | {
      readonly kind: "update";
      readonly path: string;
      readonly hunks: readonly Hunk[];
      readonly moveTo?: string | undefined;
    }
  | { readonly kind: "add"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "move"; readonly path: string; readonly to: string };

export type ParsedPatch =
  | { readonly ok: true; readonly operations: readonly PatchOperation[] }
  | { readonly ok: false; readonly error: string };

const HEADER = /^\*\*\* (Update|Add|Delete|Move) File: (.+)$/;
const MOVE_TO = /^\*\*\* Move to: (.+)$/;

interface Section {
  readonly verb: string;
  readonly path: string;
  readonly body: string[];
  readonly line: number;
}

function splitSections(text: string): Section[] | string {
  const found: Section[] = [];
  for (const [index, line] of text.replaceAll("\r\n", "\n").split("\n").entries()) {
    if (/^\*\*\* (Begin|End) Patch\s*$/.test(line) || /^\*\*\* End of File\s*$/.test(line)) continue;
    const header = HEADER.exec(line);
    if (header) found.push({ verb: header[1] ?? "", path: (header[2] ?? "").trim(), body: [], line: index + 1 });
    else if (found.length > 0) found[found.length - 1]?.body.push(line);
    else if (line.trim() !== "")
      return `line ${index + 1}: expected "*** Update File: …", "*** Add File: …", "*** Delete File: …" or "*** Move File: a -> b"`;
  }
  return found;
}

function parseHunks(section: Section): Hunk[] | string {
  const hunks: { hint: string; oldLines: string[]; newLines: string[] }[] = [];
  for (const [index, line] of section.body.entries()) {
    if (MOVE_TO.test(line)) continue;
    if (line.startsWith("@@")) {
      hunks.push({
        hint: line
          .replace(/^@@\s?/, "")
          .replace(/\s?@@$/, "")
          .trim(),
        oldLines: [],
        newLines: [],
      });
      continue;
    }
    if (hunks.length === 0) {
      if (line.trim() === "") continue;
      hunks.push({ hint: "", oldLines: [], newLines: [] });
    }
    const hunk = hunks[hunks.length - 1];
    const rest = line.slice(1);
    if (line.startsWith("+")) hunk?.newLines.push(rest);
    else if (line.startsWith("-")) hunk?.oldLines.push(rest);
    else if (line.startsWith(" ") || line === "") {
      hunk?.oldLines.push(rest);
      hunk?.newLines.push(rest);
    } else return `${section.path}, line ${section.line + index + 1}: a hunk line starts with a space, + or -`;
  }
  for (const hunk of hunks) dropTrailingBlank(hunk);
  return hunks.filter((hunk) => hunk.oldLines.length > 0 || hunk.newLines.length > 0);
}

/** Removes blank lines at the end, which separate sections and are not context. */
function dropTrailingBlank(hunk: { oldLines: string[]; newLines: string[] }): void {
  while (
    hunk.oldLines.length > 0 &&
    hunk.oldLines[hunk.oldLines.length - 1] === "" &&
    hunk.newLines[hunk.newLines.length - 1] === ""
  ) {
    hunk.oldLines.pop();
    hunk.newLines.pop();
  }
}

function addedContent(section: Section): string | null {
  const lines = [...section.body];
  while (lines.length > 0 && lines[lines.length - 1] === "") lines.pop();
  if (lines.some((line) => line !== "" && !line.startsWith("+"))) return null;
  return lines.length === 0 ? "" : `${lines.map((line) => line.slice(1)).join("\n")}\n`;
}

function parseOperation(section: Section): PatchOperation | string {
  if (section.verb === "Delete") return { kind: "delete", path: section.path };
  if (section.verb === "Move") {
    const [from, to] = section.path.split(" -> ").map((part) => part.trim());
    return from && to
      ? { kind: "move", path: from, to }
      : `line ${section.line}: a move is written "*** Move File: from -> to"`;
  }
  if (section.verb === "Add") {
    const content = addedContent(section);
    return content === null
      ? `${section.path}: every line of an added file starts with +`
      : { kind: "add", path: section.path, content };
  }
  const hunks = parseHunks(section);
  if (typeof hunks === "string") return hunks;
  const moveTo = section.body.map((line) => MOVE_TO.exec(line)?.[1]?.trim()).find(Boolean);
  if (hunks.length === 0 && !moveTo) return `${section.path}: the update has no hunk`;
  return { kind: "update", path: section.path, hunks, moveTo };
}

export function parsePatch(text: string): ParsedPatch {
  const found = splitSections(text);
  if (typeof found === "string") return { ok: false, error: found };
  if (found.length === 0) return { ok: false, error: "the patch names no file" };
  const operations: PatchOperation[] = [];
  for (const section of found) {
    const operation = parseOperation(section);
    if (typeof operation === "string") return { ok: false, error: operation };
    operations.push(operation);
  }
  return { ok: true, operations };
}
