import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";

let home: string;
let file: string;
beforeEach(() => {
  home = tempDir("hermes-cli-");
  file = join(home, "config.yaml");
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const run = (...args: string[]) => runHermes(["config", ...args], { home });
const text = () => readFileSync(file, "utf8");

describe("hermes config set", () => {
  it("refuses a wrong value with the reason and the range, exit 2, file unchanged", async () => {
    const before = "# mine\ncompression:\n  threshold: 0.4\n";
    writeFileSync(file, before);
    const answer = await run("set", "compression.threshold", "abc");
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain('compression.threshold: found the text "abc"');
    expect(answer.stderr).toContain("a number above 0 and below 1");
    expect(answer.stdout).toBe("");
    expect(text()).toBe(before);
    expect((await run("set", "compression.threshold", "1")).code).toBe(2);
  });

  it("changes one key and keeps the comment", async () => {
    writeFileSync(file, "# mine\ncompression:\n  threshold: 0.4 # low\n");
    const answer = await run("set", "compression.threshold", "0.6");
    expect(answer).toEqual({ code: 0, stdout: "compression.threshold = 0.6  (config.yaml)\n", stderr: "" });
    expect(text()).toBe("# mine\ncompression:\n  threshold: 0.6 # low\n");
  });

  it("suggests a similar key, unless forced", async () => {
    const answer = await run("set", "compresion.threshold", "0.6");
    expect(answer.code).toBe(2);
    expect(answer.stderr).toContain("did you mean compression.threshold?");
    expect(readdirSync(home)).toEqual([]);
    expect((await run("set", "my.own", "12", "--force")).code).toBe(0);
    expect(text()).toBe("my:\n  own: 12\n");
  });

  it.each([
    ["LAB_KEY", "sk-lab-0123456789abcdef"],
    ["OPENROUTER_APIKEY", "sk-or-v1-0123456789abcdef"],
    ["DB_PASSWORD", "correct horse"],
    ["APP_SECRET", "abc"],
    ["MY_CREDENTIALS", "abc"],
    ["LABKEY", "sk-lab-0123456789abcdef"],
  ])("puts %s into .env, never into config.yaml, also when forced", async (name, value) => {
    for (const flags of [[], ["--force"]]) {
      const answer = await run("set", name, value, ...flags);
      expect([answer.code, answer.stdout]).toEqual([0, expect.stringContaining("(.env)")]);
      expect(answer.stdout + answer.stderr).not.toContain(value);
      expect(readFileSync(join(home, ".env"), "utf8")).toContain(value);
      expect(readdirSync(home)).toEqual([".env"]);
    }
    expect((await run("unset", name)).code).toBe(0);
    expect(readFileSync(join(home, ".env"), "utf8")).toBe("");
  });

  it("puts a variable that key_env names into .env under exactly that name, and suggests a similar name", async () => {
    writeFileSync(file, "providers:\n  lab: {base_url: 'http://127.0.0.1:9/v1', key_env: labAccess}\n");
    expect((await run("set", "labAccess", "some words")).code).toBe(0);
    expect(readFileSync(join(home, ".env"), "utf8")).toBe('labAccess="some words"\n');
    expect((await run("set", "OPENROUTER_APIKEY", "x")).stderr).toContain("did you mean OPENROUTER_API_KEY?");
  });

  it("puts secrets into .env and never prints them", async () => {
    const key = "sk-or-v1-0123456789abcdef";
    const answer = await run("set", "openrouter_api_key", key);
    expect(answer.stdout).toBe("OPENROUTER_API_KEY = ***cdef  (.env)\n");
    expect(readFileSync(join(home, ".env"), "utf8")).toBe(`OPENROUTER_API_KEY=${key}\n`);
    for (const args of [["show"], ["show", "--json"], ["get", "OPENROUTER_API_KEY"]]) {
      expect((await run(...args)).stdout).not.toContain("0123456789");
    }
    expect((await run("get", "OPENROUTER_API_KEY", "--reveal")).stdout).toBe(`${key}\n`);
  });

  it("understands flags, lists, words, maps and the short form of the model", async () => {
    await run("set", "model", "a/b");
    await run("set", "model.provider", "openrouter");
    await run("set", "model", "c/d");
    await run("set", "display.tool_progress", "off");
    await run("set", "worktree", "yes");
    await run("set", "agent.disabled_toolsets", "browser, tts");
    await run("set", "cron.max_parallel_jobs", "null");
    await run("set", "mcp_servers.files", '{"command": "mcp-files"}');
    const show = JSON.parse((await run("show", "--json")).stdout);
    const values = Object.fromEntries(
      show.settings.map((row: { path: string; value: unknown }) => [row.path, row.value]),
    );
    expect(values).toMatchObject({
      "model.default": "c/d",
      "model.provider": "openrouter",
      "display.tool_progress": "off",
      worktree: true,
      "agent.disabled_toolsets": ["browser", "tts"],
      "mcp_servers.files.command": "mcp-files",
    });
    expect(show.problems).toEqual([]);
  });

  it("is reverted by unset, in both files", async () => {
    await run("set", "terminal.timeout", "60");
    await run("set", "XAI_API_KEY", "k");
    await run("unset", "terminal.timeout");
    await run("unset", "XAI_API_KEY");
    expect((await run("get", "terminal.timeout")).stdout).toBe("180\n");
    expect(readFileSync(join(home, ".env"), "utf8")).toBe("");
  });

  it("refuses to change a managed install or a broken file", async () => {
    const managed = await runHermes(["config", "set", "worktree", "yes"], { home, env: { HERMES_MANAGED: "brew" } });
    expect(managed).toMatchObject({ code: 1, stderr: expect.stringContaining("managed by Homebrew") });
    writeFileSync(file, "a: [1\n");
    expect(await run("set", "worktree", "yes")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("is not valid"),
    });
    expect(text()).toBe("a: [1\n");
  });
});

describe("hermes config", () => {
  it("shows what differs, with nothing on the error stream", async () => {
    writeFileSync(file, "timezone: Asia/Tokyo\n");
    const answer = await run();
    expect(answer).toMatchObject({ code: 0, stderr: "" });
    expect(answer.stdout).toMatch(/timezone +"Asia\/Tokyo"/);
    expect((await run("show", "--all")).stdout).toContain("compression.threshold");
  });

  it("gets values, maps and json; unknown keys are an error", async () => {
    expect((await run("get", "compression.threshold")).stdout).toBe("0.5\n");
    expect(JSON.parse((await run("get", "compression", "--json")).stdout)).toMatchObject({ enabled: true });
    expect(await run("get", "compression.treshold")).toMatchObject({ code: 2 });
    expect(await run("get", "model.context_length")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not set"),
    });
  });

  it("prints the paths", async () => {
    expect((await run("path")).stdout).toBe(`${file}\n`);
    expect((await run("env-path")).stdout).toBe(`${join(home, ".env")}\n`);
  });

  it("checks: exit 0 when in order, 1 with every problem and its line", async () => {
    expect(await run("check")).toMatchObject({ code: 0, stdout: "The configuration is in order.\n", stderr: "" });
    writeFileSync(file, "timezone: 5\ndisplay:\n  skn: x\n  compact: maybe\n");
    const answer = await run("check");
    expect(answer.code).toBe(1);
    expect(answer.stderr).toContain("did you mean display.skin? (line 3)");
    expect(answer.stderr).toContain("allowed is true or false; using false (line 4)");
    const json = JSON.parse((await run("check", "--json")).stdout);
    expect(json).toMatchObject({ ok: false, problems: [{ path: "display.compact" }, { path: "display.skn" }] });
  });

  it("names settings without effect in a note, when they differ from the default", async () => {
    const set = await run("set", "display.persistent_output", "false");
    expect(set).toMatchObject({ code: 0, stdout: "display.persistent_output = false  (config.yaml)\n" });
    expect(set.stderr).toBe("note: display.persistent_output is kept for Hermes Agent, no effect here\n");
    await run("set", "browser.engine", "auto");
    const note = "Note: kept for Hermes Agent, no effect here: display.persistent_output.\n";
    expect(await run("check")).toMatchObject({
      code: 0,
      stdout: `The configuration is in order.\n${note}`,
      stderr: "",
    });
    expect(JSON.parse((await run("check", "--json")).stdout)).toMatchObject({
      ok: true,
      without_effect: ["display.persistent_output"],
    });
  });

  it("uses the defaults and one warning for broken YAML", async () => {
    writeFileSync(file, "display:\n  compact: [true\n");
    const answer = await run("check");
    expect(answer.code).toBe(1);
    expect(answer.stderr.match(/warning:/g)).toHaveLength(1);
    expect(answer.stderr).toMatch(/line \d+, column \d+/);
  });

  it("migrates with a backup and prints what moved", async () => {
    const before = "# old\n_config_version: 11\ncustom_providers:\n  - name: Box\n    base_url: http://x/v1\n";
    writeFileSync(file, before);
    writeFileSync(join(home, ".env"), "LLM_MODEL=x\n");
    const answer = await run("migrate");
    expect(answer.code).toBe(0);
    expect(answer.stdout).toContain("custom_providers.0 → providers.box");
    const backup = readdirSync(home).find((name) => name.startsWith("config.yaml.bak."));
    expect(readFileSync(join(home, backup ?? ""), "utf8")).toBe(before);
    expect(text()).toContain("# old");
    expect(text()).toContain("_config_version: 23");
    expect(readFileSync(join(home, ".env"), "utf8")).toBe("LLM_MODEL=\n");
    expect((await run("migrate")).stdout).toContain("Nothing to do");
    expect((await run("check")).code).toBe(0);
  });

  it("edits with the chosen editor and checks afterwards", async () => {
    const editor = join(home, "editor.sh");
    writeFileSync(editor, '#!/bin/sh\necho "timezne: UTC" >> "$2"\n');
    chmodSync(editor, 0o755);
    const answer = await runHermes(["config", "edit"], { home, env: { EDITOR: `${editor} --wait` } });
    expect(answer.code).toBe(1);
    expect(answer.stderr).toContain("did you mean timezone?");
    const missing = await runHermes(["config", "edit"], { home, env: { EDITOR: "no-such-editor" } });
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("Set EDITOR") });
  });

  it("works in a profile, and names the profiles when it does not exist", async () => {
    mkdirSync(join(home, "profiles", "work"), { recursive: true });
    const { stdout } = await runHermes(["config", "path", "-p", "work"], { home });
    expect(stdout).toBe(`${join(home, "profiles", "work", "config.yaml")}\n`);
    const missing = await runHermes(["-p", "wrok", "config"], { home });
    expect(missing).toMatchObject({ code: 1, stderr: expect.stringContaining("default, work") });
  });
});
