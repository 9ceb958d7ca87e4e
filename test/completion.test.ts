// The completion scripts, run by the real shells that are installed.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-completion-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Candidates for the words of a command line whose last word is incomplete. */
const ASK: { readonly [shell: string]: (script: string, words: readonly string[]) => string[] } = {
  bash: (script, words) => [
    "--noprofile",
    "--norc",
    "-c",
    `source ${script}; COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _hermes; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  fish: (script, words) => ["--no-config", "-c", `source ${script}; complete -C '${words.join(" ")}'`],
  zsh: (script, words) => [
    "-f",
    "-c",
    // _describe gets the names of arrays with "name:text" entries; this one prints the names that fit.
    `compdef() { :; }; _files() { :; }; _describe() { print -l -- \${(M)\${(@)\${(P)2}%%:*}:#\${words[CURRENT]}*}; }; source ${script}; words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}; _hermes`,
  ],
};

const CASES: readonly (readonly [readonly string[], readonly string[]])[] = [
  [["hermes", "sess"], ["sessions"]],
  [["hermes", "sessions", "exp"], ["export"]],
  [["hermes", "sessions", "list", "--sou"], ["--source"]],
  [["hermes", "-p", "work", "config", "mig"], ["migrate"]],
  [["hermes", "--yo"], ["--yolo"]],
];

it.each(Object.keys(ASK))("%s", async (shell) => {
  if (spawnSync(shell, ["--version"]).error) {
    process.stderr.write(`${shell} is not installed: its completion is not tested\n`);
    return;
  }
  const { code, stdout } = await runHermes(["completion", shell], { home: folder });
  expect(code).toBe(0);
  const script = join(folder, `hermes.${shell}`);
  writeFileSync(script, stdout);
  for (const [words, wanted] of CASES) {
    const run = spawnSync(shell, ASK[shell]?.(script, words) ?? [], {
      encoding: "utf8",
      env: { PATH: process.env.PATH },
    });
    const found = run.stdout
      .split("\n")
      .map((line) => line.split("\t")[0]?.trim())
      .filter(Boolean);
    expect([words.join(" "), found, run.stderr]).toEqual([words.join(" "), wanted, ""]);
  }
});

it("an unknown shell is named with the known ones", async () => {
  const { code, stderr } = await runHermes(["completion", "tcsh"], { home: folder });
  expect([code, stderr]).toEqual([2, expect.stringContaining("bash, zsh, fish")]);
});
