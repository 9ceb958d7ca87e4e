// The session list: visible rows with preview and last activity, compression chains shown by their tip.
import type { ListOptions, SessionSummary } from "../../core/store/session.ts";
import { consistent, type SqlValue } from "./connection/driver.ts";
import { marks, type StoreContext } from "./context.ts";
import { decodeContent, readableText } from "./encoding.ts";
import { getCompressionTip } from "./lineage.ts";
import { SUMMARY_COLUMNS, TENANT } from "./sessions.ts";
import { cut, textLength, trim } from "./text.ts";

const PREVIEW = 60;
/** JavaScript numbers are bound as reals, and a real LIMIT makes SQLite work a third longer. */
const PAGE = "LIMIT CAST(? AS INTEGER) OFFSET CAST(? AS INTEGER)";

const FIRST_USER = `FROM messages m WHERE m.session_id = s.id AND m.role = 'user' AND m.content IS NOT NULL
  ORDER BY m.timestamp, m.id LIMIT 1`;
const LAST_ACTIVE = `COALESCE((SELECT MAX(m.timestamp) FROM messages m WHERE m.session_id = s.id), s.started_at)`;
const SUMMARY = `${SUMMARY_COLUMNS.map((name) => `s.${name}`).join(", ")},
  (SELECT substr(replace(replace(m.content, char(10), ' '), char(13), ' '), 1, 63) ${FIRST_USER}) AS preview`;

/** A branch stays in the list when the session that it came from is resumed, which clears its end. */
const VISIBLE = `(s.parent_session_id IS NULL OR EXISTS (
  SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id
    AND p.end_reason = 'branched' AND s.started_at >= p.ended_at)
  OR s.model_config LIKE '%"_branched_from"%')`;

type RawSummary = Omit<SessionSummary, "preview"> & { preview: SqlValue };

interface Filter {
  readonly where: string;
  readonly params: SqlValue[];
}

function buildFilter(options: ListOptions): Filter {
  const clauses: string[] = [];
  const params: SqlValue[] = [];
  if (!options.includeChildren) clauses.push(VISIBLE);
  if (options.source !== undefined) {
    clauses.push("s.source = ?");
    params.push(options.source);
  }
  if (options.excludeSources && options.excludeSources.length > 0) {
    clauses.push(`s.source NOT IN (${marks(options.excludeSources)})`);
    params.push(...options.excludeSources);
  }
  if (options.userId !== undefined) {
    clauses.push(`${TENANT} = ?`);
    params.push(options.userId);
  }
  return { where: clauses.length > 0 ? `WHERE ${clauses.join(" AND ")}` : "", params };
}

function shorten(text: string): string {
  const clean = trim(text);
  return clean.length <= PREVIEW || textLength(clean) <= PREVIEW ? clean : `${cut(clean, PREVIEW)}...`;
}

/** SQL text functions stop at the NUL of structured content, so such a preview is made here. */
function structuredPreview({ db, notice }: StoreContext, sessionId: string): string {
  const row = db.prepare<{ content: SqlValue }>(`SELECT m.content ${FIRST_USER.replace("s.id", "?")}`).get(sessionId);
  if (!row) return "";
  return shorten(cut(readableText(decodeContent(row.content, notice)).replace(/[\r\n]/g, " "), 63));
}

function finish(context: StoreContext, row: RawSummary): SessionSummary {
  const raw = row.preview === null ? null : String(row.preview);
  const preview = raw === null ? "" : raw === "" ? structuredPreview(context, row.id) : shorten(raw);
  // In place: copying thirty columns would cost more than reading them.
  const summary = row as { preview: string };
  summary.preview = preview;
  return summary as SessionSummary;
}

/** One row of the list by id. */
export function readSummary(context: StoreContext, id: string): SessionSummary | null {
  const row = context.db
    .prepare<RawSummary>(`SELECT ${SUMMARY}, ${LAST_ACTIVE} AS last_active FROM sessions s WHERE s.id = ?`)
    .get(id);
  return row ? finish(context, row) : null;
}

function byStart(context: StoreContext, filter: Filter, page: [number, number]): RawSummary[] {
  // `+` before the source keeps the query on the index by start time, so that a page reads only its rows.
  const where = filter.where.replace("s.source = ?", "+s.source = ?");
  return context.db
    .prepare<RawSummary>(
      `SELECT ${SUMMARY}, ${LAST_ACTIVE} AS last_active FROM sessions s ${where}
       ORDER BY s.started_at DESC ${PAGE}`,
    )
    .all(...filter.params, ...page);
}

const CHAIN_ACTIVITY = (where: string): string => `
  WITH RECURSIVE chain(root, id, depth) AS (
    SELECT s.id, s.id, 0 FROM sessions s ${where}
    UNION ALL
    SELECT chain.root, child.id, chain.depth + 1
    FROM chain JOIN sessions parent ON parent.id = chain.id
    JOIN sessions child ON child.parent_session_id = parent.id
    WHERE parent.end_reason = 'compression' AND child.started_at >= parent.ended_at AND chain.depth < 100
  ), ranked AS (
    SELECT chain.root AS root, MAX(${LAST_ACTIVE}) AS activity
    FROM chain JOIN sessions s ON s.id = chain.id GROUP BY chain.root
  ), page AS (
    SELECT ranked.root, ranked.activity, r.started_at FROM ranked JOIN sessions r ON r.id = ranked.root
    ORDER BY ranked.activity DESC, r.started_at DESC, r.id DESC ${PAGE}
  )
  SELECT ${SUMMARY}, ${LAST_ACTIVE} AS last_active FROM page JOIN sessions s ON s.id = page.root
  ORDER BY page.activity DESC, s.started_at DESC, s.id DESC`;

function project(context: StoreContext, root: SessionSummary): SessionSummary {
  if (root.end_reason !== "compression") return root;
  const tipId = getCompressionTip(context, root.id);
  const tip = tipId === root.id ? null : readSummary(context, tipId);
  if (!tip) return root;
  const { id, ended_at, end_reason, message_count, tool_call_count, title, last_active, preview, model } = tip;
  const fromTip = { id, ended_at, end_reason, message_count, tool_call_count, title, last_active, preview, model };
  return { ...root, ...fromTip, _lineage_root_id: root.id };
}

export function listSessions(context: StoreContext, options: ListOptions = {}): SessionSummary[] {
  const projecting = !options.includeChildren && (options.projectCompressionTips ?? true);
  const rows = readList(context, options);
  if (!projecting || !rows.some((row) => row.end_reason === "compression")) return rows;
  // Chains need further statements, so the list is read again in one transaction.
  return consistent(context.db, () => readList(context, options).map((row) => project(context, row)));
}

function readList(context: StoreContext, options: ListOptions): SessionSummary[] {
  const filter = buildFilter(options);
  const page: [number, number] = [options.limit ?? 20, options.offset ?? 0];
  const rows = options.orderByLastActive
    ? context.db.prepare<RawSummary>(CHAIN_ACTIVITY(filter.where)).all(...filter.params, ...page)
    : byStart(context, filter, page);
  return rows.map((row) => finish(context, row));
}

/** Sessions by latest activity, children included. */
export function searchSessions(
  context: StoreContext,
  options: { source?: string | undefined; limit?: number; offset?: number | undefined } = {},
): SessionSummary[] {
  const { where, params } = buildFilter({ includeChildren: true, ...options });
  return context.db
    .prepare<RawSummary>(
      `WITH page AS (
         SELECT s.id AS id, ${LAST_ACTIVE} AS activity, s.started_at AS started FROM sessions s ${where}
         ORDER BY activity DESC, started DESC, id DESC ${PAGE})
       SELECT ${SUMMARY}, page.activity AS last_active FROM page JOIN sessions s ON s.id = page.id
       ORDER BY page.activity DESC, s.started_at DESC, s.id DESC`,
    )
    .all(...params, options.limit ?? 20, options.offset ?? 0)
    .map((row) => finish(context, row));
}
