// docs/reference/configuration.md, made from the configuration schema.
import { describeAllowed } from "../src/config/describe.ts";
import { envBindings } from "../src/config/env-layer.ts";
import { chapters } from "../src/core/config/config.ts";
import type { Keys, Node } from "../src/core/config/fields.ts";

interface Row {
  readonly path: string;
  readonly allowed: string;
  readonly fallback: string;
  readonly meaning: string;
}

function code(text: string): string {
  return `\`${text.replaceAll("|", "\\|")}\``;
}

function shown(value: unknown): string {
  return value === undefined ? "–" : code(JSON.stringify(value));
}

function variable(path: string): string {
  const binding = envBindings.find((each) => each.path === path && !each.name.startsWith("AUXILIARY_"));
  if (!binding) return "";
  const rule = binding.wins === "environment" ? "wins over the file" : "counts when the file says nothing";
  return ` Variable ${code(binding.name)} (${rule}).`;
}

function rowsOf(node: Node, path: string): Row[] {
  if (node.kind === "field") {
    const meaning = `${node.meaning}.${node.secret ? " Secret." : ""}${variable(path)}`;
    return [{ path, allowed: describeAllowed(node), fallback: shown(node.fallback), meaning }];
  }
  if (node.kind === "section") {
    return Object.entries(node.keys).flatMap(([key, child]) => rowsOf(child, `${path}.${key}`));
  }
  const head: Row = { path, allowed: "a map", fallback: code("{}"), meaning: `${node.meaning}.` };
  return node.entry ? [head, ...rowsOf(node.entry, `${path}.<name>`)] : [head];
}

function table(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const allowed = row.allowed.replaceAll("|", "\\|");
    return `| ${code(row.path)} | ${allowed} | ${row.fallback} | ${row.meaning.replaceAll("|", "\\|")} |`;
  });
  return ["| key | allowed | default | meaning |", "|---|---|---|---|", ...lines].join("\n");
}

function chapterText(title: string, keys: Keys): string {
  const single = Object.entries(keys).filter(([, node]) => node.kind === "field");
  const parts = [`## ${title}`];
  if (single.length > 0) parts.push(table(single.flatMap(([key, node]) => rowsOf(node, key))));
  for (const [key, node] of Object.entries(keys)) {
    if (node.kind === "field") continue;
    parts.push(`### ${code(key)}`, `${node.meaning}.`, table(rowsOf(node, key)));
  }
  return parts.join("\n\n");
}

export function configurationPage(): string {
  const intro = `# Configuration reference

<!-- Made by \`npm run docs\` from the configuration schema. Changes made here are lost. -->

Settings live in \`config.yaml\` in the home directory (\`hermes config path\`), secrets in \`.env\` beside it
(\`hermes config env-path\`). How to change them: [Configure Hermes](../configure.md).

A dash in the column "default" means that the key is not set. \`<name>\` stands for a name that you choose.
Every side task \`auxiliary.<task>\` also takes its provider, model, base_url and api_key from variables:
\`AUXILIARY_<TASK>_PROVIDER\`, \`_MODEL\`, \`_BASE_URL\`, \`_API_KEY\`; they win over the file.`;
  return `${[intro, ...chapters.map(({ title, keys }) => chapterText(title, keys))].join("\n\n")}\n`;
}
