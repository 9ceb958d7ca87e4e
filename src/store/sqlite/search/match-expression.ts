// A query as an FTS5 expression. Every word is quoted, so no input is a syntax error.
import { positiveLeaves, type Query } from "./parse-query.ts";

export function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

function wrapped(query: Query): string {
  return query.kind === "text" ? matchExpression(query) : `(${matchExpression(query)})`;
}

export function matchExpression(query: Query): string {
  if (query.kind === "text") return quoted(query.text) + (query.prefix ? " *" : "");
  if (query.kind === "not") return `${wrapped(query.keep)} NOT ${wrapped(query.drop)}`;
  return query.parts.map(wrapped).join(query.kind === "and" ? " AND " : " OR ");
}

/** The last resort for a query too deep for FTS5: all its words. */
export function flatExpression(query: Query): string {
  return positiveLeaves(query)
    .map((leaf) => quoted(leaf.text))
    .join(" AND ");
}
