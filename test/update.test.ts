// `hermes update`: a checkout is built and tried beside itself before it is switched; a broken version changes nothing.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { describeInstallation } from "../src/install/api/installation.ts";
import { checkForUpdate, updateInstallation } from "../src/install/api/update.ts";

let base: string;
let source: string;
let checkout: string;
const env = { PATH: process.env.PATH, HOME: tmpdir(), GIT_CONFIG_NOSYSTEM: "1" };

function git(folder: string, ...args: string[]): string {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...identity, "-C", folder, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  }).trim();
}

/** A small program with the layout of this one. */
function write(version: string, main: string): void {
  writeFileSync(join(source, "package.json"), JSON.stringify({ name: "hermes-ts", version }));
  writeFileSync(
    join(source, "package-lock.json"),
    JSON.stringify({ name: "hermes-ts", lockfileVersion: 3, packages: {} }),
  );
  mkdirSync(join(source, "scripts"), { recursive: true });
  writeFileSync(
    join(source, "scripts", "build.mjs"),
    `import { mkdirSync, writeFileSync } from "node:fs"; mkdirSync("dist", { recursive: true }); writeFileSync("dist/main.js", ${JSON.stringify(main)});`,
  );
  writeFileSync(join(source, ".gitignore"), "node_modules\ndist\n");
  git(source, "add", "-A");
  git(source, "commit", "-qm", version);
}

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "hermes-update-test-"));
  source = join(base, "source");
  checkout = join(base, "checkout");
  mkdirSync(source);
  git(source, "init", "-q");
  write("1.0.0", "console.log('one')");
  git(base, "clone", "-q", source, checkout);
  mkdirSync(join(checkout, "node_modules"));
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: checkout });
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const installation = () => describeInstallation({ managedBy: null }, join(checkout, "dist"));
const built = () => execFileSync(process.execPath, [join(checkout, "dist", "main.js")], { encoding: "utf8" });
const update = () => updateInstallation(installation(), env, () => undefined);

it("knows what it is and whether there is something newer", async () => {
  expect(installation()).toMatchObject({ kind: "checkout", version: "1.0.0", root: checkout });
  expect(await checkForUpdate(installation(), env)).toMatchObject({ behind: 0 });
  write("1.1.0", "console.log('two')");
  expect(await checkForUpdate(installation(), env)).toMatchObject({ behind: 1 });
  expect(describeInstallation({ managedBy: "NixOS" }, "/nix/store/x").kind).toBe("managed");
  await expect(checkForUpdate(describeInstallation({ managedBy: "Homebrew" }, base), env)).rejects.toMatchObject({
    hint: expect.stringContaining("brew upgrade"),
  });
});

it("builds, tries and switches", async () => {
  write("1.1.0", "console.log('two')");
  await checkForUpdate(installation(), env);
  await update();
  expect([built(), installation().version]).toEqual(["two\n", "1.1.0"]);
  expect(git(checkout, "worktree", "list").split("\n")).toHaveLength(1);
  expect(existsSync(join(checkout, "dist.old"))).toBe(false);
});

it("a version that cannot be built or does not start changes nothing", async () => {
  for (const bad of ["process.exit(3)", "throw new Error('broken')"]) {
    write(`2.0.${bad.length}`, bad);
    await checkForUpdate(installation(), env);
    await expect(update()).rejects.toMatchObject({ name: "UserError", hint: expect.stringContaining("unchanged") });
    expect([built(), installation().version, git(checkout, "status", "--porcelain")]).toEqual(["one\n", "1.0.0", ""]);
  }
});

it("does not touch a checkout with changes of its own", async () => {
  write("1.1.0", "console.log('two')");
  await checkForUpdate(installation(), env);
  writeFileSync(join(checkout, ".gitignore"), "mine\n");
  await expect(update()).rejects.toMatchObject({ hint: expect.stringContaining("stash") });
  expect(readFileSync(join(checkout, ".gitignore"), "utf8")).toBe("mine\n");
});
