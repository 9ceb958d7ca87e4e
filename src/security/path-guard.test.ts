// Protected files are refused through any spelling and link; ordinary project files are allowed.
import { linkSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { createPathGuard } from "./path-guard.ts";

const root = realpathSync(tempDir("path-guard-"));
const userHome = join(root, "user");
const hermesHome = join(userHome, ".hermes");
const project = join(root, "project");
for (const folder of [
  userHome,
  hermesHome,
  project,
  join(userHome, ".ssh"),
  join(hermesHome, "skills/.hub"),
  join(project, ".git/hooks"),
])
  mkdirSync(folder, { recursive: true });
writeFileSync(join(userHome, ".bashrc"), "");
writeFileSync(join(hermesHome, "config.yaml"), "");
symlinkSync(join(userHome, ".ssh"), join(project, "docs"));
symlinkSync(join(userHome, ".ssh/new-key"), join(project, "dangling"));
symlinkSync(hermesHome, join(root, "alias"));
linkSync(join(userHome, ".bashrc"), join(project, "notes.txt"));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const guard = createPathGuard({ hermesHome, userHome });

describe("writing", () => {
  it.each([
    "~/.bashrc",
    "~/.BASHRC",
    "~/.ssh/authorized_keys",
    "~/.ssh/",
    "~/.config/gh/hosts.yml",
    "../user/.ssh/config",
    "docs/config",
    "docs/deeper/than/exists",
    "dangling",
    "notes.txt",
    "/etc/passwd",
    "/etc/../etc/sudoers.d/x",
    "/proc/self/root/etc/passwd",
    "/proc/self/environ",
    "/dev/sda",
    "/var/run/docker.sock",
    "~/.hermes/config.yaml",
    "~/.hermes/.env",
    "~/.hermes/auth.json",
    "~/.hermes/state.db",
    "../alias/config.yaml",
    "../alias/./state.db-wal",
    "~/.hermes/notes.md",
    "~/.hermes/SOUL.md",
    "~/.hermes/memories/MEMORY.md",
    "~/.hermes/memories/../memories/USER.md",
    "~/.hermes/webhook_subscriptions.json",
    "~/.hermes/channel_directory.json",
    "~/.hermes/response_store.db",
    "~/.hermes/cache/config.json",
    "~/.hermes/logs/agent.log",
    "~/.HERMES/anything",
    "~/.hermes/profiles/other/config.yaml",
    "../user/./.hermes/",
    "/proc/self/cwd/../user/.hermes/x",
  ])("refuses %s", async (path) => {
    expect((await guard.write(path, project)).action).toBe("deny");
  });

  it.each([
    "~/.hermes/skills/x/SKILL.md",
    "~/.hermes/hooks/h.sh",
    ".git/hooks/pre-commit",
    "~/.vimrc",
    "~/.bash_aliases",
    "~/.config/git/config",
    "~/.config/fish/conf.d/e.fish",
    "~/.local/share/systemd/user/e.service",
    "~/.config/environment.d/e.conf",
    "~/.local/bin/git",
    "~/bin/git",
    "~/.xprofile",
    "~/.pam_environment",
  ])("asks for %s", async (path) => {
    expect((await guard.write(path, project)).action).toBe("ask");
  });

  it.each([
    "src/a.ts",
    "./new/folder/b.ts",
    ".env",
    "~/notes/today.md",
    "~/.sshnotes",
    "/dev/null",
    "~/.hermes/workspace/notes.md",
    "~/.hermesnotes",
  ])("allows %s", async (path) => {
    expect((await guard.write(path, project)).action).toBe("allow");
  });

  it("protects the root home and the other profiles when a profile is active", async () => {
    const profile = createPathGuard({ hermesHome: join(root, "other/profiles/w"), userHome });
    for (const path of ["other/config.yaml", "other/profiles/x/SOUL.md", "other/profiles/w/memories/MEMORY.md"])
      expect((await profile.write(`../${path}`, project)).action).toBe("deny");
    for (const path of ["other/.env", "other/profiles/x/.env", "other/profiles/x/auth.json"])
      expect((await profile.read(`../${path}`, project)).action).toBe("ask");
  });

  it("allows a workspace inside the home, unless it is one of Hermes' own folders", async () => {
    const at = (name: string) => join(hermesHome, name);
    expect((await guard.write("a.txt", at("project"), { workspace: at("project") })).action).toBe("allow");
    expect((await guard.write("../SOUL.md", at("project"), { workspace: at("project") })).action).toBe("deny");
    expect((await guard.write("a.txt", at("memories"), { workspace: at("memories") })).action).toBe("deny");
    expect((await guard.write("SOUL.md", hermesHome, { workspace: hermesHome })).action).toBe("deny");
  });

  it("restricts writes to the safe root", async () => {
    const safe = createPathGuard({ hermesHome, userHome, safeRoot: project });
    expect((await safe.write("a.txt", project)).action).toBe("allow");
    expect(await safe.write("../a.txt", project)).toMatchObject({ action: "deny", rule: "safe_root" });
  });
});

describe("reading", () => {
  it.each(["/dev/zero", "/dev/stdin", "/proc/self/fd/0", "/proc/1/environ", "~/.hermes/skills/.hub/index.json"])(
    "refuses %s",
    async (path) => {
      expect((await guard.read(path, project)).action).toBe("deny");
    },
  );
  it.each([
    "~/.ssh/id_ed25519",
    "docs/id_rsa",
    "~/.hermes/.env",
    "../alias/auth.json",
    "~/.aws/credentials",
    "~/.ssh/deploy_key",
  ])("asks for %s", async (path) => {
    expect((await guard.read(path, project)).action).toBe("ask");
    expect((await guard.reference(path, project)).action).toBe("deny");
  });
  it("treats a hard link to a key as the key", async () => {
    writeFileSync(join(userHome, ".ssh/id_rsa"), "key");
    linkSync(join(userHome, ".ssh/id_rsa"), join(project, "report.pdf"));
    expect((await guard.read("report.pdf", project)).action).toBe("ask");
    expect((await guard.reference("report.pdf", project)).action).toBe("deny");
  });

  it("prevents guests from reading the home and secrets", async () => {
    const as = { policy: "guest" } as const;
    for (const path of [
      "~/.hermes/state.db",
      "~/.hermes/memories/MEMORY.md",
      "~/.hermes/config.yaml",
      "../alias/logs/x",
    ])
      expect(await guard.read(path, project, as)).toMatchObject({ action: "deny", rule: "guest_home" });
    for (const path of ["~/.ssh/id_rsa", "~/.ssh/deploy_key", "~/.hermes/.env"])
      expect((await guard.read(path, project, as)).action).toBe("deny");
    expect((await guard.read("src/a.ts", project, as)).action).toBe("allow");
    expect((await guard.read("~/.hermes/state.db", project)).action).toBe("allow");
  });

  it.each(["src/a.ts", "/etc/hosts", "~/.ssh/id_rsa.pub", "~/.ssh/config", ".env.example", "~/.hermes/logs/agent.log"])(
    "allows %s",
    async (path) => {
      expect((await guard.read(path, project)).action).toBe("allow");
    },
  );
});
