import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { findIndexFiles } from "./find.ts";
import { readSkillFiles } from "./guard/read-files.ts";
import { scanSkill } from "./guard/scan-skill.ts";
import { parseSkill } from "./parse.ts";

const root = join(import.meta.dirname, "..", "..");
const roots = [
  ["skills", 12],
  ["optional-skills", 4],
] as const;

let dir: string;
beforeEach(() => {
  dir = tempDir("hermes-skills-");
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const skillFiles = roots.flatMap(([folder]) =>
  findIndexFiles(join(root, folder)).filter((file) => file.rel.endsWith("SKILL.md")),
);

it.each(roots)("%s has %i skills", (folder, count) => {
  expect(findIndexFiles(join(root, folder)).filter((file) => file.rel.endsWith("SKILL.md"))).toHaveLength(count);
});

describe.each(skillFiles.map((file) => [basename(dirname(file.path)), file.path] as const))("%s", (name, path) => {
  it("has a valid front matter, the usual sections, and passes the guard", async () => {
    const text = readFileSync(path, "utf8");
    const { header, mistakes, body } = await parseSkill(text);
    expect(mistakes).toEqual([]);
    expect(header).toMatchObject({ name, version: "1.0.0", license: "MIT" });
    expect(header.tags.length).toBeGreaterThan(0);
    for (const heading of ["When to Use", "Procedure", "Pitfalls", "Verification"])
      expect(body).toContain(`## ${heading}`);
    const report = scanSkill(readSkillFiles(dirname(path)));
    expect(report.findings).toEqual([]);
    expect(report.verdict).toBe("safe");
    const named = [...text.matchAll(/(?:scripts|templates|references)\/[\w.-]+\.\w+/g)].map(([match]) => match);
    for (const file of named) expect(readSkillFiles(dirname(path)).map((one) => one.path)).toContain(file);
  });
});

const script = (skill: string, name: string): string => {
  const file = skillFiles.find((candidate) => candidate.path.includes(`/${skill}/`));
  return join(dirname(file?.path ?? ""), "scripts", name);
};

function run(command: string, args: readonly string[], cwd = dir): { out: string; code: number | null } {
  const done = spawnSync(command, args, { cwd, encoding: "utf8" });
  return { out: done.stdout + done.stderr, code: done.status };
}

function gitRepository(): void {
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...args], { cwd: dir });
  git("init", "-q");
  writeFileSync(join(dir, "a.txt"), "one\n");
  git("add", "a.txt");
  git("commit", "-q", "-m", "feat(core): first");
  git("tag", "v1.0.0");
  writeFileSync(join(dir, "a.txt"), "two\n");
  git("commit", "-qam", "fix(core)!: second");
}

describe("scripts", () => {
  it("arxiv parses a response and builds its URL", () => {
    const feed = `<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/abs/2405.01234v2</id>
      <title>On  Testing</title><summary>We test.</summary><published>2024-05-02T00:00:00Z</published><updated>2024-06-01T00:00:00Z</updated>
      <author><name>Ada L.</name></author><category term="cs.SE"/><link rel="alternate" href="http://arxiv.org/abs/2405.01234v2"/></entry></feed>`;
    writeFileSync(join(dir, "feed.xml"), feed);
    const { out, code } = run("python3", [script("arxiv", "search_arxiv.py"), "--from-file", "feed.xml", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)[0]).toMatchObject({
      id: "2405.01234v2",
      title: "On Testing",
      authors: ["Ada L."],
      published: "2024-05-02",
    });
    const address = run("python3", [
      script("arxiv", "search_arxiv.py"),
      "graph",
      "nets",
      "--sort",
      "date",
      "--show-address",
    ]).out;
    expect(address).toContain("search_query=all%3Agraph+AND+all%3Anets");
    expect(address).toContain("sortBy=submittedDate");
    expect(run("python3", [script("arxiv", "search_arxiv.py")]).code).toBe(2);
  });

  it("git-commit finds keys, conflict markers and debug code, and prints nothing otherwise", () => {
    gitRepository();
    const check = script("git-commit", "precheck.sh");
    expect(run("bash", [check])).toEqual({ out: "nothing suspicious\n", code: 0 });
    writeFileSync(join(dir, "b.js"), `console.log(1)\nconst key = "${"ghp_"}${"a".repeat(36)}"\n<<<<<<< mine\n`);
    const { out, code } = run("bash", [check]);
    expect(code).toBe(1);
    expect(out).toMatch(/leftover.*console/);
    expect(out).toContain("a key that starts with ghp_aa");
    expect(out).not.toContain("a".repeat(20));
    expect(out).toContain("conflict");
  });

  it("log-triage groups similar lines", () => {
    const lines = Array.from({ length: 30 }, (_, n) => `2026-03-01 10:00:${10 + n} INFO user ${n} from 10.0.0.${n} ok`);
    lines.splice(20, 0, "2026-03-01 10:00:30 ERROR disk /var/data is full", "    at write (io.c:3)");
    writeFileSync(join(dir, "app.log"), lines.join("\n"));
    const tool = script("log-triage", "log_groups.py");
    const report = JSON.parse(run("python3", [tool, "app.log", "--json"]).out);
    expect(report).toMatchObject({ lines: 31, kinds: 2, from: "2026-03-01 10:00:10" });
    expect(report.groups[0]).toMatchObject({ count: 30, level: "info", line: 1 });
    expect(run("python3", [tool, "app.log", "--level", "error"]).out).toMatch(/1x error\s+line 21/);
    expect(run("python3", [tool, "missing.log"]).code).toBe(1);
  });

  it("csv-profile reports types, missing values, outliers and ragged rows", () => {
    const rows = Array.from(
      { length: 40 },
      (_, n) => `${n};2026-01-${String((n % 28) + 1).padStart(2, "0")};${n}.5;x${n % 3}`,
    );
    writeFileSync(
      join(dir, "t.csv"),
      ["id;day;price;kind", ...rows, "40;2026-02-01;NA;x1", "41;soon;7.5;x2", "42;2026-02-02"].join("\n"),
    );
    const report = JSON.parse(run("python3", [script("csv-profile", "csv_profile.py"), "t.csv", "--json"]).out);
    expect(report).toMatchObject({
      rows: 43,
      separator: ";",
      encoding: "utf-8",
      ragged_rows: [{ row: 44, fields: 2 }],
    });
    const [id, day, price, kind] = report.columns;
    expect(id).toMatchObject({ type: "whole", distinct: 43, range: [0, 42] });
    expect(day).toMatchObject({ type: "date", odd: [{ example: "soon", row: 43 }] });
    expect(price).toMatchObject({ type: "decimal", empty: 1 });
    expect(kind).toMatchObject({ type: "text", distinct: 3 });
  });

  it("disk-space shows the largest first and changes nothing", () => {
    mkdirSync(join(dir, "big"));
    writeFileSync(join(dir, "big", "data.bin"), Buffer.alloc(3_000_000));
    writeFileSync(join(dir, "small.txt"), "x");
    const { out, code } = run("bash", [script("disk-space", "disk_report.sh"), dir, "5"]);
    expect(code).toBe(0);
    expect(out).toMatch(/2\.9M\s+\S*big\n/);
    expect(out).toMatch(/Largest files\n\s+2\.9M\s+\S*data\.bin/);
    expect(readdirSync(dir).sort()).toEqual(["big", "small.txt"]);
  });

  it("json-shape shows presence and types, collapses maps, and compares", () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`k${n}`, n]));
    writeFileSync(join(dir, "a.json"), JSON.stringify({ items: [{ id: 1, name: "a" }, { id: "2" }], many }));
    writeFileSync(join(dir, "b.json"), JSON.stringify({ items: [{ id: 1 }], extra: true, many }));
    writeFileSync(join(dir, "c.jsonl"), '{"x":1}\n{"x":2}\n');
    const tool = script("json-shape", "json-shape.mjs");
    const shape = JSON.parse(run("node", [tool, "a.json", "--json"]).out) as {
      path: string;
      present: number;
      of: number;
    }[];
    expect(shape.find((row) => row.path === "items[].name")).toMatchObject({ present: 1, of: 2 });
    expect(shape.find((row) => row.path === "items[].id")).toMatchObject({ types: { number: 1, string: 1 } });
    expect(shape.find((row) => row.path === "many.{}")).toMatchObject({ present: 40 });
    expect(run("node", [tool, "a.json", "--against", "b.json"]).out).toMatch(
      /removed +items\[\]\.name[\s\S]*added +extra/,
    );
    expect(run("node", [tool, "c.jsonl"]).out).toMatch(/^x +number +present 2 of 2/m);
    expect(run("node", [tool, "missing.json"]).code).toBe(1);
  });

  it("tls-check reports an unreachable host", () => {
    const { out, code } = run("node", [script("tls-check", "tls-check.mjs"), "127.0.0.1:9"]);
    expect(code).toBe(1);
    expect(out).toContain("PROBLEM 127.0.0.1:9: ECONNREFUSED");
    expect(run("node", [script("tls-check", "tls-check.mjs")]).code).toBe(2);
  });

  it("changelog groups commits and puts breaking ones first", () => {
    gitRepository();
    const { out } = run("bash", [script("changelog", "changes.sh")]);
    expect(out).toMatch(/Changes in v1\.0\.0\.\.HEAD\n\nbreaking\n- fix\(core\)!: second \(\w+\)\n\nfix\n/);
  });
});
