// Generates cli-config.yaml.example from the configuration schema: every setting that has an effect, with its default, commented out.
import { isAccepted } from "../src/core/config/accepted.ts";
import { chapters } from "../src/core/config/config.ts";
import type { Node } from "../src/core/config/fields.ts";

const WIDTH = 48;

function line(depth: number, text: string, meaning: string): string {
  const indented = `# ${"  ".repeat(depth)}${text}`;
  return `${indented.padEnd(WIDTH)} # ${meaning}`;
}

function linesOf(name: string, node: Node, path: readonly string[]): string[] {
  const here = [...path, name];
  if (isAccepted(here)) return [];
  const depth = path.length;
  if (node.kind === "field") {
    if (node.secret || node.fallback === undefined) return [];
    const choices = node.values ? `: ${node.values.join(", ")}` : "";
    return [line(depth, `${name}: ${JSON.stringify(node.fallback)}`, `${node.meaning}${choices}`)];
  }
  if (node.kind === "named") return [line(depth, `${name}: {}`, node.meaning)];
  const inner = Object.entries(node.keys).flatMap(([key, child]) => linesOf(key, child, here));
  return inner.length === 0 ? [] : [line(depth, `${name}:`, node.meaning), ...inner];
}

const HEAD = `# Settings of Hermes. Copy this file to config.yaml in the home (~/.hermes) and remove the # before what you change, and before the
# names above it. Keys belong into .env. Explanations: docs/reference/configuration.md
# Made by \`npm run docs\`.

model:
  default: anthropic/claude-sonnet-4.6
  provider: openrouter                           # its key: OPENROUTER_API_KEY in .env
`;

export function exampleConfig(): string {
  const parts = chapters.map(({ title, keys }) => {
    const lines = Object.entries(keys)
      .filter(([name]) => name !== "model" && !name.startsWith("_"))
      .flatMap(([name, node]) => linesOf(name, node, []));
    return lines.length === 0 ? "" : `\n# ── ${title}\n${lines.join("\n")}\n`;
  });
  return `${HEAD}${parts.join("")}`;
}
