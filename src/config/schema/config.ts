// The whole configuration: every key with type, default, meaning and allowed values, in chapters.
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
  { title: "Safety, storage and upkeep", keys: safetyKeys },
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

/** The part of the schema that governs a path; `inside` is true within a map whose keys are free. */
export function findNode(path: readonly string[]): { node: Node | undefined; free: boolean; known: readonly string[] } {
  let node: Node | undefined = schema;
  let free = false;
  for (const key of path) {
    if (node?.kind === "section") {
      const next: Node | undefined = Object.hasOwn(node.keys, key) ? node.keys[key] : undefined;
      if (!next && !free) return { node: undefined, free: false, known: Object.keys(node.keys) };
      node = next;
    } else if (node?.kind === "named") {
      free = free || node.open;
      node = node.entry;
    } else if (node?.kind === "field" && !free) {
      free = node.types.includes("map") || node.types.includes("list");
      if (!free) return { node: undefined, free: false, known: [] };
      node = undefined;
    } else node = undefined;
  }
  return { node, free, known: [] };
}
