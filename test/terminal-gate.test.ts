// The tools that execute, behind the real gate, without a user to ask. Files show what was run.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noHooks } from "../src/core/hook.ts";
import type { ToolContext } from "../src/core/tool/tool.ts";
import { createGate } from "../src/security/gate/gate.ts";
import { createPathGuard } from "../src/security/path-guard.ts";
import { localFiles } from "../src/tools/files/file-access.ts";
import { FileMemory } from "../src/tools/files/file-memory.ts";
import { patchTool } from "../src/tools/files/patch.ts";
import { LocalBackend } from "../src/tools/terminal/local.ts";
import { ProcessRegistry } from "../src/tools/terminal/process-registry.ts";
import { processTool } from "../src/tools/terminal/process-tool.ts";
import { terminalTool } from "../src/tools/terminal/terminal-tool.ts";
import { DEFAULT_GATE_POLICY } from "./kit/gate-policy.ts";
import { callTool, plainRedactor, toolContext } from "./kit/tool-context.ts";
import { until } from "./kit/until.ts";

let root: string;
let home: string;
let project: string;
let documents: string;
let backend: LocalBackend;
let processes: ProcessRegistry;
let yolo: boolean;
let gate: ReturnType<typeof createGate>;

const context = (more: Partial<ToolContext> = {}) => toolContext(backend.cwd, { workspace: project, ...more });
const terminal = async (args: object) => {
  gate.beginTurn("session");
  const tool = terminalTool({
    backendFor: async () => backend,
    gate,
    redactor: plainRedactor,
    hooks: noHooks,
    processes,
    settings: { defaultTimeoutMs: 20_000, maxTimeoutMs: 60_000, maxOutputChars: 50_000, spillDir: join(root, "spill") },
  });
  return (await callTool(tool, args, context())).json;
};
const process_ = async (args: object) => {
  gate.beginTurn("session");
  return (await callTool(processTool(processes, { maxWaitMs: 10_000, gate }), args, context())).json;
};
const patch = async (text: string) => {
  gate.beginTurn("session");
  const tool = patchTool({
    files: localFiles,
    gate,
    redactor: plainRedactor,
    memory: new FileMemory(),
    limits: { maxReadChars: 100_000, maxLines: 2_000, maxLineChars: 2_000 },
    home,
  });
  return (await callTool(tool, { mode: "patch", patch: text }, context())).json;
};

beforeEach(() => {
  // Outside /tmp, where deleting is everyday work.
  root = realpathSync(mkdtempSync("/opt/hermes-gate-test-"));
  home = join(root, "home");
  project = join(home, "project");
  documents = join(home, "Documents");
  for (const folder of [join(project, "data"), documents]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(project, "data", "keep.txt"), "keep");
  writeFileSync(join(documents, "thesis.txt"), "thesis");
  writeFileSync(join(home, ".bashrc"), "# mine\n");
  yolo = false;
  backend = new LocalBackend({
    cwd: project,
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, TMPDIR: tmpdir() },
    useBashrc: false,
  });
  processes = new ProcessRegistry((text) => text);
  const hermesHome = join(home, ".hermes");
  gate = createGate({
    userHome: home,
    hermesHome,
    pathGuard: createPathGuard({ userHome: home, hermesHome }),
    policy: () => ({ ...DEFAULT_GATE_POLICY, yolo }),
  });
});

afterEach(async () => {
  await processes.close();
  await backend.close();
  rmSync(root, { recursive: true, force: true });
});

const start = async (command: string, pty = false) => {
  const { session_id } = await terminal({ command, background: true, pty });
  expect(session_id).toBeDefined();
  return session_id as string;
};
const data = () => existsSync(join(project, "data", "keep.txt"));

describe("input for a running program", () => {
  it.each([
    ["bash", "rm -rf data", false],
    ["bash", "rm -rf data", true],
    ["bash --norc -i", "env rm -r data", false],
    ["sqlite3 shop.db", "DROP TABLE orders;", false],
    ["env A=1 nice sh -s", "rm -rf data", false],
    ["python3 -i", "import shutil; shutil.rmtree('data')", false],
    ["perl", "system('rm -rf data');", false],
    ["sqlite3 :memory:", ".shell rm -rf data", false],
    ["gdb -q", "shell rm -rf data", false],
    ["some-unknown-program", "rm -rf data", false],
  ])("of %s passes the gate: %s", async (command, line, pty) => {
    const id = await start(command, pty);
    expect(await process_({ action: "submit", session_id: id, data: line })).toMatchObject({ status: "denied" });
    await process_({ action: "close", session_id: id });
    await process_({ action: "wait", session_id: id, timeout: 3 });
    expect(data()).toBe(true);
  });

  it("is analysed as the resulting line", async () => {
    const id = await start("bash");
    const pieces = ["r", "m -r", "f da", "ta\n"];
    const answers = [];
    for (const piece of pieces) answers.push((await process_({ action: "write", session_id: id, data: piece })).status);
    expect(answers).toContain("denied");
    await process_({ action: "close", session_id: id });
    await process_({ action: "wait", session_id: id, timeout: 5 });
    expect(data()).toBe(true);
  });

  it("is analysed in the folder and with the variables of earlier lines", async () => {
    const id = await start("bash");
    expect(await process_({ action: "submit", session_id: id, data: `cd ${documents}` })).toMatchObject({
      status: "ok",
    });
    expect(await process_({ action: "submit", session_id: id, data: "rm thesis.txt" })).toMatchObject({
      status: "denied",
    });
    expect(await process_({ action: "submit", session_id: id, data: "x=rm" })).toMatchObject({ status: "ok" });
    expect(await process_({ action: "submit", session_id: id, data: "$x -rf ~" })).toMatchObject({ status: "blocked" });
    await process_({ action: "close", session_id: id });
    expect(existsSync(join(documents, "thesis.txt"))).toBe(true);
  });

  it("enforces the hardline rules in yolo mode", async () => {
    yolo = true;
    const id = await start("bash");
    expect(await process_({ action: "submit", session_id: id, data: "rm -rf ~" })).toMatchObject({ status: "blocked" });
    expect(await process_({ action: "submit", session_id: id, data: "ls\u001b[A" })).toMatchObject({
      status: "blocked",
    });
    expect(existsSync(documents)).toBe(true);
  });

  it("allows harmless commands, programs, answers and data", async () => {
    const shell = await start("bash");
    expect(await process_({ action: "submit", session_id: shell, data: "echo one > out.txt" })).toMatchObject({
      status: "ok",
    });
    expect(await process_({ action: "submit", session_id: shell, data: "echo two >> out.txt" })).toMatchObject({
      status: "ok",
    });
    await until(
      () => existsSync(join(project, "out.txt")) && readFileSync(join(project, "out.txt"), "utf8").includes("two"),
    );
    const python = await start("python3 -i -q");
    expect(await process_({ action: "submit", session_id: python, data: "print(sum(range(5)))" })).toMatchObject({
      status: "ok",
    });
    const installer = await start("read -p 'Continue? ' a && echo got-$a > answer.txt");
    expect(await process_({ action: "submit", session_id: installer, data: "y" })).toMatchObject({ status: "ok" });
    await until(() => existsSync(join(project, "answer.txt")));
    const filter = await start("cat > poem.txt");
    expect(await process_({ action: "submit", session_id: filter, data: "roses; (are 'red" })).toMatchObject({
      status: "ok",
    });
    const menu = await start("npm init", true);
    expect(await process_({ action: "write", session_id: menu, data: "\r" })).toMatchObject({ status: "ok" });
    expect(await process_({ action: "write", session_id: menu, data: "\u001b[B" })).toMatchObject({ status: "ok" });
    expect(await process_({ action: "write", session_id: menu, data: "\u0003" })).toMatchObject({ status: "ok" });
  });
});

describe("the folder of a command", () => {
  it("must exist", async () => {
    yolo = true;
    const missing = await terminal({ command: "rm -rf *", workdir: join(home, "nope") });
    expect(missing.error).toContain("does not exist");
    expect((await terminal({ command: "echo evil >> .bashrc", workdir: join(home, "nope") })).error).toContain(
      "does not exist",
    );
    expect((await terminal({ command: "ls", workdir: join(documents, "thesis.txt") })).error).toContain(
      "is not a folder",
    );
    expect(existsSync(join(documents, "thesis.txt"))).toBe(true);
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("# mine\n");
  });

  it("may start with ~, and does not change the shell's folder", async () => {
    expect(await terminal({ command: "pwd -P", workdir: "~" })).toMatchObject({ output: home, exit_code: 0 });
    expect(await terminal({ command: "pwd -P; ls", workdir: "~/Documents" })).toMatchObject({
      output: `${documents}\nthesis.txt`,
    });
    expect(await terminal({ command: "echo ok", workdir: project })).toMatchObject({ output: "ok", cwd: project });
    expect((await terminal({ command: "echo evil >> .bashrc", workdir: "~" })).status).toBe("denied");
  });

  it("is checked by its real path", async () => {
    symlinkSync(home, join(project, "link"));
    yolo = true;
    expect(await terminal({ command: "rm -rf *", workdir: "link" })).toMatchObject({ status: "blocked" });
    yolo = false;
    expect(await terminal({ command: "rm thesis.txt", workdir: "link/Documents" })).toMatchObject({ status: "denied" });
    expect(existsSync(join(documents, "thesis.txt"))).toBe(true);
  });

  it("falls back to the first one when the current one is deleted", async () => {
    mkdirSync(join(home, "gone"));
    await terminal({ command: `cd ${join(home, "gone")}` });
    rmSync(join(home, "gone"), { recursive: true });
    expect(await terminal({ command: "pwd -P" })).toMatchObject({ output: project, exit_code: 0 });
  });
});

describe("deleting outside the folder of the conversation", () => {
  it("needs approval in every folder of the shell", async () => {
    await terminal({ command: "cd ~/Documents" });
    expect(backend.cwd).toBe(documents);
    for (const command of ["rm thesis.txt", "mv thesis.txt /tmp/x", "truncate -s0 thesis.txt", "unlink ./thesis.txt"])
      expect([command, (await terminal({ command })).status]).toEqual([command, "denied"]);
    expect(readFileSync(join(documents, "thesis.txt"), "utf8")).toBe("thesis");
    await terminal({ command: `cd ${project}` });
    expect(await terminal({ command: "rm data/keep.txt" })).toMatchObject({ exit_code: 0 });
  });

  it("needs approval in patches too", async () => {
    const wrap = (body: string) => `*** Begin Patch\n${body}\n*** End Patch`;
    const thesis = join(documents, "thesis.txt");
    expect((await patch(wrap(`*** Delete File: ${thesis}`))).status).toBe("denied");
    expect((await patch(wrap(`*** Move File: ${thesis} -> ${join(project, "t.txt")}`))).status).toBe("denied");
    expect((await patch(wrap(`*** Update File: ${thesis}\n@@\n-thesis`))).status).toBe("denied");
    expect(readFileSync(thesis, "utf8")).toBe("thesis");
    expect(await patch(wrap("*** Delete File: data/keep.txt"))).toMatchObject({ success: true });
    expect(await patch(wrap(`*** Update File: ${thesis}\n@@\n-thesis\n+theses`))).toMatchObject({ success: true });
  });
});
