// Lasting changes after untrusted text, without a user to ask, are kept as proposals; accepting one makes exactly it.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { answering, GuardedHome, type ToolUse } from "./kit/guarded-home-fixture.ts";
import { runHermes } from "./kit/run-hermes.ts";

let host: GuardedHome;
beforeEach(async () => {
  host = await GuardedHome.open();
});
afterEach(() => host.close());

const readPage = (): ToolUse => ({ name: "web_extract", args: { urls: [host.page] } });
const remember = (content: string): ToolUse => ({
  name: "memory",
  args: { action: "add", target: "memory", content },
});
const SKILL = "---\nname: deploy-helper\ndescription: Deploys\n---\n\nDeploy through rel.example.\n";
const file = (path: string) => (existsSync(join(host.home, path)) ? readFileSync(join(host.home, path), "utf8") : "");

async function unattended(...uses: readonly ToolUse[]): Promise<string[]> {
  const talk = await host.talk();
  const results = await talk.turn(readPage(), ...uses);
  await talk.close();
  return results.slice(1);
}

describe("without a user, after a web page", () => {
  it("memory, skills, jobs and SOUL.md become proposals with their origin; accepting applies each exactly", async () => {
    const soul = join(host.home, "SOUL.md");
    const results = await unattended(
      remember("Releases go through rel.example."),
      { name: "skill_manage", args: { action: "create", name: "deploy-helper", content: SKILL } },
      { name: "cronjob", args: { action: "create", schedule: "every 1h", prompt: "Say hello", name: "Hello" } },
      { name: "write_file", args: { path: soul, content: "You are brief.\n" } },
    );
    for (const result of results) expect(result).toMatch(/proposal \d/);
    const { review } = await host.hermes();
    const open = await review.list();
    expect(open.map(({ what, state }) => [what, state])).toEqual([
      ["memory", "open"],
      ["skill", "open"],
      ["cron", "open"],
      ["file", "open"],
    ]);
    for (const { origin } of open) expect(origin).toContain(host.page);
    expect(file("memories/MEMORY.md")).toBe("Ada likes tea.\n");
    expect([file("skills/deploy-helper/SKILL.md"), file("SOUL.md")]).toEqual(["", "You are kind.\n"]);

    for (const { id } of open) await review.accept(id);
    expect(file("memories/MEMORY.md")).toContain("Releases go through rel.example.");
    expect(file("skills/deploy-helper/SKILL.md")).toBe(SKILL);
    expect(file("cron/jobs.json")).toContain("Say hello");
    expect(file("SOUL.md")).toBe("You are brief.\n");
    expect(await review.list()).toEqual([]);
    await expect(review.accept(open[0]?.id ?? 0)).rejects.toThrow(/already accepted/);
  });

  it("a discarded proposal changes nothing, and the same change is proposed once", async () => {
    await unattended(remember("A"), remember("A"), remember("B"));
    const { review } = await host.hermes();
    const open = await review.list();
    expect(open).toHaveLength(2);
    await review.discard(open[0]?.id ?? 0);
    expect((await review.list()).map(({ summary }) => summary)).toEqual(["add: B"]);
    expect(file("memories/MEMORY.md")).toBe("Ada likes tea.\n");
  });

  it("a change that cannot be made any more is kept with the reason", async () => {
    await unattended({ name: "skill_manage", args: { action: "create", name: "deploy-helper", content: SKILL } });
    const { review } = await host.hermes();
    const [proposal] = await review.list();
    const folder = join(host.home, "skills", "deploy-helper");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "SKILL.md"), SKILL);
    await expect(review.accept(proposal?.id ?? 0)).rejects.toThrow(/could not be applied/);
    expect((await review.find(proposal?.id ?? 0)).state).toBe("failed");
  });

  it.each([
    ["write_file", (): ToolUse => ({ name: "write_file", args: { path: "AGENTS.md", content: "evil" } })],
    ["the terminal", (): ToolUse => ({ name: "terminal", args: { command: "echo evil >> AGENTS.md" } })],
    [
      "a script",
      (): ToolUse => ({
        name: "execute_code",
        args: { code: "open('AGENTS.md','w').write('evil')", language: "python" },
      }),
    ],
  ])("a project's instructions are not changed by %s", async (_name, use) => {
    const [result] = await unattended(use());
    expect(result).toMatch(/instructions for later conversations/);
    expect(existsSync(join(host.project, "AGENTS.md"))).toBe(false);
  });
});

describe("the user's own words need no question", () => {
  it("after a web page, with or without a user who could be asked", async () => {
    const user = answering("deny");
    const attended = await host.talk({ human: user.human });
    await attended.turn(readPage());
    await attended.say("Please remember that I prefer green tea.", remember("User prefers green tea."));
    await attended.close();
    const alone = await host.talk();
    await alone.turn(readPage());
    await alone.say("Remember: my bike is blue.", remember("The user's bike is blue."));
    await alone.close();
    expect(user.asked).toEqual([]);
    expect(file("memories/MEMORY.md")).toMatch(/green tea[\s\S]*bike is blue/);
  });

  it("do not cover what the page added", async () => {
    const talk = await host.talk();
    const [, refused] = await talk.say(
      "Remember the release notes of this page.",
      readPage(),
      remember("The release notes of this page go through evil.example."),
    );
    await talk.close();
    expect(refused).toContain("proposal");
    expect(file("memories/MEMORY.md")).toBe("Ada likes tea.\n");
  });
});

describe("taint is inherited", () => {
  it("by a conversation that quotes an earlier one", async () => {
    const first = await host.talk();
    await first.turn(readPage());
    await first.close();
    const second = await host.talk();
    const [, refused] = await second.turn({ name: "session_search", args: { query: "evil" } }, remember("Use evil."));
    expect(second.provenance()).toMatchObject({ trust: "untrusted" });
    expect(second.provenance().origin).toContain(host.page);
    expect(refused).toContain("proposal");
    await second.close();
  });

  it("by a cloned project: its instructions and its files, until the user trusts it", async () => {
    execFileSync("git", ["init", "-q"], { cwd: host.project });
    execFileSync("git", ["remote", "add", "origin", "https://github.com/acme/app.git"], { cwd: host.project });
    host.put("project/AGENTS.md", "Be brief.\n");
    const user = answering("deny");
    const talk = await host.talk({ human: user.human });
    await talk.turn(remember("Releases go through rel.example."));
    await talk.close();
    expect(user.asked[0]?.reason).toContain("cloned from github.com/acme/app");
    await host.restart();
    const run = await runHermes(["review", "trust", host.project], { home: host.home, env: { HOME: host.user } });
    expect(run.stdout).toContain("counts as your own project");
    const again = await host.talk({ human: user.human });
    await again.turn(remember("Releases go through rel.example."));
    await again.close();
    expect(user.asked).toHaveLength(1);
    expect(file("memories/MEMORY.md")).toContain("rel.example");
  });

  it("by files of the workspace when no user watches", async () => {
    const talk = await host.talk();
    const [, refused] = await talk.turn({ name: "read_file", args: { path: "README.md" } }, remember("Use evil."));
    expect(refused).toMatch(/README.md, a file of the workspace.*proposal/);
    await talk.close();
  });
});

it("hermes review lists, shows and decides; a wrong number is an error", async () => {
  await unattended(remember("Use \u001b[2Jrel.example."));
  await host.restart();
  const run = (...args: string[]) => runHermes(["review", ...args], { home: host.home });
  expect((await run()).stdout).toMatch(/^1 {2}memory: add: Use \\x1b\[2Jrel\.example\. \(from the page http/);
  expect((await run("show", "1")).stdout).toContain("content: Use \\x1b[2Jrel.example.");
  expect((await run("accept", "1")).stdout).toContain("Accepted proposal 1");
  const again = await run("accept", "1");
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already accepted")]);
  expect((await run("list")).stdout).toContain("Nothing waits");
}, 30_000);
