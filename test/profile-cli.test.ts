// `hermes profile`: the life of a profile, archives that GNU tar reads and writes, and archives that are refused.
import { execFileSync, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { importProfile } from "../src/home/profiles/api.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: string;
let llm: FakeLlm;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "hermes-profiles-"));
  llm = await startFakeLlm({ script: () => text("Writes release notes.") });
  const model = `model:\n  default: test-model\n  provider: custom\n  base_url: ${llm.url}/v1\n`;
  writeFileSync(join(home, "config.yaml"), `${model}timezone: Asia/Tokyo\n`);
  writeFileSync(join(home, ".env"), "LAB_KEY=abc\n");
});
afterAll(async () => {
  rmSync(home, { recursive: true, force: true });
  await llm.close();
});

const hermes = async (...args: string[]) => {
  const run = await runHermes(args, { home });
  return { ...run, said: `${run.stdout}${run.stderr}` };
};

it("creates, clones, uses, describes, renames and deletes", async () => {
  const missing = await hermes("-p", "work", "sessions", "list");
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("hermes profile create work")]);
  expect((await hermes("profile", "create", "work", "--clone")).code).toBe(0);
  const path = join(home, "profiles", "work");
  expect(readFileSync(join(path, "config.yaml"), "utf8")).toContain("Asia/Tokyo");
  expect([statSync(path).mode & 0o777, statSync(join(path, ".env")).mode & 0o777]).toEqual([0o700, 0o600]);
  expect(readFileSync(join(home, ".local", "bin", "work"), "utf8")).toContain('exec hermes -p work "$@"');
  expect((await hermes("profile", "create", "work")).said).toContain("already a profile");
  expect((await hermes("profile", "describe", "work")).stdout).toBe("Writes release notes.\n");
  await hermes("profile", "use", "work");
  expect((await hermes("profile", "list")).stdout).toMatch(/◆ +work +test-model +stopped .*Writes release notes/);
  expect((await hermes("profile", "rename", "work", "job")).code).toBe(0);
  expect(readFileSync(join(home, "active_profile"), "utf8")).toBe("job\n");
  expect([existsSync(join(home, ".local/bin/work")), existsSync(join(home, ".local/bin/job"))]).toEqual([false, true]);
  expect((await hermes("profile", "delete", "job")).said).toContain("Nothing was deleted");
  expect((await hermes("profile", "delete", "job", "-y")).code).toBe(0);
  expect([existsSync(join(home, "active_profile")), existsSync(join(home, ".local/bin/job"))]).toEqual([false, false]);
  for (const [args, said] of [
    [["create", "Default"], "cannot be the name"],
    [["create", "../x"], "cannot be the name"],
    [["delete", "default", "-y"], "cannot be the name"],
    [["use", "nobody"], "hermes profile create nobody"],
  ] as const)
    expect((await hermes("profile", ...args)).said).toContain(said);
}, 60_000);

it("exports without keys to a file that tar reads, and imports it and one that tar made", async () => {
  await hermes("profile", "create", "lab", "--clone", "--no-alias");
  const long = `notes/${"long-name-".repeat(14)}ü.txt`;
  mkdirSync(join(home, "profiles/lab/notes"));
  writeFileSync(join(home, "profiles/lab", long), "kept");
  const file = join(home, "lab.tar.gz");
  expect((await hermes("profile", "export", "lab", "-o", file)).code).toBe(0);
  const names = execFileSync("tar", ["-tzf", file, "--quoting-style=literal"], { encoding: "utf8" }).split("\n");
  expect(names).toEqual(expect.arrayContaining(["lab/config.yaml", `lab/${long}`]));
  expect(names).not.toContain("lab/.env");
  expect(await importProfile(home, file, "copy")).toBe("copy");
  expect(readFileSync(join(home, "profiles/copy", long), "utf8")).toBe("kept");
  for (const format of ["gnu", "pax", "ustar"]) {
    const made = join(home, `${format}.tgz`);
    execFileSync("tar", [`--format=${format}`, "-C", join(home, "profiles"), "-czf", made, "lab/config.yaml"]);
    await importProfile(home, made, format);
    expect(existsSync(join(home, "profiles", format, "config.yaml"))).toBe(true);
  }
}, 60_000);

it("refuses archives with links, paths out of the profile, and damage, and creates nothing", async () => {
  const stage = mkdtempSync(join(tmpdir(), "hermes-tar-"));
  mkdirSync(join(stage, "p"));
  symlinkSync("/etc/passwd", join(stage, "p", "link"));
  writeFileSync(join(stage, "p", "a"), "x");
  const make = (name: string, ...args: string[]) => {
    const file = join(stage, name);
    spawnSync("tar", ["-C", stage, "-P", "-czf", file, ...args]);
    return file;
  };
  const cut = join(stage, "cut.tgz");
  const whole = make("whole.tgz", "p/a");
  writeFileSync(cut, readFileSync(whole).subarray(0, 60));
  const files = [
    make("link.tgz", "p"),
    make("up.tgz", "--transform=s,^p/a,p/../../evil,", "p/a"),
    make("absolute.tgz", "--transform=s,^p/a,/tmp/hermes-evil,", "p/a"),
    make("two.tgz", "p/a", "cut.tgz"),
    cut,
  ];
  for (const file of files) {
    await expect(importProfile(home, file, "bad")).rejects.toMatchObject({ name: "UserError" });
    expect([existsSync(join(home, "profiles", "bad")), existsSync("/tmp/hermes-evil")]).toEqual([false, false]);
  }
  rmSync(stage, { recursive: true });
});
