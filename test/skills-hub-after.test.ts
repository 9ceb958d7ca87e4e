// Installed skills: updates, edits, malicious lock files, snapshots, publishing.
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { HOSTILE, HubFixture, listing, skill, yes } from "./kit/hub-fixture.ts";

let place: HubFixture;

beforeEach(async () => {
  place = await HubFixture.open();
});

afterEach(() => place.close());

describe("installed skills", () => {
  const serve = (body: string) => place.hub.site.set("/notes/SKILL.md", skill("notes", body));
  const identifier = () => `${place.hub.url}/notes/SKILL.md`;

  test("an update shows changes, is scanned again, and never discards edits without approval", async () => {
    serve("First.");
    await place.actions.install(identifier(), {}, yes);
    await expect(place.actions.install(identifier(), {}, yes)).rejects.toThrow(/already installed/);
    serve("Second.");
    expect(await place.actions.check("notes")).toMatchObject([
      { status: "update_available", local: { state: "clean" } },
    ]);
    let seen: unknown;
    await place.actions.update("notes", {}, async (plan) => {
      seen = plan.changes;
      return "yes";
    });
    expect(seen).toMatchObject([
      { path: "SKILL.md", kind: "changed", plus: 1, minus: 1, patch: expect.stringContaining("+Second.") },
    ]);
    writeFileSync(join(place.skills, "notes", "SKILL.md"), skill("notes", "My own words."));
    expect(await place.actions.audit()).toMatchObject([
      { local: { state: "edited", edits: ["SKILL.md"] }, blocked: false },
    ]);
    serve("Third.");
    await expect(place.actions.update("notes", {}, yes)).rejects.toThrow(/was edited here/);
    await expect(place.actions.uninstall("notes", { forget: false, overwrite: false })).rejects.toThrow(
      /was edited here/,
    );
    expect(readFileSync(join(place.skills, "notes", "SKILL.md"), "utf8")).toContain("My own words.");
    const outcome = await place.actions.update("notes", {}, async (plan) => (plan.edited ? "overwrite" : "no"));
    expect(outcome).toMatchObject({ done: true, installed: { updated: true } });
    const kept = outcome.done ? (outcome.installed.kept ?? "") : "";
    expect(readFileSync(join(kept, "SKILL.md"), "utf8")).toContain("My own words.");
    serve(HOSTILE);
    await expect(place.actions.update("notes", { force: true }, yes)).rejects.toThrow(/dangerous/);
    expect(readFileSync(join(place.skills, "notes", "SKILL.md"), "utf8")).toContain("Third.");
    place.expectUntouched();
  });

  test("a malicious lock file cannot make uninstall, update or audit access other folders", async () => {
    serve("First.");
    await place.actions.install(identifier(), {}, yes);
    const path = join(place.skills, ".hub", "lock.json");
    const honest = place.lockOf("notes");
    const target = join(place.root, "precious");
    mkdirSync(join(target, "notes"), { recursive: true });
    writeFileSync(join(target, "notes", "SKILL.md"), skill("notes"));
    symlinkSync(target, join(place.skills, "tunnel"));
    place.before = listing(place.root, place.skills);
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
      await expect(place.actions.uninstall("notes", { forget: false, overwrite: true })).rejects.toThrow(
        /nothing was deleted/,
      );
      expect(await place.actions.audit()).toMatchObject([{ local: { state: "misplaced" } }]);
    }
    for (const name of ["../../precious", "..", ".hub"]) {
      writeFileSync(path, JSON.stringify({ installed: { [name]: { ...honest, install_path: name } } }));
      await expect(place.actions.uninstall(name, { forget: false, overwrite: true })).rejects.toThrow(
        /nothing was deleted/,
      );
    }
    writeFileSync(path, JSON.stringify({ installed: { notes: { ...honest, trust_level: "builtin" } } }));
    serve(HOSTILE);
    await expect(place.actions.update("notes", {}, yes)).rejects.toThrow(/community skill, verdict dangerous/);
    await place.actions.uninstall("notes", { forget: false, overwrite: false });
    expect(place.installedNames()).toEqual(["tunnel"]);
    place.expectUntouched();
    rmSync(join(place.skills, "tunnel"));
    writeFileSync(path, "not json");
    serve("Again.");
    await place.actions.install(identifier(), {}, yes);
    expect(readdirSync(join(place.skills, ".hub")).some((name) => name.startsWith("lock.json.broken-"))).toBe(true);
  });

  test("a declined skill and a failed move leave nothing behind", async () => {
    serve("First.");
    expect(await place.actions.install(identifier(), {}, async () => "no")).toMatchObject({ done: false });
    await expect(place.actions.install(identifier(), {}, () => Promise.reject(new Error("gone")))).rejects.toThrow(
      "gone",
    );
    expect(place.installedNames()).toEqual([]);
    place.expectUntouched();
  });

  test("a snapshot installs the same skills in another home, and reports changed ones", async () => {
    serve("First.");
    await place.actions.install(identifier(), { category: "office" }, yes);
    await place.actions.install("official/writing/neat", {}, yes);
    place.hub.repos.set("friend/shelf", { files: { "skills/t/SKILL.md": skill("t") } });
    await place.actions.addTap("friend/shelf", "skills/");
    const text = JSON.stringify(await place.actions.exportSnapshot());
    place.home = join(place.root, "second");
    mkdirSync(place.home);
    const other = await place.open();
    serve("Changed meanwhile.");
    expect(await other.importSnapshot(text, {}, yes)).toMatchObject([
      { name: "notes", outcome: "changed" },
      { name: "neat", outcome: "installed" },
    ]);
    serve("First.");
    expect(await other.importSnapshot(text, {}, yes)).toMatchObject([{ outcome: "installed" }, { outcome: "present" }]);
    expect(readFileSync(join(place.home, "skills", "office", "notes", "SKILL.md"), "utf8")).toContain("First.");
    expect((await other.taps()).filter((tap) => tap.own)).toEqual([
      { repo: "friend/shelf", path: "skills/", own: true },
    ]);
  });
});

test("GitHub's limits and missing repositories are reported with a hint; the token is sent to GitHub only", async () => {
  place.hub.repos.set("a/b", { files: { "s/SKILL.md": skill("s") } });
  const withToken = await place.open({ GITHUB_TOKEN: "token-of-the-test" });
  await withToken.inspect("a/b/s");
  expect(place.hub.requests.every((request) => request.headers.authorization?.startsWith("Bearer token-of"))).toBe(
    true,
  );
  place.hub.site.set("/s/SKILL.md", skill("s"));
  await withToken.inspect(`${place.hub.url}/s/SKILL.md`);
  expect(place.hub.requests.at(-1)?.headers.authorization).toBeUndefined();
  await expect(place.actions.inspect("no/where/s")).rejects.toThrow(/not on GitHub, or it is private/);
  await expect(place.actions.inspect("a/b/nothing")).rejects.toThrow(/has no skill "nothing"/);
  place.hub.rateLimited = true;
  await expect(place.actions.inspect("a/b/s")).rejects.toThrow(/rate limit/);
  const { notes } = await place.actions.search("neat", { limit: 5 });
  expect(notes.join()).toMatch(/github: GitHub's rate limit/);
});

test("a skill is published to a folder, a site and a pull request, unless the guard refuses it", async () => {
  const own = join(place.root, "mine");
  mkdirSync(join(own, "scripts"), { recursive: true });
  writeFileSync(join(own, "SKILL.md"), skill("mine"));
  writeFileSync(join(own, "scripts", "a.sh"), "#!/bin/sh\necho a\n");
  writeFileSync(join(own, ".env"), "SECRET=1");
  const repo = await place.actions.publish(own, { to: "folder", dir: join(place.root, "repo"), force: false });
  expect(readdirSync(repo.where).sort()).toEqual(["SKILL.md", "scripts"]);
  await place.actions.publish(own, { to: "site", dir: join(place.root, "www"), force: false });
  const index = readFileSync(join(place.root, "www", ".well-known", "skills", "index.json"), "utf8");
  expect(JSON.parse(index)).toEqual({
    skills: [{ name: "mine", description: "Keeps notes in order", files: ["SKILL.md", "scripts/a.sh"] }],
  });
  place.hub.repos.set("team/skills", { files: { "README.md": "x" } });
  await expect(place.actions.publish(own, { to: "github", repo: "team/skills", force: false })).rejects.toThrow(
    /needs a token/,
  );
  const withToken = await place.open({ GITHUB_TOKEN: "token-of-the-test" });
  const pull = await withToken.publish(own, { to: "github", repo: "team/skills", force: false });
  expect(pull.where).toBe("https://github.com/team/skills/pull/7");
  const tree = place.hub.requests.find((request) => request.path.endsWith("/git/trees") && request.method === "POST");
  expect(tree?.path).toBe("/api/repos/me/skills/git/trees");
  expect(JSON.parse(tree?.body ?? "{}")).toMatchObject({
    tree: [
      { path: "skills/mine/SKILL.md", mode: "100644" },
      { path: "skills/mine/scripts/a.sh", mode: "100755" },
    ],
  });
  writeFileSync(join(own, "SKILL.md"), skill("mine", HOSTILE));
  await expect(
    place.actions.publish(own, { to: "folder", dir: join(place.root, "repo"), force: true }),
  ).rejects.toThrow(/dangerous/);
});
