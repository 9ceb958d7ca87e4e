// Turns a found row into what the caller sees: snippet, and the messages around it.
import type { SearchHit } from "../../../core/store/session.ts";
import type { Database } from "../connection/driver.ts";
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

/** The readable passage, or, when the match is not in it, the tool name and arguments. */
export function buildSnippet(row: TextColumns, leaves: readonly Leaf[]): string {
  const snippet = makeSnippet(displayText(row), leaves);
  return snippet.includes(">>>") ? snippet : makeSnippet(searchableText(row), leaves);
}

/**
 * The content of `m`, cut by SQLite so that a megabyte of plain text costs nothing; structured content (its first
 * character is NUL) comes whole, or it could not be read.
 */
export const BRIEF = "CASE WHEN substr(m.content, 1, 1) = '' THEN m.content ELSE substr(m.content, 1, 200) END";

const BEFORE = `SELECT m.role, ${BRIEF} AS content FROM messages m
  WHERE m.session_id = ? AND (m.timestamp, m.id) < (?, ?) ORDER BY m.timestamp DESC, m.id DESC LIMIT 1`;
const AFTER = `SELECT m.role, ${BRIEF} AS content FROM messages m
  WHERE m.session_id = ? AND (m.timestamp, m.id) > (?, ?) ORDER BY m.timestamp, m.id LIMIT 1`;

interface Brief {
  readonly role: string;
  readonly content: TextColumns["content"];
}

export function isStructured(content: TextColumns["content"]): boolean {
  return typeof content === "string" && content.startsWith(CONTENT_SENTINEL);
}

function shorten({ role, content }: Brief): SearchHit["context"][number] {
  const text = displayText({ content, tool_name: null, tool_calls: null });
  if (text === "" && isStructured(content)) return { role, content: "[multimodal content]" };
  return { role, content: cut(text, CONTEXT_CHARACTERS) };
}

/** The message before, the match, the message after, in the same session. */
function readContext(db: Database, hit: HitColumns, content: TextColumns["content"]): SearchHit["context"] {
  const before = db.prepare<Brief>(BEFORE).get(hit.session_id, hit.timestamp, hit.id);
  const after = db.prepare<Brief>(AFTER).get(hit.session_id, hit.timestamp, hit.id);
  return [before, { role: hit.role, content }, after].filter((row) => row !== undefined).map(shorten);
}

/** `content` is that of the row itself, whole or brief. */
export function buildHit(
  db: Database,
  row: HitColumns,
  text: { readonly snippet: string | null; readonly content: TextColumns["content"] },
): SearchHit {
  return {
    id: row.id,
    session_id: row.session_id,
    role: row.role,
    snippet: text.snippet,
    timestamp: row.timestamp,
    tool_name: row.tool_name,
    source: row.source,
    model: row.model,
    session_started: row.session_started,
    context: readContext(db, row, text.content),
  };
}
