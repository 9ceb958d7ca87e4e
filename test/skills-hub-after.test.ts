// Installed skills: updates, edits, malicious lock files, snapshots, publishing.
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HOSTILE, HubFixture, listing, skill, yes } from "./kit/hub-fixture.ts";

let fixture: HubFixture;

beforeEach(async () => {
  fixture = await HubFixture.open();
});

afterEach(() => fixture.close());

describe("installed skills", () => {
  const serve = (body: string) => fixture.hub.site.set("/notes/SKILL.md", skill("notes", body));
  const identifier = () => `${fixture.hub.url}/notes/SKILL.md`;

  test("an update shows changes, is scanned again, and never discards edits without approval", async () => {
    serve("First.");
    await fixture.actions.install(identifier(), {}, yes);
    await expect(fixture.actions.install(identifier(), {}, yes)).rejects.toThrow(/already installed/);
    serve("Second.");
    expect(await fixture.actions.check("notes")).toMatchObject([
      { status: "update_available", local: { state: "clean" } },
    ]);
    let seen: unknown;
    await fixture.actions.update("notes", {}, async (plan) => {
      seen = plan.changes;
      return "yes";
    });
    expect(seen).toMatchObject([
      { path: "SKILL.md", kind: "changed", plus: 1, minus: 1, patch: expect.stringContaining("+Second.") },
    ]);
    writeFileSync(join(fixture.skills, "notes", "SKILL.md"), skill("notes", "My own words."));
    expect(await fixture.actions.audit()).toMatchObject([
      { local: { state: "edited", edits: ["SKILL.md"] }, blocked: false },
    ]);
    serve("Third.");
    await expect(fixture.actions.update("notes", {}, yes)).rejects.toThrow(/was edited here/);
    await expect(fixture.actions.uninstall("notes", { forget: false, overwrite: false })).rejects.toThrow(
      /was edited here/,
    );
    expect(readFileSync(join(fixture.skills, "notes", "SKILL.md"), "utf8")).toContain("My own words.");
    const outcome = await fixture.actions.update("notes", {}, async (plan) => (plan.edited ? "overwrite" : "no"));
    expect(outcome).toMatchObject({ done: true, installed: { updated: true } });
    const kept = outcome.done ? (outcome.installed.kept ?? "") : "";
    expect(readFileSync(join(kept, "SKILL.md"), "utf8")).toContain("My own words.");
    serve(HOSTILE);
    await expect(fixture.actions.update("notes", { force: true }, yes)).rejects.toThrow(/dangerous/);
    expect(readFileSync(join(fixture.skills, "notes", "SKILL.md"), "utf8")).toContain("Third.");
    fixture.expectUntouched();
  });

  test("a malicious lock file cannot make uninstall, update or audit access other folders", async () => {
    serve("First.");
    await fixture.actions.install(identifier(), {}, yes);
    const path = join(fixture.skills, ".hub", "lock.json");
    const honest = fixture.lockOf("notes");
    const target = join(fixture.root, "precious");
    mkdirSync(join(target, "notes"), { recursive: true });
    writeFileSync(join(target, "notes", "SKILL.md"), skill("notes"));
    symlinkSync(target, join(fixture.skills, "tunnel"));
    fixture.before = listing(fixture.root, fixture.skills);
    const claims = [
      "../../precious/notes",
      target,
      "../config.yaml",
      ".",
      "",
      "..",
      ".hub/notes",
      "tunnel/notes",
      "a/b/notes",
      "..\\notes",
    ];
    for (const install_path of claims) {
      writeFileSync(path, JSON.stringify({ version: 1, installed: { notes: { ...honest, install_path } } }));
      await expect(fixture.actions.uninstall("notes", { forget: false, overwrite: true })).rejects.toThrow(
        /nothing was deleted/,
      );
      expect(await fixture.actions.audit()).toMatchObject([{ local: { state: "misplaced" } }]);
    }
    for (const name of ["../../precious", "..", ".hub"]) {
      writeFileSync(path, JSON.stringify({ installed: { [name]: { ...honest, install_path: name } } }));
      await expect(fixture.actions.uninstall(name, { forget: false, overwrite: true })).rejects.toThrow(
        /nothing was deleted/,
      );
    }
    writeFileSync(path, JSON.stringify({ installed: { notes: { ...honest, trust_level: "builtin" } } }));
    serve(HOSTILE);
    await expect(fixture.actions.update("notes", {}, yes)).rejects.toThrow(/community skill, verdict dangerous/);
    await fixture.actions.uninstall("notes", { forget: false, overwrite: false });
    expect(fixture.installedNames()).toEqual(["tunnel"]);
    fixture.expectUntouched();
    rmSync(join(fixture.skills, "tunnel"));
    writeFileSync(path, "not json");
    serve("Again.");
    await fixture.actions.install(identifier(), {}, yes);
    expect(readdirSync(join(fixture.skills, ".hub")).some((name) => name.startsWith("lock.json.broken-"))).toBe(true);
  });

  test("a declined skill and a failed move leave nothing behind", async () => {
    serve("First.");
    expect(await fixture.actions.install(identifier(), {}, async () => "no")).toMatchObject({ done: false });
    await expect(fixture.actions.install(identifier(), {}, () => Promise.reject(new Error("gone")))).rejects.toThrow(
      "gone",
    );
    expect(fixture.installedNames()).toEqual([]);
    fixture.expectUntouched();
  });

  test("a snapshot installs the same skills in another home, and reports changed ones", async () => {
    serve("First.");
    await fixture.actions.install(identifier(), { category: "office" }, yes);
    await fixture.actions.install("official/writing/neat", {}, yes);
    fixture.hub.repos.set("friend/shelf", { files: { "skills/t/SKILL.md": skill("t") } });
    await fixture.actions.addTap("friend/shelf", "skills/");
    const text = JSON.stringify(await fixture.actions.exportSnapshot());
    fixture.home = join(fixture.root, "second");
    mkdirSync(fixture.home);
    const other = await fixture.open();
    serve("Changed meanwhile.");
    expect(await other.importSnapshot(text, {}, yes)).toMatchObject([
      { name: "notes", outcome: "changed" },
      { name: "neat", outcome: "installed" },
    ]);
    serve("First.");
    expect(await other.importSnapshot(text, {}, yes)).toMatchObject([{ outcome: "installed" }, { outcome: "present" }]);
    expect(readFileSync(join(fixture.home, "skills", "office", "notes", "SKILL.md"), "utf8")).toContain("First.");
    expect((await other.taps()).filter((tap) => tap.own)).toEqual([
      { repo: "friend/shelf", path: "skills/", own: true },
    ]);
  });
});

test("GitHub's limits and missing repositories are reported with a hint; the token is sent to GitHub only", async () => {
  fixture.hub.repos.set("a/b", { files: { "s/SKILL.md": skill("s") } });
  const withToken = await fixture.open({ GITHUB_TOKEN: "token-of-the-test" });
  await withToken.inspect("a/b/s");
  expect(fixture.hub.requests.every((request) => request.headers.authorization?.startsWith("Bearer token-of"))).toBe(
    true,
  );
  fixture.hub.site.set("/s/SKILL.md", skill("s"));
  await withToken.inspect(`${fixture.hub.url}/s/SKILL.md`);
  expect(fixture.hub.requests.at(-1)?.headers.authorization).toBeUndefined();
  await expect(fixture.actions.inspect("no/where/s")).rejects.toThrow(/not on GitHub, or it is private/);
  await expect(fixture.actions.inspect("a/b/nothing")).rejects.toThrow(/has no skill "nothing"/);
  fixture.hub.rateLimited = true;
  await expect(fixture.actions.inspect("a/b/s")).rejects.toThrow(/rate limit/);
  const { notes } = await fixture.actions.search("neat", { limit: 5 });
  expect(notes.join()).toMatch(/github: GitHub's rate limit/);
});

test("a skill is published to a folder, a site and a pull request, unless the guard refuses it", async () => {
  const own = join(fixture.root, "mine");
  mkdirSync(join(own, "scripts"), { recursive: true });
  writeFileSync(join(own, "SKILL.md"), skill("mine"));
  writeFileSync(join(own, "scripts", "a.sh"), "#!/bin/sh\necho a\n");
  writeFileSync(join(own, ".env"), "SECRET=1");
  const repo = await fixture.actions.publish(own, { to: "folder", dir: join(fixture.root, "repo"), force: false });
  expect(readdirSync(repo.where).sort()).toEqual(["SKILL.md", "scripts"]);
  await fixture.actions.publish(own, { to: "site", dir: join(fixture.root, "www"), force: false });
  const index = readFileSync(join(fixture.root, "www", ".well-known", "skills", "index.json"), "utf8");
  expect(JSON.parse(index)).toEqual({
    skills: [{ name: "mine", description: "Keeps notes in order", files: ["SKILL.md", "scripts/a.sh"] }],
  });
  fixture.hub.repos.set("team/skills", { files: { "README.md": "x" } });
  await expect(fixture.actions.publish(own, { to: "github", repo: "team/skills", force: false })).rejects.toThrow(
    /needs a token/,
  );
  const withToken = await fixture.open({ GITHUB_TOKEN: "token-of-the-test" });
  const pull = await withToken.publish(own, { to: "github", repo: "team/skills", force: false });
  expect(pull.where).toBe("https://github.com/team/skills/pull/7");
  const tree = fixture.hub.requests.find((request) => request.path.endsWith("/git/trees") && request.method === "POST");
  expect(tree?.path).toBe("/api/repos/me/skills/git/trees");
  expect(JSON.parse(tree?.body ?? "{}")).toMatchObject({
    tree: [
      { path: "skills/mine/SKILL.md", mode: "100644" },
      { path: "skills/mine/scripts/a.sh", mode: "100755" },
    ],
  });
  writeFileSync(join(own, "SKILL.md"), skill("mine", HOSTILE));
  await expect(
    fixture.actions.publish(own, { to: "folder", dir: join(fixture.root, "repo"), force: true }),
  ).rejects.toThrow(/dangerous/);
});
