// Exports sessions, one at a time.
import type { ExportedSession } from "../../core/store/session.ts";
import { consistent } from "./connection/driver.ts";
import type { StoreContext } from "./context.ts";
import { getMessages } from "./messages.ts";
import { getSession } from "./sessions.ts";

export function exportSession(context: StoreContext, id: string): ExportedSession | null {
  return consistent(context.db, () => {
    const session = getSession(context, id);
    return session ? { ...session, messages: getMessages(context, id) } : null;
  });
}

export interface ExportEntry {
  readonly id: string;
  readonly last_active: number;
}

/** Latest activity first, but a parent always before its children, so that an import can link them as it reads. */
export function exportOrder({ db }: StoreContext, source?: string): ExportEntry[] {
  const rows = db
    .prepare<ExportEntry & { parent: string | null }>(
      `SELECT s.id AS id, s.parent_session_id AS parent,
         COALESCE((SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id), s.started_at) AS last_active
       FROM sessions s ${source === undefined ? "" : "WHERE s.source = ?"}
       ORDER BY last_active DESC, s.started_at DESC, s.id DESC`,
    )
    .all(...(source === undefined ? [] : [source]));
  const byId = new Map(rows.map((row) => [row.id, row]));
  const ordered = new Map<string, ExportEntry>();
  for (const row of rows) {
    const line: (typeof rows)[number][] = [];
    const walked = new Set<string>();
    for (
      let next: (typeof rows)[number] | undefined = row;
      next && !ordered.has(next.id) && !walked.has(next.id);
      next = next.parent === null ? undefined : byId.get(next.parent)
    ) {
      walked.add(next.id);
      line.push(next);
    }
    for (const { id, last_active } of line.reverse()) ordered.set(id, { id, last_active });
  }
  return [...ordered.values()];
}
