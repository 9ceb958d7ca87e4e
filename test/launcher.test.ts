// The built program as the launcher runs it: every chunk loads, and features that bundling could break still work.
import { execFileSync } from "node:child_process";
import { cpSync, readdirSync, statSync, truncateSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { tempHome } from "./kit/temp-home.ts";

const LOAD_ALL = `
const { readdirSync } = require("node:fs");
const { join } = require("node:path");
const folder = process.argv[1];
const { load } = require(join(folder, "launch.cjs"));
const entries = /^(main|store-worker|mail-worker|page-worker)\\b/;
const names = readdirSync(join(folder, "chunks")).filter((name) => name.endsWith(".cjs") && !entries.test(name));
const failed = [];
for (const name of names) {
  try { load(name); } catch (error) { failed.push(name + ": " + error.message); }
}
process.stdout.write(JSON.stringify({ count: names.length, failed }));
process.exit(0);
`;

it("every chunk of the built program loads", () => {
  const folder = dirname(hermesProgram());
  const output = execFileSync(process.execPath, ["-e", LOAD_ALL, folder], {
    encoding: "utf8",
    cwd: join(folder, ".."),
  });
  const { count, failed } = JSON.parse(output);
  expect(failed).toEqual([]);
  expect(count).toBeGreaterThan(20);
});

it("the built program reads the shell grammar", async () => {
  const home = tempHome();
  const audit = await runHermes(["security", "audit", "--json"], { home: home.path });
  expect(audit.stdout).not.toContain("no_grammar");
  home.remove();
});

it("starts from its cache, and without it when the file is cut off", () => {
  const home = tempHome();
  const folder = join(home.path, "program");
  cpSync(dirname(hermesProgram()), folder, { recursive: true, filter: (path) => !path.endsWith(".map") });
  const path = () =>
    execFileSync(process.execPath, [join(folder, "main.js"), "config", "path"], {
      encoding: "utf8",
      env: { ...process.env, HERMES_HOME: home.path },
    });
  const expected = `${join(home.path, "config.yaml")}\n`;
  expect(path()).toBe(expected);
  const cache = join(folder, "cache", readdirSync(join(folder, "cache"))[0] ?? "");
  const { size } = statSync(cache);
  expect(path()).toBe(expected);
  for (const cut of [size - 1, 1000, 2]) {
    truncateSync(cache, cut);
    expect(path()).toBe(expected);
  }
  expect(statSync(cache).size).toBeGreaterThan(1000);
  home.remove();
});
