// Turns a found row into what the caller sees: snippet, and the messages around it.
import type { SearchHit } from "../../../core/session.ts";
import type { Database } from "../driver.ts";
import { CONTENT_SENTINEL } from "../encoding.ts";
import { cut } from "../text.ts";
import type { Leaf } from "./parse-query.ts";
import { displayText, searchableText, type TextColumns } from "./row-text.ts";
import { makeSnippet } from "./snippet.ts";

const CONTEXT_CHARACTERS = 200;

/** The fields of a hit that come straight from the tables `m` and `s`. */
export const HIT_COLUMNS =
  "m.id, m.session_id, m.role, m.timestamp, m.tool_name, s.source, s.model, s.started_at AS session_started";

export type HitColumns = Omit<SearchHit, "snippet" | "context">;

export interface FullRow extends HitColumns, TextColumns {
  readonly tool_name: string | null;
}

export function readRow(db: Database, id: number): FullRow | undefined {
  return db
    .prepare<FullRow>(
      `SELECT ${HIT_COLUMNS}, m.content, m.tool_calls FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.id = ?`,
    )
    .get(id);
}

/** The passage a person would read, or, when the match is not in it, the tool name and arguments. */
export function snippetOf(row: TextColumns, leaves: readonly Leaf[]): string {
  const snippet = makeSnippet(displayText(row), leaves);
  return snippet.includes(">>>") ? snippet : makeSnippet(searchableText(row), leaves);
}

// Long plain text is cut by SQLite, so that a neighbour of a megabyte costs nothing; structured content (first
// character NUL) must come whole to be read.
const BRIEF = "CASE WHEN substr(content, 1, 1) = '' THEN content ELSE substr(content, 1, 200) END AS content";
const AROUND = {
  before: `SELECT role, ${BRIEF} FROM messages WHERE session_id = ? AND (timestamp, id) < (?, ?) ORDER BY timestamp DESC, id DESC LIMIT 1`,
  after: `SELECT role, ${BRIEF} FROM messages WHERE session_id = ? AND (timestamp, id) > (?, ?) ORDER BY timestamp, id LIMIT 1`,
  itself: `SELECT role, ${BRIEF} FROM messages WHERE id = ?`,
};

interface Brief {
  readonly role: string;
  readonly content: TextColumns["content"];
}

function briefOf(row: Brief): SearchHit["context"][number] {
  const { content } = row;
  const structured = typeof content === "string" && content.startsWith(CONTENT_SENTINEL);
  const text = displayText({ content, tool_name: null, tool_calls: null });
  return {
    role: row.role,
    content: structured && text === "" ? "[multimodal content]" : cut(text, CONTEXT_CHARACTERS),
  };
}

/** The message before, the match, the message after, in the same session. */
function contextOf(db: Database, hit: HitColumns): SearchHit["context"] {
  const place = [hit.session_id, hit.timestamp, hit.id] as const;
  const rows = [
    db.prepare<Brief>(AROUND.before).get(...place),
    db.prepare<Brief>(AROUND.itself).get(hit.id),
    db.prepare<Brief>(AROUND.after).get(...place),
  ];
  return rows.filter((row) => row !== undefined).map(briefOf);
}

export function hitOf(db: Database, row: HitColumns, snippet: string | null): SearchHit {
  return {
    id: row.id,
    session_id: row.session_id,
    role: row.role,
    snippet,
    timestamp: row.timestamp,
    tool_name: row.tool_name,
    source: row.source,
    model: row.model,
    session_started: row.session_started,
    context: contextOf(db, row),
  };
}
