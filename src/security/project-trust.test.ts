// Which projects count as the user's own, with real repositories.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import type { ProjectDecision } from "../core/project-trust.ts";
import { createProjectTrust, normalRemote } from "./project-trust.ts";

let home: string;
let stored: Map<string, ProjectDecision>;
beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), "trust-")));
  stored = new Map();
});

function git(cwd: string, ...args: string[]): void {
  const identity = ["-c", "user.name=Ada", "-c", "user.email=ada@acme.test"];
  execFileSync("git", [...identity, ...args], {
    cwd,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home },
    stdio: "pipe",
  });
}

function project(name: string, remote?: string): string {
  const folder = join(home, name);
  mkdirSync(join(folder, "src"), { recursive: true });
  git(folder, "init", "-q", "-b", "main");
  writeFileSync(join(folder, "README.md"), "hello\n");
  git(folder, "add", "-A");
  git(folder, "commit", "-q", "-m", "first");
  if (remote) git(folder, "remote", "add", "origin", remote);
  return folder;
}

const trust = (trustedRemotes: string[] = []) =>
  createProjectTrust({
    userHome: home,
    trustedRemotes,
    decisions: {
      find: async (folder, remote) => stored.get(`${folder} ${remote}`),
      record: async (folder, remote, decision) => void stored.set(`${folder} ${remote}`, decision),
    },
  });

it("a folder without git and a repository without a remote are the user's own", async () => {
  expect(await trust().foreignOrigin(home)).toBeUndefined();
  expect(await trust().foreignOrigin(join(project("mine"), "README.md"))).toBeUndefined();
});

it("a clone is somebody else's, also below and in a worktree, until its remote is named", async () => {
  const folder = project("app", "https://github.com/acme/app.git");
  expect(await trust().foreignOrigin(join(folder, "src"))).toContain("cloned from github.com/acme/app");
  git(folder, "worktree", "add", "-q", join(home, "tree"));
  expect(await trust().foreignOrigin(join(home, "tree"))).toContain("github.com/acme/app");
  stored.clear();
  expect(await trust(["github.com/acme"]).foreignOrigin(folder)).toBeUndefined();
  stored.clear();
  expect(await trust(["github.com/ac"]).foreignOrigin(folder)).toContain("cloned");
});

it("a remote with the user's name at the host is the user's", async () => {
  writeFileSync(join(home, ".gitconfig"), "[user]\n\tname = Ada\n[github]\n\tuser = ada\n");
  expect(await trust().foreignOrigin(project("a", "git@github.com:ada/app.git"))).toBeUndefined();
  expect(await trust().foreignOrigin(project("b", "git@github.com:adam/app.git"))).toContain("adam/app");
});

it("a project to which the user has pushed is the user's; a later push does not change the first decision", async () => {
  const bare = join(home, "bare.git");
  mkdirSync(bare);
  git(bare, "init", "-q", "--bare");
  const folder = project("pushed", bare);
  git(folder, "push", "-q", "-u", "origin", "main");
  git(folder, "remote", "set-url", "origin", "https://git.acme.test/team/app");
  expect(await trust().foreignOrigin(folder)).toBeUndefined();

  const other = project("later", bare);
  git(other, "remote", "set-url", "origin", "https://git.acme.test/team/other");
  expect(await trust().foreignOrigin(other)).toContain("team/other");
  const log = join(other, ".git/logs/refs/remotes/origin");
  mkdirSync(log, { recursive: true });
  writeFileSync(join(log, "main"), "0 1 Eve <e@e> 1 +0000\tupdate by push\n");
  expect(await trust().foreignOrigin(other)).toContain("team/other");
});

it("dependencies inside the user's own project are somebody else's", async () => {
  const folder = project("own");
  expect(await trust().foreignOrigin(join(folder, "node_modules/x/README.md"))).toContain("a dependency");
  expect(await trust().foreignOrigin(join(folder, "vendor/NOTES.md"))).toContain("a dependency");
  expect(await trust().foreignOrigin(join(folder, "src"))).toBeUndefined();
});

it.each([
  ["https://ada:x@github.com/Acme/App.git/", "github.com/acme/app"],
  ["ssh://git@host.test:2222/team/app.git", "host.test:2222/team/app"],
  ["git@github.com:acme/app", "github.com/acme/app"],
])("%s is %s", (url, expected) => expect(normalRemote(url)).toBe(expected));
