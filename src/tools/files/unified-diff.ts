// Changes of files as a unified diff.

export interface FileChange {
  readonly path: string;
  /** The path before a move. */
  readonly movedFrom?: string | undefined;
  /** Null for a file that did not exist. */
  readonly before: string | null;
  /** Null for a file that was deleted. */
  readonly after: string | null;
}

const NO_FILE = "/dev/null";
/** A comparison that takes longer shows the file as replaced. */
const TIMEOUT_MS = 2_000;
const DISPLAY_TIMEOUT_MS = 100;

function replaced({ path, before, after }: FileChange): string {
  const lines = (text: string | null) => (text === null || text === "" ? [] : text.replace(/\n$/, "").split("\n"));
  const [old, now] = [lines(before), lines(after)];
  const range = (count: number) => `${count === 0 ? 0 : 1},${count}`;
  return [
    `--- ${before === null ? NO_FILE : path}`,
    `+++ ${after === null ? NO_FILE : path}`,
    `@@ -${range(old.length)} +${range(now.length)} @@`,
    ...old.map((line) => `-${line}`),
    ...now.map((line) => `+${line}`),
    "",
  ].join("\n");
}

/** One diff per file, with three lines of context. */
export async function unifiedDiff(changes: readonly FileChange[], timeout = TIMEOUT_MS): Promise<string> {
  const { createTwoFilesPatch } = await import("diff");
  return changes
    .map((change) => {
      const { path, movedFrom, before, after } = change;
      const from = before === null ? NO_FILE : (movedFrom ?? path);
      const to = after === null ? NO_FILE : path;
      const options = { context: 3, timeout };
      const diff = createTwoFilesPatch(from, to, before ?? "", after ?? "", "", "", options);
      return diff?.replace(/^(Index: .*\n)?=+\n/, "") ?? replaced(change);
    })
    .join("\n");
}

/** The diff with paths relative to the folder, as a user reads them. */
export function withShortPaths(diff: string, folder: string): string {
  const inside = `${folder.replace(/\/$/, "")}/`;
  return diff.replaceAll(/^(?:---|\+\+\+) .*$/gm, (header) =>
    header.slice(4).startsWith(inside) ? header.slice(0, 4) + header.slice(4 + inside.length) : header,
  );
}

/** The largest text that is compared for the user's eyes only. */
const MAX_CHARS = 200_000;

/** The diff of a write; undefined when nothing changed or the files are too large to compare for a display. */
export async function writeDiff(change: FileChange): Promise<string | undefined> {
  const { before, after } = change;
  if (before === after || (before?.length ?? 0) + (after?.length ?? 0) > MAX_CHARS) return undefined;
  return before === null ? replaced(change) : unifiedDiff([change], DISPLAY_TIMEOUT_MS);
}
