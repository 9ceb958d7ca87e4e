// The direction rule must bite: each planted violation is reported under the rule that forbids it.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";

const root = join(import.meta.dirname, "..");
let tree = "";

const CLEAN: { readonly [path: string]: string } = {
  "src/core/word.ts": "export interface Word { readonly text: string }\n",
  "src/lib/join.ts": "export const join = (a: string) => a;\n",
  "src/store/keep.ts": 'import type { Word } from "../core/word.ts";\nexport const keep = (word: Word) => word;\n',
  "src/agent/speak.ts":
    'import type { Word } from "../core/word.ts";\nexport const speak = (word: Word) => word.text;\n',
  "src/app/app.ts":
    'import { speak } from "../agent/speak.ts";\nimport { keep } from "../store/keep.ts";\nexport const app = { speak, keep };\n',
  "src/cli/chat.ts": 'import { app } from "../app/app.ts";\nexport const chat = () => app;\n',
};

const PLANTED: readonly { rule: string; path: string; source: string }[] = [
  { rule: "lib-knows-nobody", path: "src/lib/bad.ts", source: 'import "../core/word.ts";\n' },
  {
    rule: "core-is-pure",
    path: "src/core/bad.ts",
    source: 'import type { keep } from "../store/keep.ts";\nexport type K = typeof keep;\n',
  },
  {
    rule: "core-does-no-io",
    path: "src/core/bad-io.ts",
    source: 'import { readFileSync } from "node:fs";\nexport const r = readFileSync;\n',
  },
  {
    rule: "parts-do-not-know-parts",
    path: "src/agent/bad.ts",
    source: 'import type { keep } from "../store/keep.ts";\nexport type K = typeof keep;\n',
  },
  {
    rule: "parts-point-down",
    path: "src/store/bad.ts",
    source: 'import { app } from "../app/app.ts";\nexport const a = app;\n',
  },
  {
    rule: "app-knows-no-surface",
    path: "src/app/bad.ts",
    source: 'import { chat } from "../cli/chat.ts";\nexport const c = chat;\n',
  },
  {
    rule: "surfaces-know-app-core-lib",
    path: "src/cli/bad.ts",
    source: 'import { keep } from "../store/keep.ts";\nexport const k = keep;\n',
  },
  {
    rule: "surfaces-do-not-know-surfaces",
    path: "src/server/bad.ts",
    source: 'import { chat } from "../cli/chat.ts";\nexport const c = chat;\n',
  },
  {
    rule: "only-store-opens-sqlite",
    path: "src/agent/bad-sql.ts",
    source: 'import { DatabaseSync } from "@photostructure/sqlite";\nexport const d = DatabaseSync;\n',
  },
  {
    rule: "heavy-sdks-are-lazy",
    path: "src/agent/bad-sdk.ts",
    source: 'import OpenAI from "openai";\nexport const o = OpenAI;\n',
  },
  {
    rule: "no-cycles",
    path: "src/agent/ring-a.ts",
    source: 'import { b } from "./ring-b.ts";\nexport const a = () => b;\n',
  },
];

function write(path: string, source: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), source);
}

function cruise(): { code: number | null; output: string } {
  const result = spawnSync(
    join(root, "node_modules", ".bin", "depcruise"),
    ["--config", join(root, ".dependency-cruiser.cjs"), "src"],
    {
      cwd: tree,
      encoding: "utf8",
    },
  );
  return { code: result.status, output: result.stdout + result.stderr };
}

beforeAll(() => {
  tree = mkdtempSync(join(tmpdir(), "hermes-direction-"));
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  writeFileSync(join(tree, "package.json"), '{ "name": "planted", "type": "module" }\n');
  writeFileSync(
    join(tree, "tsconfig.json"),
    '{ "compilerOptions": { "module": "nodenext", "allowImportingTsExtensions": true, "noEmit": true } }\n',
  );
  for (const [path, source] of Object.entries(CLEAN)) write(path, source);
});

afterAll(() => rmSync(tree, { recursive: true, force: true }));

it("accepts a tree that points down, and names the rule for every planted violation", () => {
  const clean = cruise();
  expect(clean.output).toContain("no dependency violations");
  expect(clean.code).toBe(0);

  for (const { path, source } of PLANTED) write(path, source);
  write("src/agent/ring-b.ts", 'import { a } from "./ring-a.ts";\nexport const b = () => a;\n');
  const planted = cruise();
  expect(planted.code).not.toBe(0);
  for (const { rule, path } of PLANTED)
    expect(planted.output).toMatch(new RegExp(`${rule}: ${path.replaceAll(".", "\\.")}`));
});
