// The notices about the container, its settings without one, permissions on the command line, and contained MCP wrappers.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { detectMeans, installCommand } from "../src/container/detect.ts";
import { firstNotice } from "../src/container/first-notice.ts";
import { sandboxProfile } from "../src/container/sandbox-exec.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";

let home: string;
beforeEach(() => {
  home = tempDir("hermes-notices-");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it("an existing home gets one notice, a new one none", () => {
  expect(firstNotice(home)).toBeUndefined();
  const old = join(home, "old");
  mkdirSync(old);
  writeFileSync(join(old, "state.db"), "");
  expect(firstNotice(old)).toContain("hermes permissions");
  expect(firstNotice(old)).toBeUndefined();
});

it("tells a missing program from one that the system refuses, with the command that helps", async () => {
  const bin = join(home, "bin");
  mkdirSync(bin);
  expect(await detectMeans({ PATH: bin }, "linux")).toMatchObject({
    reason: expect.stringContaining("not installed"),
    hint: expect.stringContaining("bubblewrap"),
  });
  writeFileSync(join(bin, "bwrap"), "#!/bin/sh\necho 'No permissions to create new namespace' >&2; exit 1\n", {
    mode: 0o755,
  });
  expect(await detectMeans({ PATH: `${bin}:/bin` }, "linux")).toMatchObject({
    reason: expect.stringContaining("refuses it: No permissions to create new namespace"),
  });
  writeFileSync(join(home, "os"), 'ID=linuxmint\nID_LIKE="ubuntu debian"\n');
  expect(installCommand(join(home, "os"))).toBe("sudo apt-get install bubblewrap");
});

it("writes a profile for macOS in which later rules win", () => {
  const profile = sandboxProfile(
    {
      mounts: [
        { kind: "empty", path: "/Users/ada" },
        { kind: "write", path: "/Users/ada/project" },
        { kind: "hide", path: "/Users/ada/project/.env" },
      ],
      cwd: "/",
      unreadable: "/x",
    },
    { network: true },
  );
  expect(profile.indexOf('(deny file-read* file-write* (subpath "/Users/ada"))')).toBeLessThan(
    profile.indexOf('(allow file-read* file-write* (subpath "/Users/ada/project"))'),
  );
  expect(profile.trim().endsWith('(deny file-read* file-write* (subpath "/Users/ada/project/.env"))')).toBe(true);
});

it("permissions and explanations on the command line", async () => {
  const run = (...args: string[]) => runHermes(args, { home: join(home, ".hermes"), env: { HOME: home }, cwd: home });
  expect((await run("permissions", "grant", "docker")).code).toBe(0);
  expect((await run("permissions", "grant", "write:~/notes")).code).toBe(0);
  expect((await run("permissions", "list")).stdout).toContain(`write:${home}/notes`);
  expect((await run("permissions", "revoke", "docker")).code).toBe(0);
  expect(await run("permissions", "revoke", "docker")).toMatchObject({ code: 1 });
  expect(await run("permissions", "grant", "everything")).toMatchObject({ code: 2 });
  const explained = await run("security", "explain", "git push", "--json");
  expect(JSON.parse(explained.stdout)).toMatchObject({
    attended: { decision: "asks" },
    unattended: { decision: "refused", because: expect.stringContaining("class publishing") },
  });
  expect(existsSync(join(home, ".hermes", "permissions.json"))).toBe(true);
});
