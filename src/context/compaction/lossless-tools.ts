// The tools of the lossless engine: open a node of the summary tree, search all of it.
import type { JsonObject } from "../../core/message.ts";
import type { ToolSchema } from "../../core/model/provider.ts";
import { truncate } from "../../lib/text/truncate.ts";
import { type LoggedTurn, type LogStore, readConversation } from "../conversation-log.ts";
import { searchConversation, turnText } from "../recall-context.ts";
import type { SummaryTree, TreeNode } from "./summary-tree.ts";

const OUTPUT_CHARS = 12_000;
const TURN_CHARS = 1_500;
const HITS = 8;
const EXCERPT = 400;

export const LOSSLESS_TOOLS: readonly ToolSchema[] = [
  {
    name: "context_expand",
    description: "Open a node of the condensed conversation: its child nodes, or the original turns of a leaf.",
    parameters: {
      type: "object",
      properties: {
        id: { type: "string", description: "Node id, such as n3" },
        from: { type: "integer", minimum: 1, description: "Turn to start at, to page through a leaf" },
      },
      required: ["id"],
    },
  },
  {
    name: "context_search",
    description: "Search the whole conversation, condensed turns included; says which node holds each hit.",
    parameters: {
      type: "object",
      properties: { query: { type: "string", description: "Words to search for" } },
      required: ["query"],
    },
  },
];

export interface TreeContext {
  readonly tree: SummaryTree;
  readonly store: LogStore | undefined;
  readonly sessionId: string;
}

const head = (node: TreeNode) => ({ id: node.id, turns: `${node.from}–${node.to}` });

/** Original turns as far as they fit, then the position to continue from. */
function showTurns(node: TreeNode, turns: readonly LoggedTurn[]): JsonObject {
  const shown: JsonObject[] = [];
  let used = 0;
  for (const turn of turns) {
    const text = truncate(turnText(turn), TURN_CHARS);
    if (used > 0 && used + text.length > OUTPUT_CHARS) return { ...head(node), shown, next_from: turn.number };
    used += text.length + 40;
    shown.push({ turn: turn.number, role: turn.row.role, text });
  }
  return { ...head(node), shown };
}

export async function expandNode(context: TreeContext, args: JsonObject): Promise<JsonObject> {
  const node = context.tree.find(String(args.id ?? ""));
  if (node === undefined) {
    const known = context.tree.roots().map((root) => root.id);
    return { error: `There is no node ${String(args.id)}.`, nodes: known };
  }
  if (node.children.length > 0) {
    const children = node.children.map((id) => context.tree.find(id)).filter((child) => child !== undefined);
    const each = Math.floor(OUTPUT_CHARS / Math.max(1, children.length));
    return { ...head(node), children: children.map((child) => ({ ...head(child), text: truncate(child.text, each) })) };
  }
  if (context.store === undefined) return { ...head(node), text: truncate(node.text, OUTPUT_CHARS) };
  const from = Math.max(node.from, typeof args.from === "number" ? args.from : node.from);
  const turns = await readConversation(context.store, context.sessionId);
  return showTurns(node, turns.slice(from - 1, node.to));
}

export async function searchTree(context: TreeContext, args: JsonObject): Promise<JsonObject> {
  const query = typeof args.query === "string" ? args.query.trim() : "";
  if (query === "") return { error: "Give query: the words to search for." };
  const words = query.toLowerCase().split(/\s+/);
  const nodes = context.tree.nodes.filter((node) => words.some((word) => node.text.toLowerCase().includes(word)));
  const found = nodes.slice(0, HITS).map((node) => ({ ...head(node), text: around(node.text, words) }));
  if (context.store === undefined) return { nodes: found };
  const turns = await readConversation(context.store, context.sessionId);
  const hits = await searchConversation(context.store, turns, query);
  const findLeaf = (number: number) =>
    context.tree.nodes.find((node) => node.level === 0 && node.from <= number && number <= node.to)?.id;
  return {
    nodes: found.slice(0, 3),
    hits: hits.map((turn) => ({ turn: turn.number, node: findLeaf(turn.number), text: around(turnText(turn), words) })),
  };
}

function around(text: string, words: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((index) => index >= 0);
  const start = Math.max(0, Math.min(...(places.length > 0 ? places : [0])) - 100);
  return truncate(text.slice(start), EXCERPT);
}
