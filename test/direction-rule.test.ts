// The direction rule is enforced: each planted violation is reported under the rule that forbids it, and allowed imports pass.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { tempDir } from "./kit/temp-dir.ts";

const root = join(import.meta.dirname, "..");
let tree = "";

/** Every import that the rule allows. */
const CLEAN: { readonly [path: string]: string } = {
  "src/lib/join.ts": "export const join = (a: string) => a;\n",
  "src/lib/text/trim.ts": 'import { join } from "../join.ts";\nexport const trim = join;\n',
  "src/core/word.ts":
    'import { join } from "../lib/join.ts";\nexport interface Word { readonly text: string }\nexport const words = join;\n',
  "src/store/keep.ts": 'import type { Word } from "../core/word.ts";\nexport const keep = (word: Word) => word;\n',
  "src/agent/speak.ts":
    'import type { Word } from "../core/word.ts";\nexport const speak = (word: Word) => word.text;\n',
  "src/cron/jobs.ts": "export const jobs = 1;\n",
  "src/cron/api.ts": 'import { jobs } from "./jobs.ts";\nexport const list = () => jobs;\n',
  "src/skills/hub/api.ts": "export const install = 1;\n",
  "src/providers/api/keys.ts": "export const keys = 1;\n",
  "src/app/app.ts":
    'import { speak } from "../agent/speak.ts";\nimport { keep } from "../store/keep.ts";\nexport const app = { speak, keep };\n',
  "src/cli/chat.ts":
    'import { app } from "../app/app.ts";\nimport { list } from "../cron/api.ts";\nimport { keys } from "../providers/api/keys.ts";\nimport { install } from "../skills/hub/api.ts";\nexport const chat = () => [app, list, keys, install];\n',
  "src/cli/chat.test.ts": 'import { keep } from "../store/keep.ts";\nexport const k = keep;\n',
};

const PLANTED: readonly { rule: string; path: string; source: string }[] = [
  { rule: "lib-knows-nothing", path: "src/lib/bad.ts", source: 'import "../core/word.ts";\n' },
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
    rule: "surfaces-use-app-and-apis",
    path: "src/cli/bad.ts",
    source: 'import { keep } from "../store/keep.ts";\nexport const k = keep;\n',
  },
  {
    rule: "surfaces-use-app-and-apis",
    path: "src/gateway/bad-type.ts",
    source: 'import type { jobs } from "../cron/jobs.ts";\nexport type J = typeof jobs;\n',
  },
  {
    rule: "surfaces-use-app-and-apis",
    path: "src/terminal/bad-lazy.ts",
    source: 'export const k = () => import("../store/keep.ts");\n',
  },
  {
    rule: "parts-do-not-know-parts",
    path: "src/skills/bad-api.ts",
    source: 'import { list } from "../cron/api.ts";\nexport const l = list;\n',
  },
  {
    rule: "parts-do-not-know-parts",
    path: "src/agent/bad.test.ts",
    source: 'import { keep } from "../store/keep.ts";\nexport const k = keep;\n',
  },
  {
    rule: "parts-point-down",
    path: "src/cron/bad-surface.ts",
    source: 'import { chat } from "../cli/chat.ts";\nexport const c = chat;\n',
  },
  {
    rule: "surfaces-do-not-know-surfaces",
    path: "src/server/bad.ts",
    source: 'import { chat } from "../cli/chat.ts";\nexport const c = chat;\n',
  },
  {
    rule: "surfaces-do-not-know-surfaces",
    path: "src/care/bad.ts",
    source: 'import { chat } from "../cli/chat.ts";\nexport const c = chat;\n',
  },
  {
    rule: "only-store-opens-sqlite",
    path: "src/agent/bad-sql.ts",
    source: 'import { DatabaseSync } from "@photostructure/sqlite";\nexport const d = DatabaseSync;\n',
  },
  {
    rule: "model-sdks-are-types-only",
    path: "src/providers/bad-sdk.ts",
    source: 'export const load = () => import("openai");\n',
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
  tree = tempDir("hermes-direction-");
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
