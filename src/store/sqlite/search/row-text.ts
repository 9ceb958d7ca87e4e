// The text of a stored message as search sees it, also behind the NUL sentinel and inside JSON escapes.
import { CONTENT_SENTINEL, decodeContent, readableText } from "../encoding.ts";

export interface TextColumns {
  readonly content: string | number | Uint8Array | null;
  readonly tool_name: string | null;
  readonly tool_calls: string | null;
}

const ESCAPED = /\\u[0-9a-fA-F]{4}/;
/** Arguments of tools are JSON within JSON: their backslashes may be doubled. */
const ESCAPES = /\\+u([0-9a-fA-F]{4})/g;

/** JSON written in ASCII becomes readable. */
export function unescapeJson(json: string): string {
  return ESCAPED.test(json)
    ? json.replace(ESCAPES, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : json;
}

function contentText(content: TextColumns["content"]): string {
  if (content === null) return "";
  if (content instanceof Uint8Array) return new TextDecoder().decode(content);
  if (typeof content === "number") return String(content);
  if (content.startsWith(CONTENT_SENTINEL)) return unescapeJson(content.slice(CONTENT_SENTINEL.length));
  return content.includes("\u0000") ? content.replaceAll("\u0000", " ") : content;
}

/** Everything that can be found in the row: content, tool name, tool calls. */
export function searchableText(row: TextColumns): string {
  return `${contentText(row.content)} ${row.tool_name ?? ""} ${unescapeJson(row.tool_calls ?? "")}`;
}

/** The readable text of the row: structured content as its joined text parts. */
export function displayText(row: TextColumns): string {
  const { content } = row;
  if (typeof content !== "string" || !content.startsWith(CONTENT_SENTINEL)) return contentText(content);
  let broken = false;
  const decoded = decodeContent(content, () => {
    broken = true;
  });
  return broken ? contentText(content) : readableText(decoded);
}

/** The triggers of version 11 hand such text to an index that may stop at the NUL or sees only `\uXXXX`. */
export function isHiddenFromIndex(row: TextColumns): boolean {
  return (
    (typeof row.content === "string" && row.content.includes("\u0000")) ||
    (row.tool_calls !== null && ESCAPED.test(row.tool_calls))
  );
}
