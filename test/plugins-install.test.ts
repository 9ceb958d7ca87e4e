import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openPluginActions } from "../src/app/plugin-actions.ts";
import { openSettings } from "../src/config/api.ts";
import { openHome } from "../src/home/api.ts";
import { parseInstallSource } from "../src/plugins/install.ts";
import { tempDir } from "./kit/temp-dir.ts";

const PATH = execFileSync("sh", ["-c", "echo $PATH"], { encoding: "utf8" }).trim();
let root: string;

beforeEach(() => {
  root = tempDir("hermes-install-");
  mkdirSync(join(root, "home"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function home() {
  const env = { HERMES_HOME: join(root, "home"), HOME: root, PATH };
  return openHome([], { env, cwd: root, platform: "linux", homedir: root }).home;
}

/** A plugin to install; `more` are further files. */
function source(name: string, manifest: object = {}, more: { [file: string]: string } = {}): string {
  const dir = join(root, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "plugin.yaml"), JSON.stringify({ name, version: "1.0.0", api: 1, ...manifest }));
  writeFileSync(join(dir, "index.js"), "export function register() {}");
  for (const [file, text] of Object.entries(more)) writeFileSync(join(dir, file), text);
  return dir;
}

const installed = () => readdirSync(join(root, "home", "plugins")).filter((name) => !name.startsWith("."));

it("copies a folder, shows its note, lists missing variables, and enables and disables it", async () => {
  source("hello", { requires_env: ["HELLO_KEY"] }, { "after-install.md": "Thanks!", "settings.json.example": "{}" });
  const actions = openPluginActions(home());
  expect(actions.plan("./hello").join("\n")).toContain("run none of its code now");
  const outcome = await actions.install("./hello", { force: false });
  expect(outcome).toMatchObject({ note: "Thanks!", missingEnv: [{ name: "HELLO_KEY" }] });
  expect(installed()).toEqual(["hello"]);
  expect(existsSync(join(root, "home", "plugins", "hello", "settings.json"))).toBe(true);
  await expect(actions.install("./hello", { force: false })).rejects.toThrow("is already installed");
  await actions.install("./hello", { force: true });

  await actions.enable("hello");
  expect((await openSettings(home()).load()).config.plugins).toMatchObject({ enabled: ["hello"], disabled: [] });
  await actions.disable("hello");
  expect((await openSettings(home()).load()).config.plugins).toMatchObject({ enabled: [], disabled: ["hello"] });
  expect(await actions.update("hello")).toBe("1.0.0, copied again");
  source("hello", { version: "1.1.0" });
  expect(await actions.update("hello")).toBe("1.0.0 → 1.1.0");
  rmSync(join(root, "hello"), { recursive: true });
  await expect(actions.update("hello")).rejects.toThrow("there is no folder");
  expect(installed()).toEqual(["hello"]);
  await actions.setVariable("HELLO_KEY", "hello-key-0123");
  expect(readFileSync(join(root, "home", ".env"), "utf8")).toContain("HELLO_KEY=hello-key-0123");
  expect(readFileSync(join(root, "home", "config.yaml"), "utf8")).not.toContain("hello-key-0123");
  await actions.remove("hello");
  expect(installed()).toEqual([]);
  expect((await openSettings(home()).load()).config.plugins.disabled).toEqual([]);
  await expect(actions.enable("helo")).rejects.toThrow("there is no plugin");
});

it("clones from git without running its code, and updates", async () => {
  const dir = source("from-git");
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com", ...words], {
      stdio: "pipe",
    });
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-q", "-m", "one");
  const actions = openPluginActions(home());
  await actions.install(`file://${dir}`, { force: false });
  expect(installed()).toEqual(["from-git"]);
  writeFileSync(join(dir, "plugin.yaml"), JSON.stringify({ name: "from-git", version: "2.0.0", api: 1 }));
  git("commit", "-q", "-am", "two");
  expect(await actions.update("from-git")).toBe("1.0.0 → 2.0.0");
  expect((await actions.list()).find((row) => row.name === "from-git")?.version).toBe("2.0.0");
  await expect(actions.install("file:///no/such/repository", { force: false })).rejects.toThrow("git clone");
});

it("installs a package without its scripts", async () => {
  const dir = join(root, "package");
  mkdirSync(dir);
  const trap = `touch ${join(root, "trapped")}`;
  const manifest = {
    name: "@somebody/hermes-pack",
    version: "1.0.0",
    type: "module",
    main: "index.js",
    scripts: { install: trap, postinstall: trap },
  };
  const hermes = { kind: "standalone", api: 1 };
  writeFileSync(join(dir, "package.json"), JSON.stringify({ ...manifest, hermes }));
  writeFileSync(join(dir, "index.js"), "export function register() {}");
  const actions = openPluginActions(home());
  const { plugin } = await actions.install("npm:./package", { force: false });
  expect(plugin).toMatchObject({ key: "hermes-pack", source: "npm" });
  expect(existsSync(join(root, "trapped"))).toBe(false);
  writeFileSync(join(dir, "package.json"), JSON.stringify({ ...manifest, version: "1.1.0", hermes }));
  expect(await actions.update("hermes-pack")).toBe("1.0.0 → 1.1.0");
  await actions.remove("hermes-pack");
  expect((await actions.list()).some((row) => row.name === "hermes-pack")).toBe(false);

  writeFileSync(join(dir, "package.json"), JSON.stringify(manifest));
  await expect(actions.install("npm:./package", { force: false })).rejects.toThrow('no "hermes" field');
  expect(existsSync(join(root, "home", "plugins", "node_modules", "@somebody", "hermes-pack"))).toBe(false);
}, 120_000);

it("refuses links and names that point out of the plugins folder", async () => {
  const secret = join(root, "secret.txt");
  writeFileSync(secret, "mine");
  const linked = source("linked");
  symlinkSync(secret, join(linked, "data.txt"));
  const evil = source("evil", { name: "../../escaped" });
  const actions = openPluginActions(home());
  await expect(actions.install(linked, { force: true })).rejects.toThrow("points out of its folder: data.txt");
  const { plugin } = await actions.install(evil, { force: true });
  expect(plugin.dir).toBe(join(root, "home", "plugins", "evil"));
  expect(existsSync(join(root, "escaped"))).toBe(false);
  expect(readFileSync(secret, "utf8")).toBe("mine");
  await expect(actions.remove("memory/holographic")).rejects.toThrow("is bundled and cannot be removed");
  await expect(actions.enable("memory/holographic")).rejects.toThrow("memory provider");
});

it("rejects an unsupported plugin before anything is replaced", async () => {
  source("good");
  const actions = openPluginActions(home());
  await actions.install("./good", { force: false });
  source("good", { api: 7 });
  await expect(actions.install("./good", { force: true })).rejects.toThrow("needs plugin API 7");
  expect((await actions.list()).find((row) => row.name === "good")?.problem).toBeUndefined();
  mkdirSync(join(root, "empty"));
  await expect(actions.install("./empty", { force: false })).rejects.toThrow("no plugin.yaml");
  expect(readdirSync(join(root, "home", "plugins"))).toEqual(["good"]);
});

it("parses the source of a plugin", () => {
  const here = home();
  expect(parseInstallSource("owner/repo", here)).toEqual({ kind: "git", url: "https://github.com/owner/repo.git" });
  expect(parseInstallSource("git@example.com:a/b.git", here).kind).toBe("git");
  expect(parseInstallSource("npm:@scope/pack@^1.2.0", here)).toEqual({
    kind: "npm",
    spec: "@scope/pack@^1.2.0",
    name: "@scope/pack",
  });
  expect(() => parseInstallSource("npm:--prefix=/", here)).toThrow("is not a package name");
  expect(() => parseInstallSource("what is this", here)).toThrow("is not a plugin source");
});
