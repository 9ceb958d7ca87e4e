// Harmless and malicious skills from each source of the hub, served on loopback.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeTarGz, makeZip } from "./kit/archive-makers.ts";
import { CAREFUL, HOSTILE, HubFixture, listing, skill, yes } from "./kit/hub-fixture.ts";

let fixture: HubFixture;

beforeEach(async () => {
  fixture = await HubFixture.open();
});

afterEach(() => fixture.close());

/** Makes each source serve a skill called `name`; returns its identifier. */
const SOURCES: { readonly [source: string]: (name: string, body: string) => string } = {
  github: (name, body) => {
    fixture.hub.repos.set("someone/tools", {
      files: {
        "README.md": "hello",
        [`skills/${name}/SKILL.md`]: skill(name, body),
        [`skills/${name}/scripts/go.sh`]: { content: "#!/bin/sh\necho go\n", mode: "100755" },
      },
    });
    return `someone/tools/${name}`;
  },
  "skills-sh": (name, body) => {
    fixture.hub.repos.set("vendor/kit", {
      files: { [`packages/kit/${name}-folder/SKILL.md`]: skill(name, body) },
      branch: "trunk",
    });
    fixture.hub.directory.push({ id: `vendor/kit/${name}`, skillId: name, name, installs: 12, source: "vendor/kit" });
    return `skills-sh/vendor/kit/${name}`;
  },
  "well-known": (name, body) => {
    const entry = { name, description: "Keeps notes", files: ["SKILL.md", "references/more.md"] };
    fixture.hub.site.set("/.well-known/skills/index.json", JSON.stringify({ skills: [entry] }));
    fixture.hub.site.set(`/.well-known/skills/${name}/SKILL.md`, skill(name, body));
    fixture.hub.site.set(`/.well-known/skills/${name}/references/more.md`, "More about notes.\n");
    return `${fixture.hub.url}/.well-known/skills/index.json#${name}`;
  },
  "well-known, newer form": (name, body) => {
    const bytes = makeTarGz([{ path: "SKILL.md", content: skill(name, body) }]);
    const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
    const entry = { name, type: "archive", description: "Keeps notes", url: `${name}.tar.gz`, digest };
    const $schema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";
    fixture.hub.site.set("/.well-known/agent-skills/index.json", JSON.stringify({ $schema, skills: [entry] }));
    fixture.hub.site.set(`/.well-known/agent-skills/${name}.tar.gz`, bytes);
    return `well-known:${fixture.hub.url}#${name}`;
  },
  "url of a file": (name, body) => {
    fixture.hub.site.set(`/files/${name}/SKILL.md`, skill(name, body));
    return `${fixture.hub.url}/files/${name}/SKILL.md`;
  },
  "url of a zip": (name, body) => {
    fixture.hub.site.set("/files/pack.zip", makeZip([{ path: `${name}-main/SKILL.md`, content: skill(name, body) }]));
    return `${fixture.hub.url}/files/pack.zip`;
  },
  "url of a tar.gz": (name, body) => {
    fixture.hub.site.set("/files/pack.tar.gz", makeTarGz([{ path: `${name}/SKILL.md`, content: skill(name, body) }]));
    return `${fixture.hub.url}/files/pack.tar.gz`;
  },
};

describe.each(Object.entries(SOURCES))("%s", (_, serve) => {
  test("a harmless skill is installed, a malicious one is not, and nothing else is changed", async () => {
    const identifier = serve("good-notes", "Write the notes down.");
    const outcome = await fixture.actions.install(identifier, {}, yes);
    expect(outcome).toMatchObject({
      done: true,
      installed: { name: "good-notes", dir: join(fixture.skills, "good-notes") },
    });
    expect(readFileSync(join(fixture.skills, "good-notes", "SKILL.md"), "utf8")).toContain("Write the notes down.");
    expect(fixture.lockOf("good-notes")).toMatchObject({
      trust_level: "community",
      scan_verdict: "safe",
      install_path: "good-notes",
      content_hash: expect.stringMatching(/^sha256:[0-9a-f]{16}$/),
      metadata: { sha256: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) },
    });
    const hostile = serve("bad-notes", HOSTILE);
    for (const force of [false, true])
      await expect(fixture.actions.install(hostile, { force }, yes)).rejects.toThrow(
        /not installed: community skill, verdict dangerous/,
      );
    expect(fixture.installedNames()).toEqual(["good-notes"]);
    expect(fixture.auditLog()).toMatch(/INSTALL good-notes \S+:community safe sha256:/);
    expect(fixture.auditLog()).toMatch(/BLOCKED bad-notes \S+:community dangerous/);
    expect(await fixture.actions.check()).toMatchObject([{ name: "good-notes", local: { state: "clean" } }]);
    fixture.expectUntouched();
  });
});

test("official skills install by name into their category, with official trust; a skill with a link does not", async () => {
  expect(await fixture.actions.install("neat", {}, yes)).toMatchObject({
    installed: { dir: join(fixture.skills, "writing", "neat") },
  });
  expect(fixture.lockOf("neat")).toMatchObject({
    identifier: "official/writing/neat",
    trust_level: "official",
    install_path: "writing/neat",
  });
  const evil = join(fixture.root, "optional", "writing", "evil");
  mkdirSync(evil);
  writeFileSync(join(evil, "SKILL.md"), skill("evil"));
  symlinkSync(join(fixture.root, "treasure.txt"), join(evil, "notes.md"));
  fixture.before = listing(fixture.root, fixture.skills);
  await expect(fixture.actions.install("official/writing/evil", {}, yes)).rejects.toThrow(/is a link/);
  fixture.expectUntouched();
});

test("taps are searched and their skills install by name, malicious ones do not", async () => {
  fixture.hub.repos.set("friend/shelf", {
    files: {
      "extra/tidy/SKILL.md": skill("tidy"),
      "extra/nasty/SKILL.md": skill("nasty", HOSTILE),
      "skills/other/SKILL.md": skill("other"),
    },
  });
  expect(await fixture.actions.addTap("https://github.com/friend/shelf.git", "extra/")).toEqual({
    repo: "friend/shelf",
    skills: 2,
    added: true,
  });
  const { listings } = await fixture.actions.search("notes", { limit: 10, source: "github" });
  expect(listings.map(({ identifier }) => identifier)).toEqual(["friend/shelf/extra/nasty", "friend/shelf/extra/tidy"]);
  expect(await fixture.actions.install("tidy", {}, yes)).toMatchObject({ done: true });
  await expect(fixture.actions.install("nasty", { force: true }, yes)).rejects.toThrow(/dangerous/);
  expect(await fixture.actions.removeTap("friend/shelf")).toBe(true);
  expect((await fixture.actions.taps()).filter((tap) => tap.own)).toEqual([]);
  fixture.expectUntouched();
});

test("trusted repositories get more trust, look-alikes and named revisions do not", async () => {
  const files = { "skills/care/SKILL.md": skill("care", CAREFUL) };
  for (const repo of ["anthropics/skills", "anthropics/skills-evil", "anthropics2/skills"])
    fixture.hub.repos.set(repo, { files });
  expect(await fixture.actions.inspect("anthropics/skills/care")).toMatchObject({
    trust: "trusted",
    verdict: "caution",
    action: "allow",
  });
  for (const identifier of ["anthropics/skills-evil/care", "anthropics2/skills/care", "anthropics/skills/care#main"])
    expect(await fixture.actions.inspect(identifier)).toMatchObject({
      trust: "community",
      action: "block",
      overridable: true,
    });
  await expect(fixture.actions.install("anthropics2/skills/care", {}, yes)).rejects.toThrow(/verdict caution/);
  expect(await fixture.actions.install("anthropics2/skills/care", { force: true }, yes)).toMatchObject({ done: true });
});

describe("no source may", () => {
  test.each([
    [
      "climb out of a zip",
      () =>
        makeZip([
          { path: "SKILL.md", content: skill("a") },
          { path: "../../../treasure.txt", content: "gone" },
        ]),
    ],
    [
      "write an absolute path",
      () =>
        makeZip([
          { path: "SKILL.md", content: skill("a") },
          { path: join(fixture.root, "treasure.txt"), content: "gone" },
        ]),
    ],
    [
      "leave a link",
      () =>
        makeTarGz([
          { path: "SKILL.md", content: skill("a") },
          { path: "out", type: "2", link: fixture.root },
          { path: "out/treasure.txt", content: "gone" },
        ]),
    ],
    [
      "explode",
      () =>
        makeTarGz([
          { path: "SKILL.md", content: skill("a") },
          { path: "zeros.txt", content: Buffer.alloc(2_000_000) },
        ]),
    ],
    [
      "hide a name",
      () =>
        makeZip([
          { path: "SKILL.md", content: skill("a") },
          { path: "read\u202eme.md", content: "x" },
        ]),
    ],
    [
      "hide a program",
      () =>
        makeZip([
          { path: "SKILL.md", content: skill("a") },
          { path: "scripts/run.bin", content: "\u007fELF" },
        ]),
    ],
  ])("%s", async (_, make) => {
    fixture.hub.site.set("/a.zip", make());
    await expect(fixture.actions.install(`${fixture.hub.url}/a.zip`, { force: true }, yes)).rejects.toThrow(
      /refused|dangerous/,
    );
    expect(fixture.auditLog()).toMatch(/BLOCKED/);
    expect(fixture.installedNames()).toEqual([]);
    fixture.expectUntouched();
  });

  test("serve links, other bytes than listed, or an index with parent paths", async () => {
    const file = skill("a");
    fixture.hub.repos.set("x/links", {
      files: { "a/SKILL.md": file, "a/out": { content: "/etc/passwd", mode: "120000" } },
    });
    await expect(fixture.actions.install("x/links/a", {}, yes)).rejects.toThrow(/is a link/);
    fixture.hub.repos.set("x/mirror", { files: { "a/SKILL.md": { content: file, served: skill("a", HOSTILE) } } });
    await expect(fixture.actions.install("x/mirror/a", {}, yes)).rejects.toThrow(/does not match the hash/);
    fixture.hub.repos.set("x/large", { files: { "a/SKILL.md": file, "a/more/deep.md": "text" }, truncated: true });
    expect(await fixture.actions.install("x/large/a", {}, yes)).toMatchObject({
      done: true,
      plan: { files: ["SKILL.md", "more/deep.md"] },
    });
    fixture.hub.site.set(
      "/.well-known/skills/index.json",
      JSON.stringify({
        skills: [
          { name: "a", files: ["SKILL.md", "../../treasure.txt"] },
          { name: "../b", files: [] },
        ],
      }),
    );
    await expect(fixture.actions.install(`well-known:${fixture.hub.url}#a`, {}, yes)).rejects.toThrow(
      /points outside its folder/,
    );
    await expect(fixture.actions.install("x/links/../../../etc", {}, yes)).rejects.toThrow(
      /points outside its folder|no skill/,
    );
    fixture.expectUntouched();
  });

  test("serve a download with another digest, a redirect to the local network, or a private address", async () => {
    fixture.hub.site.set(
      "/.well-known/agent-skills/index.json",
      JSON.stringify({ skills: [{ name: "a", type: "skill-md", url: "a.md", digest: `sha256:${"0".repeat(64)}` }] }),
    );
    fixture.hub.site.set("/.well-known/agent-skills/a.md", skill("a"));
    await expect(fixture.actions.install(`well-known:${fixture.hub.url}#a`, {}, yes)).rejects.toThrow(/digest/);
    fixture.hub.redirects.set("/meta.md", "http://169.254.169.254/latest/meta-data/SKILL.md");
    await expect(fixture.actions.install(`${fixture.hub.url}/meta.md`, {}, yes)).rejects.toThrow(/metadata service/);
    const strict = await fixture.open({ HERMES_ALLOW_PRIVATE_URLS: "" });
    fixture.hub.site.set("/SKILL.md", skill("a"));
    await expect(strict.install(`${fixture.hub.url}/SKILL.md`, {}, yes)).rejects.toThrow(/private address/);
    fixture.expectUntouched();
  });

  test("serve more than the size limit, file by file", async () => {
    const files = Array.from({ length: 60 }, (_, index) => `references/f${index}.md`);
    fixture.hub.site.set("/.well-known/skills/index.json", JSON.stringify({ skills: [{ name: "fat", files }] }));
    for (const file of files) fixture.hub.site.set(`/.well-known/skills/fat/${file}`, Buffer.alloc(2_000_000, "x"));
    await expect(fixture.actions.install(`well-known:${fixture.hub.url}#fat`, {}, yes)).rejects.toThrow(/bytes in all/);
    expect(fixture.hub.requests.length).toBeLessThan(20);
  });

  test("replace an existing skill, or use a name with a path", async () => {
    mkdirSync(join(fixture.skills, "own", "mine"), { recursive: true });
    writeFileSync(join(fixture.skills, "own", "mine", "SKILL.md"), skill("mine"));
    fixture.hub.site.set("/mine/SKILL.md", skill("mine"));
    await expect(fixture.actions.install(`${fixture.hub.url}/mine/SKILL.md`, { force: true }, yes)).rejects.toThrow(
      /another skill has this name: own\/mine/,
    );
    for (const name of ["../up", "a/b", ".hub", "Über"])
      await expect(fixture.actions.install(`${fixture.hub.url}/mine/SKILL.md`, { name }, yes)).rejects.toThrow(
        /refused: name/,
      );
    symlinkSync(fixture.root, join(fixture.skills, "linked"));
    await expect(
      fixture.actions.install(`${fixture.hub.url}/mine/SKILL.md`, { name: "new", category: "linked" }, yes),
    ).rejects.toThrow(/not a regular folder/);
    fixture.expectUntouched();
  });
});
