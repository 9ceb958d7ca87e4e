// The tree that ARCHITECTURE.md shows is the tree on disk, and files that the guides name exist.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");

function folders(path: string): string[] {
  return readdirSync(join(root, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

/** Lines like `  agent/   the loop [delegation/ tools/]`, by indentation. */
function shown(indentation: number): Map<string, string[]> {
  const tree = /## The map[\s\S]*?```\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  const line = new RegExp(`^ {${indentation}}([\\w-]+)/(?:.*?\\[([^\\]]*)\\])?`, "gm");
  return new Map(
    [...tree.matchAll(line)].map((match) => [match[1] ?? "", (match[2]?.match(/[\w-]+(?=\/)/g) ?? []).sort()]),
  );
}

it("shows every folder of src/ and the folders below it", () => {
  const onDisk = folders("src").map((name) => [name, folders(join("src", name))]);
  expect([...shown(2)].sort(([a], [b]) => a.localeCompare(b))).toEqual(onDisk.sort());
});

it("shows folders of the repository that exist, and all folders of test/", () => {
  expect([...shown(0).keys()].filter((name) => !existsSync(join(root, name)))).toEqual([]);
  expect(shown(0).get("test")).toEqual(folders("test"));
});

it.each([
  "ARCHITECTURE.md",
  "AGENTS.md",
  "GLOSSARY.md",
  "docs/proofs.md",
  ...readdirSync(join(root, "docs", "decisions")).map((name) => `docs/decisions/${name}`),
])("%s names only files that exist", (document) => {
  const text = readFileSync(join(root, document), "utf8");
  const named = [...text.matchAll(/`((?:src|test|docs|scripts)\/[\w./-]+)`/g)].map((match) => match[1] ?? "");
  expect(named.filter((path) => !path.includes("NNN") && !existsSync(join(root, path)))).toEqual([]);
});

it("leads through at most 15 hops", () => {
  const hops = page.match(/^\| \d+ \|/gm) ?? [];
  expect(hops.length).toBeGreaterThan(5);
  expect(hops.length).toBeLessThanOrEqual(15);
});
