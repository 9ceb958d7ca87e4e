// No spelling and no link opens a protected file; ordinary work in a project is never refused.
import { linkSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createPathGuard } from "./path-guard.ts";
import { isInside } from "./real-path.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "path-guard-")));
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
  ])("refuses %s", async (path) => {
    expect((await guard.write(path, project)).action).toBe("deny");
  });

  it.each(["~/.hermes/skills/x/SKILL.md", "~/.hermes/hooks/h.sh", ".git/hooks/pre-commit"])(
    "asks for %s",
    async (path) => {
      expect((await guard.write(path, project)).action).toBe("ask");
    },
  );

  it.each([
    "src/a.ts",
    "./new/folder/b.ts",
    ".env",
    "~/notes/today.md",
    "~/.sshnotes",
    "/dev/null",
    "~/.hermes/notes.md",
  ])("allows %s", async (path) => {
    expect((await guard.write(path, project)).action).toBe("allow");
  });

  it("keeps to the safe root when there is one", async () => {
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
  it.each(["~/.ssh/id_ed25519", "docs/id_rsa", "~/.hermes/.env", "../alias/auth.json", "~/.aws/credentials"])(
    "asks for %s",
    async (path) => {
      expect((await guard.read(path, project)).action).toBe("ask");
      expect((await guard.reference(path, project)).action).toBe("deny");
    },
  );
  it.each(["src/a.ts", "/etc/hosts", ".env.example", "~/.hermes/logs/agent.log"])("allows %s", async (path) => {
    expect((await guard.read(path, project)).action).toBe("allow");
  });
});

it("knows what lies inside a workspace", async () => {
  expect(await isInside(project, "src/a.ts")).toBe(true);
  expect(await isInside(project, "docs/config")).toBe(false);
  expect(await isInside(project, "../project/x")).toBe(true);
  expect(await isInside(project, `${project}-other/x`)).toBe(false);
});
