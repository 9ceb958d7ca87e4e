import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { UserError } from "../core/failure.ts";
import type { Host } from "../core/home.ts";
import { openHome } from "./api.ts";
import { ensureHomeLayout } from "./home-layout.ts";

let user: string;
let root: string;

beforeEach(() => {
  user = tempDir("hermes-user-");
  root = join(user, ".hermes");
  mkdirSync(join(root, "profiles", "work"), { recursive: true });
  mkdirSync(join(root, "profiles", "play"), { recursive: true });
});
afterEach(() => rmSync(user, { recursive: true, force: true }));

function host(env: Host["env"] = {}, platform = "linux"): Host {
  return { env, cwd: user, platform, homedir: user };
}

describe("choosing the home", () => {
  it("is ~/.hermes by default", () => {
    const { home, rest } = openHome(["chat", "-q", "hi"], host());
    expect(home).toMatchObject({ path: root, root, profile: "default", cwd: user, managedBy: null, childHome: null });
    expect(rest).toEqual(["chat", "-q", "hi"]);
    expect(home.env.HERMES_HOME).toBe(root);
  });

  it("follows HERMES_HOME, relative and with ~ too", () => {
    expect(openHome([], host({ HERMES_HOME: "/srv/hermes" })).home).toMatchObject({
      path: "/srv/hermes",
      root: "/srv/hermes",
    });
    expect(openHome([], host({ HERMES_HOME: "~/other" })).home.path).toBe(join(user, "other"));
    expect(openHome([], host({ HERMES_HOME: "other" })).home.path).toBe(join(user, "other"));
  });

  it("uses the application folder on Windows", () => {
    expect(openHome([], host({ LOCALAPPDATA: join(user, "local") }, "win32")).home.path).toBe(
      join(user, "local", "hermes"),
    );
  });

  it.each([
    [["-p", "work", "config"], ["config"]],
    [["config", "--profile", "work"], ["config"]],
    [
      ["config", "--profile=WORK", "get"],
      ["config", "get"],
    ],
    [["-p", "play", "-p", "Work"], []],
  ])("takes the profile from %j", (argv, rest) => {
    const opened = openHome(argv, host());
    expect(opened.home).toMatchObject({ path: join(root, "profiles", "work"), root, profile: "work" });
    expect(opened.rest).toEqual(rest);
  });

  it("keeps arguments that are no profile flag", () => {
    expect(openHome(["chat", "-p", "two words"], host()).rest).toEqual(["chat", "-p", "two words"]);
    expect(openHome(["run", "--", "-p", "work"], host())).toMatchObject({
      rest: ["run", "--", "-p", "work"],
      home: { profile: "default" },
    });
    expect(openHome(["chat", "-p"], host()).rest).toEqual(["chat", "-p"]);
  });

  it("trusts HERMES_HOME under profiles, before active_profile", () => {
    writeFileSync(join(root, "active_profile"), "play\n");
    const path = join(root, "profiles", "work");
    expect(openHome([], host({ HERMES_HOME: path })).home).toMatchObject({ path, root, profile: "work" });
    const elsewhere = join(user, "x", "profiles", "a");
    expect(openHome([], host({ HERMES_HOME: elsewhere })).home).toMatchObject({ root: join(user, "x"), profile: "a" });
  });

  it("follows active_profile, and -p default overrides it", () => {
    writeFileSync(join(root, "active_profile"), "play\n");
    expect(openHome([], host()).home.profile).toBe("play");
    expect(openHome(["-p", "default"], host()).home).toMatchObject({ path: root, profile: "default" });
    writeFileSync(join(root, "active_profile"), "default");
    expect(openHome([], host()).home.profile).toBe("default");
  });

  it("lists the existing profiles when the requested one is missing", () => {
    const attempt = () => openHome(["-p", "wrok"], host());
    expect(attempt).toThrow(UserError);
    try {
      attempt();
    } catch (error) {
      expect(error).toMatchObject({ exitCode: 1, hint: expect.stringContaining("default, play, work") });
    }
    expect(() => openHome(["--profile=../x"], host())).toThrow(/not a profile name/);
    writeFileSync(join(root, "active_profile"), "gone");
    expect(() => openHome([], host())).toThrow(/active_profile/);
  });
});

describe("the environment", () => {
  it("prefers .env to the shell and keeps the rest", () => {
    writeFileSync(join(root, ".env"), 'OPENAI_API_KEY="from file"\n');
    const { env } = openHome([], host({ OPENAI_API_KEY: "from shell", PATH: "/bin" })).home;
    expect(env).toMatchObject({ OPENAI_API_KEY: "from file", PATH: "/bin" });
  });

  it("cleans secrets with one warning that shows no value", () => {
    writeFileSync(join(root, ".env"), "\uFEFFOPENAI_API_KEY=sk\u2013abc\nXAI_API_KEY=k\u00a0ey\nNAME=J\u00f6rg\n");
    const { home, warnings } = openHome([], host());
    expect(home.env).toMatchObject({ OPENAI_API_KEY: "skabc", XAI_API_KEY: "key", NAME: "Jörg" });
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("OPENAI_API_KEY, XAI_API_KEY");
    expect(warnings[0]).not.toContain("abc");
  });

  it("says that .env cannot be read", () => {
    mkdirSync(join(root, ".env"));
    const { home, warnings } = openHome([], host());
    expect(warnings).toEqual([expect.stringContaining(".env cannot be read: it is a folder")]);
    expect(home.envError).toBe(warnings[0]);
  });

  it.each([
    ["1", "NixOS"],
    ["nixos", "NixOS"],
    ["brew", "Homebrew"],
    ["Puppet", "Puppet"],
    ["0", null],
  ])("HERMES_MANAGED=%s means %s", (value, name) => {
    expect(openHome([], host({ HERMES_MANAGED: value })).home.managedBy).toBe(name);
  });

  it("detects the marker file and a home for child processes", () => {
    writeFileSync(join(root, ".managed"), "");
    mkdirSync(join(root, "home"));
    expect(openHome([], host()).home).toMatchObject({ managedBy: "NixOS", childHome: join(root, "home") });
  });
});

describe("ensureHomeLayout", () => {
  const readMode = (path: string) => statSync(path).mode & 0o777;

  it("creates private folders and does not change existing ones", () => {
    mkdirSync(join(root, "skills"), { mode: 0o755 });
    const { home } = openHome([], host({ HERMES_CONTAINER: "" }));
    const report = ensureHomeLayout(home);
    expect(report.created).toContain(join(root, "logs", "curator"));
    expect(readMode(join(root, "skills"))).toBe(0o755);
    expect(ensureHomeLayout(home).created).toEqual([]);
  });

  it("uses HERMES_HOME_MODE unless modes are managed elsewhere", () => {
    const { home } = openHome([], host({ HERMES_HOME_MODE: "0750", HERMES_HOME: join(user, "new") }));
    ensureHomeLayout(home);
    if (report750Applies()) expect(readMode(join(user, "new", "cron"))).toBe(0o750);
    const skipping = openHome([], host({ HERMES_SKIP_CHMOD: "1", HERMES_HOME: join(user, "new2") })).home;
    expect(ensureHomeLayout(skipping).open).toEqual([]);
  });
});

/** In a container, modes are not checked. */
function report750Applies(): boolean {
  return !["/.dockerenv", "/run/.containerenv"].some((path) => statSync(path, { throwIfNoEntry: false }));
}
