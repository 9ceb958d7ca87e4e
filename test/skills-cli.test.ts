// `hermes skills` on the command line.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HOSTILE, HubFixture, skill } from "./kit/hub-fixture.ts";
import { type HermesRun, hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { openTerminal } from "./kit/terminal.ts";

let fixture: HubFixture;

beforeAll(async () => {
  hermesProgram();
  fixture = await HubFixture.open();
}, 60_000);

afterAll(() => fixture.close());

const hermes = (...args: string[]): Promise<HermesRun> =>
  runHermes(["skills", ...args], { home: fixture.home, cwd: fixture.root, env: fixture.env });

test("browse, inspect, install, list, check, uninstall", async () => {
  const found = JSON.parse((await hermes("browse", "--source", "official", "--json")).stdout) as { skills: object[] };
  expect(found.skills).toMatchObject([{ name: "neat", identifier: "official/writing/neat", trust: "official" }]);
  const looked = await hermes("inspect", "official/writing/neat");
  expect(looked.stdout).toContain("name: neat");
  expect(looked.stderr).toMatch(/verdict\s+safe/);
  const unasked = await hermes("install", "neat");
  expect(unasked).toMatchObject({ code: 1, stderr: expect.stringContaining("Add --yes") });
  expect(await hermes("install", "neat", "-y")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Installed neat"),
  });
  const { skills } = JSON.parse((await hermes("list", "--source", "hub", "--json")).stdout) as { skills: object[] };
  expect(skills).toMatchObject([
    { name: "neat", category: "writing", source: "hub", identifier: "official/writing/neat" },
  ]);
  expect((await hermes("check")).stdout).toMatch(/neat\s+up to date\s+unchanged/);
  expect(await hermes("uninstall", "neat", "-y")).toMatchObject({ code: 0 });
  expect(existsSync(join(fixture.skills, "writing"))).toBe(false);
}, 30_000);

test("a dangerous skill shows the reason and exits with 1, and its text cannot control the terminal", async () => {
  fixture.hub.site.set("/bad/SKILL.md", skill("bad", `${HOSTILE}\n\u001b]0;owned\u0007 \u001b[2J`));
  const run = await hermes("install", `${fixture.hub.url}/bad/SKILL.md`, "-y", "--force");
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(
    /dangerous SKILL.md:\d+ runs a download without verification \(supply_chain\/download_to_interpreter\)/,
  );
  const hash = /--accept ([0-9a-f]{12})/.exec(run.stderr)?.[1] ?? "";
  expect(`${run.stdout}${run.stderr}`).not.toContain("\u001b");
  expect(existsSync(join(fixture.skills, "bad"))).toBe(false);
  const address = `${fixture.hub.url}/bad/SKILL.md`;
  expect((await hermes("install", address, "-y", "--accept", "0".repeat(12))).code).toBe(1);
  expect((await hermes("install", address, "-y", "--accept", hash)).code).toBe(0);
  expect(existsSync(join(fixture.skills, "bad"))).toBe(true);
}, 30_000);

test("a folder, a file URL and a SKILL.md with small mistakes can be installed from this machine", async () => {
  const own = join(fixture.root, "mine", "long-notes");
  mkdirSync(own, { recursive: true });
  writeFileSync(
    join(own, "SKILL.md"),
    `---\nname: long-notes\ndescription: ${"Keeps notes. ".repeat(100)}\n---\n\nWrite.\n`,
  );
  const folder = await hermes("install", own, "-y");
  expect([folder.code, folder.stderr]).toEqual([0, expect.stringMatching(/hint +SKILL\.md line 3: `description` has/)]);
  expect(existsSync(join(fixture.skills, "long-notes", "SKILL.md"))).toBe(true);
  const plain = join(fixture.root, "plain.md");
  writeFileSync(plain, "# Plain\n\nNo front matter at all.\n");
  expect((await hermes("install", `file://${plain}`, "-y")).code).toBe(0);
  expect(existsSync(join(fixture.skills, "plain", "SKILL.md"))).toBe(true);
  const missing = await hermes("install", join(fixture.root, "nothing"), "-y");
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("there is no skill at")]);
}, 30_000);

test("settings of skills, and disabling them", async () => {
  const dir = join(fixture.skills, "own", "wiki");
  mkdirSync(dir, { recursive: true });
  const config =
    "metadata:\n  hermes:\n    config:\n      - key: wiki.path\n        description: Folder of the wiki\n        default: ~/wiki\n";
  writeFileSync(join(dir, "SKILL.md"), `---\nname: wiki\ndescription: Keeps a wiki\n${config}---\n\nWrite pages.\n`);
  expect((await hermes("config", "wiki")).stdout).toContain("wiki.path = ~/wiki");
  const set = await hermes("config", "wiki", "--set", "wiki.path=/srv/wiki", "--json");
  expect(JSON.parse(set.stdout)).toMatchObject([{ key: "wiki.path", value: "/srv/wiki", skill: "wiki" }]);
  expect(readFileSync(join(fixture.home, "config.yaml"), "utf8")).toContain("/srv/wiki");
  expect(await hermes("config", "--disable", "wiki")).toMatchObject({ code: 0, stdout: "wiki is off.\n" });
  const list = JSON.parse((await hermes("list", "--enabled-only", "--json")).stdout) as { skills: { name: string }[] };
  expect(list.skills.map(({ name }) => name)).not.toContain("wiki");
  expect(await hermes("config", "--enable", "wyki")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("did you mean wiki?"),
  });
}, 30_000);

test("an edited bundled skill is restored only on request", async () => {
  const { skills } = JSON.parse((await hermes("list", "--source", "builtin", "--json")).stdout) as {
    skills: { name: string; dir: string }[];
  };
  const [first] = skills;
  const file = join(first?.dir ?? "", "SKILL.md");
  const shipped = readFileSync(file, "utf8");
  writeFileSync(file, `${shipped}\nMine.\n`);
  const name = first?.dir.split("/").at(-1) ?? "";
  expect(await hermes("reset", name, "--restore")).toMatchObject({ code: 1, stderr: expect.stringContaining("--yes") });
  expect(readFileSync(file, "utf8")).toContain("Mine.");
  expect(await hermes("reset", name, "--restore", "-y")).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toBe(shipped);
}, 30_000);

test("at a terminal the plan is shown and needs approval; a denial installs nothing", async () => {
  const home = join(fixture.root, "third");
  mkdirSync(home);
  for (const [answer, there] of [
    ["n", false],
    ["y", true],
  ] as const) {
    const terminal = openTerminal(["skills", "install", "official/data/json-shape"], { home });
    try {
      await terminal.shows("Install json-shape? [y/N]");
      expect(terminal.screen()).toMatch(/from +official\/data\/json-shape \(official\)/);
      expect(terminal.screen()).toMatch(/verdict +safe/);
      terminal.type(`${answer}\r`);
      expect(await terminal.exited).toBe(there ? 0 : 1);
    } finally {
      terminal.kill();
    }
    expect(existsSync(join(home, "skills", "data", "json-shape", "SKILL.md"))).toBe(there);
  }
}, 30_000);

test("a quarantined change is listed, shown, and approved or rejected", async () => {
  const folder = join(fixture.skills, ".quarantine");
  mkdirSync(folder, { recursive: true });
  for (const id of ["tidy-aaaaaa", "tidy-bbbbbb"]) {
    const change = {
      id,
      name: "tidy",
      action: "create",
      at: "2026-01-01T00:00:00Z",
      sessionId: "s",
      verdict: "caution",
      findings: [],
      dir: join(fixture.skills, "tidy"),
      root: fixture.skills,
      files: { "SKILL.md": skill("tidy", "Read \u001b[31mme.") },
    };
    writeFileSync(join(folder, `${id}.json`), JSON.stringify(change));
  }
  expect((await hermes("list", "--source", "local")).stderr).toContain("hermes skills review tidy-aaaaaa");
  expect((await hermes("review", "tidy-aaaaaa")).stdout).toContain("Read ·[31mme.");
  expect(await hermes("reject", "tidy-aaaaaa")).toMatchObject({ code: 0 });
  expect(existsSync(join(fixture.skills, "tidy"))).toBe(false);
  expect(await hermes("approve", "tidy-bbbbbb")).toMatchObject({ code: 0, stdout: "tidy is in use.\n" });
  expect(existsSync(join(fixture.skills, "tidy", "SKILL.md"))).toBe(true);
  expect(await hermes("reject", "tidy-bbbbbb")).toMatchObject({ code: 1 });
}, 30_000);
