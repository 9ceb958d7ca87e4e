// A tree of summaries of the log: leaves cover turns, parents cover leaves. Nodes are added and merged, never lost.
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { estimateTextTokens } from "../../core/model/tokens.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { parseJson } from "../../lib/json/parse-json.ts";
import { mergeNotes, shrinkNotes } from "./extract.ts";
import type { TurnRange } from "./summary-message.ts";

export interface TreeNode extends TurnRange {
  readonly id: string;
  /** 0 for leaves. */
  readonly level: number;
  readonly text: string;
  readonly children: readonly string[];
}

const FAN_OUT = 4;

function isNode(value: unknown): value is TreeNode {
  if (typeof value !== "object" || value === null) return false;
  const node = value as { [key: string]: unknown };
  return (
    typeof node.id === "string" &&
    typeof node.text === "string" &&
    typeof node.from === "number" &&
    typeof node.to === "number" &&
    typeof node.level === "number" &&
    Array.isArray(node.children)
  );
}

export class SummaryTree {
  readonly #nodes: TreeNode[];

  constructor(nodes: readonly TreeNode[] = []) {
    this.#nodes = [...nodes];
  }

  get nodes(): readonly TreeNode[] {
    return this.#nodes;
  }

  /** A copy for one pass; the original is used when the pass is discarded. */
  fork(): SummaryTree {
    return new SummaryTree(this.#nodes);
  }

  find(id: string): TreeNode | undefined {
    return this.#nodes.find((node) => node.id === id);
  }

  /** Nodes without a parent, in the order of their turns. */
  roots(): TreeNode[] {
    const children = new Set(this.#nodes.flatMap((node) => node.children));
    return this.#nodes.filter((node) => !children.has(node.id)).sort((a, b) => a.from - b.from);
  }

  addLeaf(range: TurnRange, text: string): TreeNode {
    return this.#add({ ...range, level: 0, text, children: [] });
  }

  /** Puts parents over the oldest nodes until the rendered roots fit into `tokens`. */
  fold(tokens: number): void {
    for (let roots = this.roots(); roots.length > 1 && size(roots) > tokens; roots = this.roots()) {
      const group = roots.slice(0, FAN_OUT);
      const limit = Math.max(100, Math.floor(tokens * 0.4));
      const text = group.reduce((notes, node) => mergeNotes(notes, node.text, limit), "");
      this.#add({
        from: Math.min(...group.map((node) => node.from)),
        to: Math.max(...group.map((node) => node.to)),
        level: Math.max(...group.map((node) => node.level)) + 1,
        text,
        children: group.map((node) => node.id),
      });
    }
  }

  /** The roots as text of at most about `tokens`, each with its id. */
  render(tokens: number): string {
    const roots = this.roots();
    const total = Math.max(1, size(roots));
    const share = Math.min(1, tokens / total);
    return roots
      .map((node) => {
        const text =
          share === 1 ? node.text : shrinkNotes(node.text, Math.floor(estimateTextTokens(node.text) * share * 0.9));
        return `### [${node.id}] turns ${node.from}–${node.to}\n${text.replace(/^(#{2,3}) /gm, "##$1 ")}`;
      })
      .join("\n\n");
  }

  #add(node: Omit<TreeNode, "id">): TreeNode {
    const added = { id: `n${this.#nodes.length + 1}`, ...node };
    this.#nodes.push(added);
    return added;
  }
}

const size = (nodes: readonly TreeNode[]) => nodes.reduce((sum, node) => sum + estimateTextTokens(node.text) + 12, 0);

/** Trees on disk, one JSON file per session. */
export class TreeFiles {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Undefined when there is none or it cannot be read: the tree can be built again from the log. */
  async load(sessionId: string): Promise<SummaryTree | undefined> {
    const text = await readFile(this.#path(sessionId), "utf8").catch(() => "");
    const value = parseJson(text) as { nodes?: unknown } | null | undefined;
    return Array.isArray(value?.nodes) ? new SummaryTree(value.nodes.filter(isNode)) : undefined;
  }

  async save(sessionId: string, tree: SummaryTree): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    await atomicWrite(this.#path(sessionId), `${JSON.stringify({ version: 1, nodes: tree.nodes })}\n`);
  }

  #path(sessionId: string): string {
    return join(this.#dir, `${sessionId.replace(/[^\w.-]/g, "_")}.json`);
  }
}
