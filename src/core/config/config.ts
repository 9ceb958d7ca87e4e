// The configuration schema: every key with type, default, meaning and allowed values.
import { agentKeys } from "./agent.ts";
import { auxiliaryKeys } from "./auxiliary.ts";
import { displayKeys } from "./display.ts";
import { executionKeys } from "./execution.ts";
import { type Infer, type Keys, type Node, section } from "./fields.ts";
import { modelKeys } from "./models.ts";
import { platformKeys } from "./platforms.ts";
import { legacyKeys, safetyKeys } from "./safety.ts";

export const CONFIG_VERSION = 23;

export const chapters: readonly { readonly title: string; readonly keys: Keys }[] = [
  { title: "Models and providers", keys: modelKeys },
  { title: "Side tasks", keys: auxiliaryKeys },
  { title: "Agent", keys: agentKeys },
  { title: "Tools", keys: executionKeys },
  { title: "Display and voice", keys: displayKeys },
  { title: "Chat platforms", keys: platformKeys },
  { title: "Safety, storage and maintenance", keys: safetyKeys },
  { title: "Older keys that are still read", keys: legacyKeys },
];

export const schema = section("Configuration", {
  ...modelKeys,
  ...auxiliaryKeys,
  ...agentKeys,
  ...executionKeys,
  ...displayKeys,
  ...platformKeys,
  ...safetyKeys,
  ...legacyKeys,
});

/** The effective configuration: every key present, checked, defaults filled in. */
export type Config = Infer<typeof schema>;

export interface FoundNode {
  /** Undefined within a map whose keys are free, and for a path that does not exist. */
  readonly node: Node | undefined;
  /** True when a key of any name is allowed here. */
  readonly free: boolean;
  /** For a path that does not exist: the number of leading keys that exist, and a suggestion for the next one. */
  readonly depth: number;
  readonly known: readonly string[];
}

function step(node: Node | undefined, key: string): { node: Node | undefined; free: boolean } | undefined {
  if (node?.kind === "section") {
    const next = Object.hasOwn(node.keys, key) ? node.keys[key] : undefined;
    return next && { node: next, free: false };
  }
  if (node?.kind === "named") return { node: node.entry, free: node.open };
  const holds = node?.types.includes("map") || node?.types.includes("list");
  return holds ? { node: undefined, free: true } : undefined;
}

/** Finds the schema node of a path. */
export function findNode(path: readonly string[]): FoundNode {
  let node: Node | undefined = schema;
  let free = false;
  for (const [depth, key] of path.entries()) {
    const next = step(node, key);
    if (!next && !free) {
      return { node: undefined, free, depth, known: node?.kind === "section" ? Object.keys(node.keys) : [] };
    }
    node = next?.node;
    free ||= next?.free ?? false;
  }
  return { node, free, depth: path.length, known: [] };
}
