// The tool that reads what compaction removed from the window: search the whole conversation, or read turns again.
import type { Static } from "typebox";
import { Type } from "../core/tool/schema.ts";
import { defineTool, jsonResult, type Tool, type ToolResult, toolError } from "../core/tool/tool.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { truncate, truncateMiddle } from "../lib/text/truncate.ts";
import { type LoggedTurn, type LogStore, readConversation, rowText } from "./conversation-log.ts";

const OUTPUT_CHARS = 12_000;
const TURN_CHARS = 1_500;
const HITS = 8;
const EXCERPT = 500;

const parameters = Type.Object({
  query: Type.Optional(Type.String({ description: "Words to search for in this conversation" })),
  from: Type.Optional(Type.Integer({ minimum: 1, description: "First turn to show" })),
  to: Type.Optional(Type.Integer({ minimum: 1, description: "Last turn to show; default: as many as fit" })),
  ids: Type.Optional(Type.Array(Type.Integer(), { maxItems: 20, description: "Message ids from a search" })),
  offset: Type.Optional(Type.Integer({ minimum: 0, description: "Character to start at, for one long turn" })),
});

type Args = Static<typeof parameters>;

/** The text of a turn with its calls. */
export function turnText({ row }: LoggedTurn): string {
  const calls = (row.tool_calls ?? []).map((call) => {
    const made = call as { function?: { name?: unknown; arguments?: unknown } } | null;
    return `[call ${String(made?.function?.name ?? "?")} ${String(made?.function?.arguments ?? "")}]`;
  });
  return [rowText(row), ...calls].filter((text) => text !== "").join("\n");
}

function head(turn: LoggedTurn) {
  const { row, number } = turn;
  return { turn: number, id: row.id, role: row.role, ...(row.tool_name === null ? {} : { tool: row.tool_name }) };
}

/** The passage of a text that contains most of the search words. */
function excerpt(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const at = words.map((word) => lower.indexOf(word)).filter((index) => index >= 0);
  const start = Math.max(0, Math.min(...(at.length > 0 ? at : [0])) - Math.floor(EXCERPT / 4));
  return `${start > 0 ? "…" : ""}${truncate(text.slice(start).trim(), EXCERPT)}`;
}

const splitWords = (query: string) => [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_.-]{2,}/gu) ?? [])];

/** Without the index: turns ranked by the number of search words they contain, newer ones first among equals. */
export function rankTurns(turns: readonly LoggedTurn[], words: readonly string[]): LoggedTurn[] {
  if (words.length === 0) return [];
  const scored = turns.map((turn) => {
    const text = turnText(turn).toLowerCase();
    return { turn, score: words.filter((word) => text.includes(word)).length };
  });
  return scored
    .filter((entry) => entry.score > 0)
    .sort((a, b) => b.score - a.score || b.turn.number - a.turn.number)
    .map((entry) => entry.turn);
}

/** Hits of the index first, then turns that contain some of the search words. */
export async function searchConversation(
  store: LogStore,
  turns: readonly LoggedTurn[],
  query: string,
): Promise<LoggedTurn[]> {
  const byId = new Map(turns.map((turn) => [turn.row.id, turn]));
  const sessionIds = [...new Set(turns.map((turn) => turn.row.session_id))];
  const found = new Set<LoggedTurn>();
  const { hits } = await store.searchMessages(query, { sessionIds, limit: HITS * 3 });
  for (const hit of hits) {
    const turn = byId.get(hit.id);
    if (turn !== undefined) found.add(turn);
  }
  for (const turn of rankTurns(turns, splitWords(query))) {
    if (found.size >= HITS) break;
    found.add(turn);
  }
  return [...found].slice(0, HITS);
}

async function search(store: LogStore, turns: readonly LoggedTurn[], query: string): Promise<ToolResult> {
  const words = splitWords(query);
  const hits = await searchConversation(store, turns, query);
  if (hits.length === 0) {
    return jsonResult({
      hits: [],
      turns: turns.length,
      hint: "Nothing found: try other words, or read turns with from and to.",
    });
  }
  const shown = hits.map((turn) => ({ ...head(turn), text: excerpt(turnText(turn), words) }));
  return jsonResult({ hits: shown, turns: turns.length, hint: "Use ids or from/to to read a turn in full." });
}

/** Turns in full while they fit; a single turn can be read in pieces. */
function show(turns: readonly LoggedTurn[], offset: number): ToolResult {
  const shown: { [key: string]: string | number }[] = [];
  let used = 0;
  for (const [index, turn] of turns.entries()) {
    const text = turnText(turn);
    const room = turns.length === 1 ? OUTPUT_CHARS : TURN_CHARS;
    const piece =
      turns.length === 1
        ? text.slice(offset, offset + room)
        : truncateMiddle(text, room, `[… read turn ${turn.number} alone for all ${text.length} characters …]`);
    if (used > 0 && used + piece.length > OUTPUT_CHARS) {
      return jsonResult({ turns: shown, next_from: turn.number, left: turns.length - index });
    }
    used += piece.length + 60;
    shown.push({ ...head(turn), text: piece });
    if (turns.length === 1 && offset + room < text.length) {
      return jsonResult({ turns: shown, next_offset: offset + room, length: text.length });
    }
  }
  return jsonResult({ turns: shown });
}

async function run(store: LogStore, args: Args, sessionId: string): Promise<ToolResult> {
  const turns = await readConversation(store, sessionId);
  if (args.ids !== undefined && args.ids.length > 0) {
    const wanted = turns.filter((turn) => args.ids?.includes(turn.row.id));
    if (wanted.length === 0)
      return toolError("None of these ids belongs to this conversation. Search with query first.");
    return show(wanted, args.offset ?? 0);
  }
  if (args.from !== undefined || args.to !== undefined) {
    const from = args.from ?? 1;
    const to = args.to ?? turns.length;
    if (from > turns.length || to < from) {
      return toolError(`There are turns 1 to ${turns.length}; from must not be larger than to.`);
    }
    return show(turns.slice(from - 1, to), args.offset ?? 0);
  }
  if (args.query !== undefined && args.query.trim() !== "") return search(store, turns, args.query);
  return toolError("Give query, from/to, or ids.");
}

/** `recall_context`: works on this conversation only, compacted or not. */
export function recallContextTool(store: LogStore): Tool {
  return defineTool({
    name: "recall_context",
    searchable: "always",
    toolset: "session_search",
    minWindow: "medium",
    description:
      "Search or re-read earlier turns of this conversation, including those condensed by compaction. Give query to search, or from/to (turn numbers) or ids to read.",
    parameters,
    overlap: "parallel",
    repeatable: true,
    maxResultChars: Number.POSITIVE_INFINITY,
    preview: (args) =>
      oneLine(args.query ?? (args.from === undefined ? "" : `turns ${args.from}–${args.to ?? "…"}`), 60),
    run: (args, context) => run(store, args, context.sessionId),
  });
}
