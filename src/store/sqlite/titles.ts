// Titles: cleaning, uniqueness and the numbered lineage "Name", "Name #2", "Name #3".
import { UserError } from "../../core/failure.ts";
import { escapeLike, type StoreContext } from "./context.ts";
import { getSessionByTitle } from "./sessions.ts";
import { SPACE, textLength, trim } from "./text.ts";

const MAX_TITLE = 100;
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing control characters is the purpose
const CONTROLS = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;
const INVISIBLE = /[\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufffc\ufff9-\ufffb]/g;
const SPACES = new RegExp(`[${SPACE}]+`, "g");
const NUMBERED = /^(.*?) #(\d+)$/s;

/** One clean line of at most 100 characters, or null for nothing; too long is an error. */
export function sanitizeTitle(title: string | null | undefined): string | null {
  if (!title) return null;
  const clean = trim(title.replace(CONTROLS, "").replace(INVISIBLE, "").replace(SPACES, " "));
  if (clean === "") return null;
  const length = textLength(clean);
  if (length > MAX_TITLE) {
    throw new UserError(`Title too long (${length} chars, max ${MAX_TITLE})`, { hint: "Use a shorter title." });
  }
  return clean;
}

/** True when a row was updated. A title that another session holds is refused; null clears. */
export function setSessionTitle({ db }: StoreContext, id: string, title: string | null): boolean {
  const clean = sanitizeTitle(title);
  if (clean !== null) {
    const holder = db.prepare<{ id: string }>("SELECT id FROM sessions WHERE title = ? AND id != ?").get(clean, id);
    if (holder) {
      throw new UserError(`Title '${clean}' is already in use by session ${holder.id}`, {
        hint: "Choose another title, or rename that session first.",
      });
    }
  }
  return db.prepare("UPDATE sessions SET title = ? WHERE id = ?").run(clean, id).changes > 0;
}

export function getSessionTitle({ db }: StoreContext, id: string): string | null {
  return db.prepare<{ title: string | null }>("SELECT title FROM sessions WHERE id = ?").get(id)?.title ?? null;
}

/** The most recently started numbered variant wins over the exact title. */
export function resolveSessionByTitle(context: StoreContext, title: string): string | null {
  const numbered = context.db
    .prepare<{ id: string }>(
      `SELECT id FROM sessions WHERE title IS NOT NULL AND title LIKE ? ESCAPE '\\' ORDER BY started_at DESC LIMIT 1`,
    )
    .get(`${escapeLike(title)} #%`);
  return numbered?.id ?? getSessionByTitle(context, title)?.id ?? null;
}

/** `base` itself while it is free, else `base #n` with the next number; the plain title counts as 1. */
export function getNextTitleInLineage({ db }: StoreContext, base: string): string {
  const root = NUMBERED.exec(base)?.[1] ?? base;
  const rows = db
    .prepare<{ title: string }>(
      "SELECT title FROM sessions WHERE title IS NOT NULL AND (title = ? OR title LIKE ? ESCAPE '\\')",
    )
    .all(root, `${escapeLike(root)} #%`);
  if (rows.length === 0) return root;
  let highest = 1n;
  for (const { title } of rows) {
    const number = BigInt(NUMBERED.exec(title)?.[2] ?? 1);
    if (number > highest) highest = number;
  }
  return `${root} #${highest + 1n}`;
}
