// Every setting that the reference documents as working has a reader in the sources; the others are marked `accepted`.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { isAccepted } from "../src/core/config/accepted.ts";
import { schema } from "../src/core/config/config.ts";
import type { Node } from "../src/core/config/fields.ts";

/** Paths of all settings; `<name>` where the user chooses the name. */
function settingPaths(): string[][] {
  const paths: string[][] = [];
  const walk = (node: Node, path: string[]) => {
    if (node.kind === "section") {
      for (const [key, child] of Object.entries(node.keys)) walk(child, [...path, key]);
      return;
    }
    paths.push(path);
    if (node.kind === "named" && node.entry?.kind === "section") walk(node.entry, [...path, "<name>"]);
  };
  walk(schema, []);
  return paths;
}

const SOURCES = join(import.meta.dirname, "../src");

/** Files that name keys without acting on them: the schema itself, environment bindings, migrations, lists of keys. */
const NAMES_ONLY = /^core\/config\/|^config\/(?:env-layer|migrate|settings-migrate|security-paths)\.ts$/;

/** Sections whose own name or whose entries' names are computed by their readers, with the folders of these readers. */
const READ_BY_COMPUTED_NAME: { readonly [section: string]: RegExp } = {
  auxiliary: /^providers\//,
  platforms: /^(?:platforms|gateway|delivery|plugins)\//,
  discord: /^(?:platforms|gateway|delivery)\//,
  telegram: /^(?:platforms|gateway|delivery)\//,
  email: /^platforms\/email\//,
  webhook: /^platforms\/webhook\//,
  api_server: /^platforms\/api-server\//,
};

/** Sections that are sent on as a whole, so that no single key is named. */
const SENT_WHOLE: { readonly [section: string]: string } = {
  provider_routing: "the body of a request to OpenRouter",
};

interface Source {
  readonly path: string;
  /** Names that are accessed as a property, destructured, or written as a string. */
  readonly names: ReadonlySet<string>;
}

function readSources(): Source[] {
  const paths = (readdirSync(SOURCES, { recursive: true }) as string[]).filter(
    (path) => path.endsWith(".ts") && !path.endsWith(".test.ts") && !NAMES_ONLY.test(path),
  );
  return paths.map((path) => {
    const code = readFileSync(join(SOURCES, path), "utf8").replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
    const names = code.matchAll(/(?:\.|"|[{,]\s*)([A-Za-z_][\w-]*)/g);
    return { path, names: new Set([...names].map((match) => match[1] ?? "")) };
  });
}

/** A file reads a key when it names the key and the section that holds it, or is known to compute the section's name. */
function reads(source: Source, sections: readonly string[], key: string): boolean {
  if (!source.names.has(key)) return false;
  if (source.names.has(sections.at(-1) ?? "")) return true;
  return sections.some((section) => READ_BY_COMPUTED_NAME[section]?.test(source.path));
}

function hasReader(sources: readonly Source[], path: readonly string[]): boolean {
  const named = path.filter((name) => name !== "<name>");
  const key = named.at(-1) ?? "";
  const sections = named.slice(0, -1);
  if (sections.some((section) => section in SENT_WHOLE))
    return sources.some(({ names }) => names.has(sections[0] ?? ""));
  if (sections.length > 0) return sources.some((source) => reads(source, sections, key));
  const computed = READ_BY_COMPUTED_NAME[key];
  return sources.some((source) => source.names.has(key) || computed?.test(source.path));
}

it("finds a reader of every setting that is not marked as accepted", () => {
  const sources = readSources();
  const unread = settingPaths().filter((path) => !isAccepted(path) && !hasReader(sources, path));
  expect(unread.map((path) => path.join("."))).toEqual([]);
});

it("reports a setting without a reader", () => {
  const sources = readSources();
  expect(hasReader(sources, ["compression", "threshold"])).toBe(true);
  expect(hasReader(sources, ["curator", "stale_after_days"])).toBe(false);
  expect(hasReader(sources, ["display", "tui_auto_resume_recent"])).toBe(false);
});
