// `hermes tools`, `hermes checkpoints` and scripts in a conversation, through the built program and a scripted model.
import { appendFileSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { containerProblem } from "./kit/container-fixture.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: TempHome;
let llm: FakeLlm;
let project: string;
const hermes = (args: string[], env: { [name: string]: string } = {}) =>
  runHermes(args, { home: home.path, cwd: project, env });
const file = (name: string) => join(project, name);
const title = text("A title");
const noContainer = await containerProblem();

beforeEach(async () => {
  home = tempHome();
  llm = await startFakeLlm();
  home.useModel(llm);
  project = realpathSync(tempDir("hermes-project-"));
});

afterEach(async () => {
  await llm.close();
  home.remove();
  rmSync(project, { recursive: true, force: true });
});

describe("hermes tools", () => {
  it("lists what there is with its state, and with --all what is not built yet", async () => {
    const plain = await hermes(["tools", "list"]);
    expect(plain.code).toBe(0);
    expect(plain.stdout).toMatch(/^file +yes +✓ read_file ✓ write_file ✓ patch ✓ search_files$/m);
    expect(plain.stdout).toContain("✓ execute_code");
    expect(plain.stdout).not.toContain("not built yet");
    const all = JSON.parse((await hermes(["tools", "list", "--all", "--json"])).stdout);
    const spotify = all.toolsets.find((row: { name: string }) => row.name === "spotify");
    expect(spotify.tools[0]).toMatchObject({ name: "spotify_playback", built: false, available: false });
    expect(spotify.tools[0].reason).toContain("not built yet");
    expect((await hermes(["tools"])).stdout).toBe(plain.stdout);
  });

  it("switches toolsets of a platform in config.yaml, and conversations follow", async () => {
    appendFileSync(join(home.path, "config.yaml"), "# keep me\n");
    const off = await hermes(["tools", "disable", "terminal", "file", "code_execution"]);
    expect(off.stdout).toContain(
      "Off for cli: execute_code, patch, process, read_file, search_files, terminal, write_file",
    );
    llm.enqueue(text("Hi."), title);
    await hermes(["chat", "-Q", "-q", "hi"]);
    const names = llm.requests[0]?.tools.join(" ");
    expect(names).toContain("todo");
    expect(names).not.toMatch(/terminal|read_file|execute_code/);
    expect((await hermes(["tools", "disable", "terminal"])).stdout).toContain("Nothing to change");
    const on = await hermes(["tools", "enable", "file", "--json"]);
    expect(JSON.parse(on.stdout)).toMatchObject({
      changed: true,
      added: ["patch", "read_file", "search_files", "write_file"],
    });
    expect(readFileSync(join(home.path, "config.yaml"), "utf8")).toContain("# keep me");
    const web = await hermes(["tools", "disable", "web"]);
    expect(web.stderr).toContain("web_search stays on: browser also includes it");
    const other = JSON.parse((await hermes(["tools", "list", "--platform", "telegram", "--json"])).stdout);
    expect(other.toolsets.find((row: { name: string }) => row.name === "terminal").on).toBe("yes");
  });

  it("shows a tool with its schema, and explains wrong names", async () => {
    const shown = await hermes(["tools", "show", "read_file", "--json"]);
    expect(JSON.parse(shown.stdout)).toMatchObject({
      name: "read_file",
      toolset: "file",
      available: true,
      parameters: { type: "object", required: ["path"] },
    });
    expect((await hermes(["tools", "show", "memory"])).stdout).toContain("Available:  yes");
    const wrong: [string[], string][] = [
      [["show", "raed_file"], 'did you mean "read_file"'],
      [["show"], "show which tool?"],
      [["enable"], "enable which toolset?"],
      [["enable", "flie"], 'did you mean "file"'],
      [["enable", "read_file"], "read_file is a tool"],
      [["disable", "context"], "part of every conversation"],
      [["enable", "web", "--platform", "telegrm"], 'did you mean "telegram"'],
    ];
    for (const [args, message] of wrong) {
      const run = await hermes(["tools", ...args]);
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  });
});

describe("execute_code in a conversation", () => {
  const findAnswer = (index: number) => {
    const last = llm.requests[index]?.messages.at(-1);
    return JSON.parse(last?.text ?? "{}") as { [key: string]: unknown };
  };

  it("calls the conversation's tools, sees no secrets and cannot get round the gate", async () => {
    const canary = "canary-value-8c1f27d4";
    writeFileSync(file("a.txt"), "first line\nsecond line\n");
    mkdirSync(file("data"));
    // In the container the command itself would be allowed; leaving it is decided by the gate.
    writeFileSync(file("command.txt"), "sudo rm -rf ./data");
    const code = `import os, json
from hermes_tools import read_file, terminal, write_file
print(read_file("a.txt")["content"])
print(read_file("a.txt")["content"] == read_file("a.txt")["content"])
print(terminal("echo from the shell")["output"])
print(terminal(open("command.txt").read()))
print(write_file("made.txt", "by a script")["bytes_written"])
print([name for name, value in os.environ.items() if "canary" in value])`;
    llm.enqueue(calls([{ name: "execute_code", args: { code } }]), text("Done."), title);
    const env = { OPENROUTER_API_KEY: canary, MY_DB_PASSWORD: canary, HERMES_GATEWAY_TOKEN: canary, ORDINARY: canary };
    const run = await hermes(["chat", "-Q", "-q", "run it", "-t", "file,terminal,code_execution"], env);
    expect(run.stdout).toBe("Done.\n");
    const result = findAnswer(1);
    expect(result).toMatchObject({ status: "success", tool_calls_made: 6 });
    const output = String(result.output);
    expect(output).toContain("first line");
    expect(output).toContain("True\nfrom the shell\n");
    expect(output).toMatch(/no user is available to approve it|denied|blocked/);
    expect(output).toMatch(/11\n\[\]$/);
    expect(existsSync(file("data"))).toBe(true);
    expect(readFileSync(file("made.txt"), "utf8")).toBe("by a script");
    expect(JSON.stringify(llm.requests)).not.toContain(canary);
  });

  it("is refused before it starts when the code itself is dangerous", async () => {
    mkdirSync(file("data"));
    const code = `import shutil\nopen("ran", "w")\nshutil.rmtree("/")`;
    llm.enqueue(calls([{ name: "execute_code", args: { code } }]), text("No."), title);
    await hermes(["chat", "-Q", "-q", "run it"]);
    expect(String(findAnswer(1).error)).not.toBe("");
    expect(existsSync(file("ran"))).toBe(false);
  });
});

describe("hermes checkpoints", () => {
  async function damage(...args: string[]): Promise<void> {
    llm.enqueue(
      calls([{ name: "write_file", args: { path: "a.txt", content: "ruined\n" } }]),
      calls([{ name: "terminal", args: { command: "mv b.txt c.txt" } }]),
      text("Done."),
      title,
    );
    await hermes(["chat", "-Q", "-q", "change things", ...args]);
    expect(readFileSync(file("a.txt"), "utf8")).toBe("ruined\n");
  }

  beforeEach(() => {
    writeFileSync(file("a.txt"), "one\n");
    writeFileSync(file("b.txt"), "two\n");
  });

  it("are taken once in a turn when asked for; list, diff and restore work from the project", async () => {
    await damage("--checkpoints");
    const listed = JSON.parse((await hermes(["checkpoints", "list", "--json"])).stdout);
    expect(listed).toMatchObject({
      project,
      checkpoints: [{ number: 1, reason: `before a change of ${file("a.txt")}` }],
    });
    expect(listed.checkpoints).toHaveLength(1);
    const diff = await hermes(["checkpoints", "diff", "1"]);
    expect(diff.stdout).toContain("-one\n+ruined");
    const refused = await hermes(["checkpoints", "restore", "1"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--yes")]);
    const one = await hermes(["checkpoints", "restore", "1", "a.txt", "--yes"]);
    expect(one.stdout).toContain("1 file restored");
    expect(readFileSync(file("a.txt"), "utf8")).toBe("one\n");
    expect(existsSync(file("c.txt"))).toBe(true);
    const all = await hermes(["checkpoints", "restore", listed.checkpoints[0].id.slice(0, 8), "-y", "--json"]);
    expect(JSON.parse(all.stdout)).toMatchObject({ changed: ["b.txt"], removed: ["c.txt"] });
    expect(readFileSync(file("b.txt"), "utf8")).toBe("two\n");
    expect(existsSync(file("c.txt"))).toBe(false);
    const status = JSON.parse((await hermes(["checkpoints", "--json"])).stdout);
    expect(status.projects).toMatchObject([{ path: project, exists: true, snapshots: 3 }]);
    expect((await hermes(["checkpoints", "prune", "--max-size-mb", "1"])).stdout).toContain("Removed 0 checkpoints");
    expect((await hermes(["checkpoints", "clear", "--force"])).stdout).toContain("Removed all");
    expect((await hermes(["checkpoints", "list"])).stdout).toContain("No checkpoints of");
  });

  it.skipIf(noContainer)(
    "are taken before a contained command while the user is away, also when not enabled",
    async () => {
      await damage();
      const [taken, ...more] = JSON.parse((await hermes(["checkpoints", "list", "--json"])).stdout).checkpoints;
      expect([taken.reason, more]).toEqual(["before: mv b.txt c.txt", []]);
      expect((await hermes(["checkpoints", "restore", "--last", "-y"])).code).toBe(0);
      expect([existsSync(file("b.txt")), existsSync(file("c.txt"))]).toEqual([true, false]);
    },
  );

  it("are not taken for changes of files unless enabled, and wrong ids are explained", async () => {
    const write = calls([{ name: "write_file", args: { path: "a.txt", content: "ruined\n" } }]);
    llm.enqueue(write, text("Done."), title);
    await hermes(["chat", "-Q", "-q", "change things"]);
    expect(readFileSync(file("a.txt"), "utf8")).toBe("ruined\n");
    expect(existsSync(join(home.path, "checkpoints"))).toBe(false);
    const none = await hermes(["checkpoints", "restore", "1", "-y"]);
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("checkpoints.enabled true")]);
    appendFileSync(join(home.path, "config.yaml"), "checkpoints:\n  enabled: true\n");
    await damage();
    for (const [args, message] of [
      [["restore", "9", "-y"], "has no checkpoint number 9"],
      [["restore", "zzzz", "-y"], "is not the id of a checkpoint"],
      [["restore", "1", "../x", "-y"], "is not a file inside"],
      [["diff"], "which checkpoint?"],
      [["prune", "--retention-days", "x"], "takes a whole number"],
      [["clear"], "--force"],
    ] as const) {
      const run = await hermes(["checkpoints", ...args]);
      expect([run.code === 0, run.stderr]).toEqual([false, expect.stringContaining(message)]);
    }
  });
});
