// Parents and children of sessions: id resolution, compression tips, chains.
import { escapeLike, type StoreContext } from "./context.ts";

const MAX_TIP_HOPS = 100;
const MAX_RESUME_HOPS = 32;
const MAX_CHAIN = 100;

/** An exact id, or the only id that starts with the text; none or several give null. */
export function resolveSessionId({ db }: StoreContext, idOrPrefix: string): string | null {
  const exact = db.prepare<{ id: string }>("SELECT id FROM sessions WHERE id = ?").get(idOrPrefix);
  if (exact) return exact.id;
  const found = db
    .prepare<{ id: string }>("SELECT id FROM sessions WHERE id LIKE ? ESCAPE '\\' LIMIT 2")
    .all(`${escapeLike(idOrPrefix)}%`);
  return found.length === 1 ? (found[0]?.id ?? null) : null;
}

/** The continuations of a compacted session: children created after the parent was ended by compaction. */
export function getCompressionTip({ db }: StoreContext, id: string): string {
  const next = db.prepare<{ id: string }>(
    `SELECT child.id FROM sessions parent JOIN sessions child ON child.parent_session_id = parent.id
     WHERE parent.id = ? AND parent.end_reason = 'compression' AND child.started_at >= parent.ended_at
     ORDER BY child.started_at DESC, child.id DESC LIMIT 1`,
  );
  let tip = id;
  for (let hop = 0; hop < MAX_TIP_HOPS; hop++) {
    const child = next.get(tip);
    if (!child) break;
    tip = child.id;
  }
  return tip;
}

/** The session itself when it has messages, else its nearest newest descendant that has. */
export function resolveResumeSessionId({ db }: StoreContext, id: string): string {
  if (!id) return id;
  const hasMessages = db.prepare("SELECT 1 FROM messages WHERE session_id = ? LIMIT 1");
  const newestChild = db.prepare<{ id: string }>(
    "SELECT id FROM sessions WHERE parent_session_id = ? ORDER BY started_at DESC, id DESC LIMIT 1",
  );
  const seen = new Set<string>();
  let current = id;
  for (let hop = 0; hop <= MAX_RESUME_HOPS && !seen.has(current); hop++) {
    if (hasMessages.get(current)) return current;
    seen.add(current);
    const child = newestChild.get(current);
    if (!child) break;
    current = child.id;
  }
  return id;
}

/** Root first, the session itself last; empty for an unknown id. */
export function ancestors({ db }: StoreContext, id: string): string[] {
  const selectParent = db.prepare<{ parent: string | null }>(
    "SELECT parent_session_id AS parent FROM sessions WHERE id = ?",
  );
  const chain: string[] = [];
  const seen = new Set<string>();
  let current: string | null = id;
  while (current !== null && !seen.has(current) && chain.length < MAX_CHAIN) {
    const row: { parent: string | null } | undefined = selectParent.get(current);
    if (!row) break;
    seen.add(current);
    chain.push(current);
    current = row.parent;
  }
  return chain.reverse();
}

/** The session itself, then everything below it, level by level, older first; empty for an unknown id. */
export function descendants({ db }: StoreContext, id: string): string[] {
  const selectChildren = db.prepare<{ id: string }>(
    "SELECT id FROM sessions WHERE parent_session_id = ? ORDER BY started_at, id",
  );
  if (!db.prepare("SELECT 1 FROM sessions WHERE id = ?").get(id)) return [];
  const found = new Set([id]);
  // Iterating over a Set includes members that are added meanwhile, so this visits every level once.
  for (const parent of found) for (const child of selectChildren.all(parent)) found.add(child.id);
  return [...found];
}
