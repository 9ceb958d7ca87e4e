// Settings that are kept for Hermes Agent v0.14 and have no effect here.
import { schema } from "./config.ts";
import type { Node } from "./fields.ts";

/** Shown wherever such a setting appears. */
export const ACCEPTED_NOTE = "kept for Hermes Agent, no effect here";

function childNode(node: Node, key: string): Node | undefined {
  if (node.kind === "section") return Object.hasOwn(node.keys, key) ? node.keys[key] : undefined;
  return node.kind === "named" ? node.entry : undefined;
}

/** True when the key at this path, or a section that holds it, has no effect. False for paths that do not exist. */
export function isAccepted(path: readonly string[]): boolean {
  let node: Node | undefined = schema;
  for (const key of path) {
    node = childNode(node, key);
    if (!node) return false;
    if (node.accepted) return true;
  }
  return false;
}
