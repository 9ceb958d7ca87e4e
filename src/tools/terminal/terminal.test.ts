import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, openGate, plainRedactor, tempFolder, toolContext } from "../../../test/kit/tool-context.ts";
import { until } from "../../../test/kit/until.ts";
import { noHooks } from "../../core/hook.ts";
import { LocalBackend } from "./local.ts";
import { ProcessRegistry } from "./process-registry.ts";
import { processTool } from "./process-tool.ts";
import { type TerminalParts, terminalTool } from "./terminal-tool.ts";

let folder: ReturnType<typeof tempFolder>;
let backend: LocalBackend;
let parts: TerminalParts;
let processes: ProcessRegistry;
const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: tmpdir() };
const terminal = (args: object, signal?: AbortSignal) =>
  callTool(terminalTool(parts), args, toolContext(folder.path, signal ? { signal } : {}));
const proc = (args: object) =>
  callTool(processTool(processes, { maxWaitMs: 10_000, gate: openGate }), args, toolContext(folder.path));

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

beforeEach(() => {
  folder = tempFolder();
  backend = new LocalBackend({ cwd: folder.path, env, useBashrc: false });
  processes = new ProcessRegistry((text) => text);
  parts = {
    backendFor: async () => backend,
    gate: openGate,
    redactor: plainRedactor,
    hooks: noHooks,
    processes,
    settings: {
      defaultTimeoutMs: 20_000,
      maxTimeoutMs: 600_000,
      maxOutputChars: 50_000,
      spillDir: join(folder.path, "spill"),
    },
  };
});

afterEach(async () => {
  await processes.close();
  await backend.close();
  folder.remove();
});

describe("terminal", () => {
  it("runs a command, merges the error stream, and explains the exit code", async () => {
    expect((await terminal({ command: "echo out; echo err >&2" })).json).toMatchObject({
      output: "out\nerr",
      exit_code: 0,
      error: null,
    });
    expect((await terminal({ command: "exit 3" })).json.exit_code).toBe(3);
    expect((await terminal({ command: "echo hi | grep nothing" })).json).toMatchObject({
      exit_code: 1,
      exit_code_meaning: "no match",
    });
    expect((await terminal({ command: "no_such_command_here" })).json).toMatchObject({
      exit_code: 127,
      exit_code_meaning: "the command was not found",
    });
  });

  it("keeps variables and the working directory, also with special characters", async () => {
    mkdirSync(join(folder.path, "it's a folder"));
    await terminal({ command: `export NOTE="it's \\"quoted\\" \\$HOME" LINES2=$'a\\nb' && cd "it's a folder"` });
    const next = await terminal({ command: 'printf "%s|%s|%s" "$NOTE" "$LINES2" "$PWD"' });
    expect(next.json.output).toBe(`it's "quoted" $HOME|a\nb|${join(folder.path, "it's a folder")}`);
    expect(backend.cwd).toBe(join(folder.path, "it's a folder"));
  });

  it("continues after syntax errors and in a removed folder", async () => {
    expect((await terminal({ command: "if then fi (" })).json.exit_code).not.toBe(0);
    await terminal({ command: "mkdir gone && cd gone && rmdir ../gone" });
    expect((await terminal({ command: "echo still here" })).json.output).toBe("still here");
  });

  it("stops the command and its children at the time limit", async () => {
    const result = await terminal({ command: "sleep 60 & echo $! > pid; wait", timeout: 1, background: false }).catch(
      () => null,
    );
    expect(result?.json.error).toContain("background: true");
    const slow = await terminal({ command: "bash -c 'sleep 61; true'", timeout: 1 });
    expect(slow.json).toMatchObject({ exit_code: 124 });
    expect(execFileSync("ps", ["-eo", "args"]).toString()).not.toContain("sleep 61");
  });

  it("stops within half a second when interrupted, children included", async () => {
    const controller = new AbortController();
    const running = terminal({ command: "bash -c 'trap \"\" INT; sleep 62; true'" }, controller.signal);
    await sleep(200);
    const before = Date.now();
    controller.abort();
    expect((await running).json).toMatchObject({ exit_code: 130, error: "interrupted" });
    expect(Date.now() - before).toBeLessThan(10_000);
    expect(execFileSync("ps", ["-eo", "args"]).toString()).not.toContain("sleep 62");
  });

  it("keeps start and end of a large output, and all of it in a file", async () => {
    const { result, json } = await terminal({ command: "seq 1 200000" });
    expect(String(json.output)).toMatch(/^1\n2\n/);
    expect(String(json.output)).toMatch(/\n200000$/);
    expect(String(json.output)).toContain("page it with read_file");
    expect(result.spill).toMatchObject({ lines: 200_000 });
    expect(readFileSync(result.spill?.path ?? "", "utf8").split("\n")[123_455]).toBe("123456");
    expect(statSync(result.spill?.path ?? "").mode & 0o777).toBe(0o600);
  });

  it("holds 100 MB of output in a few megabytes of memory", async () => {
    const before = process.memoryUsage().rss;
    const { result } = await terminal({ command: "yes 0123456789012345678901234567890123456789 | head -c 100000000" });
    expect(result.spill?.bytes).toBe(100_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
  });

  it("strips control sequences and keeps the last state of a progress bar", async () => {
    expect((await terminal({ command: "printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n'" })).json.output).toBe(
      "red\n100%",
    );
  });

  it.each(["nohup sleep 1", "sleep 5 &", "npm run dev", "python3 -m http.server", "tail -f log"])(
    "refuses %s in the foreground",
    async (command) => {
      expect((await terminal({ command })).json.error).toContain("background: true");
    },
  );

  it.each(["echo 'a & b'", "ls 2>&1", "true && echo yes", "npm run dev --help", "echo vitest"])(
    "allows %s",
    async (command) => {
      expect((await terminal({ command })).json.error ?? null).toBeNull();
    },
  );

  it("explains bad arguments", async () => {
    expect((await terminal({ command: "  " })).json.error).toContain("empty");
    expect((await terminal({ command: "ls", workdir: "$(rm x)" })).json.error).toContain("plain path");
    expect((await terminal({ command: "ls", timeout: 6000 })).json.error).toContain("600 s");
  });

  it("does not run a command that the gate refuses", async () => {
    parts = {
      ...parts,
      gate: {
        ...openGate,
        check: async () => ({ allowed: false, status: "denied", message: "no", rule: "rm-recursive" }),
      },
    };
    for (const background of [false, true]) {
      const { json } = await terminal({ command: "touch made", background });
      expect(json).toMatchObject({ error: "no", status: "denied" });
    }
    expect(existsSync(join(folder.path, "made"))).toBe(false);
  });
});

describe("process", () => {
  it("starts, polls, logs, waits, and lists only processes of the conversation", async () => {
    const { json } = await terminal({
      command: "for i in 1 2 3; do echo line $i; sleep 0.1; done; exit 4",
      background: true,
    });
    expect((await proc({ action: "list" })).json.processes).toHaveLength(1);
    const waited = await proc({ action: "wait", session_id: json.session_id, timeout: 10 });
    expect(waited.json).toMatchObject({ status: "exited", exit_code: 4 });
    expect((await proc({ action: "log", session_id: json.session_id, offset: 2, limit: 1 })).json.output).toBe(
      "line 2",
    );
    const other = await callTool(
      processTool(processes, { maxWaitMs: 1, gate: openGate }),
      { action: "poll", session_id: json.session_id },
      toolContext(folder.path, { conversationId: "other" }),
    );
    expect(other.json.status).toBe("not_found");
  });

  it("accepts input in a pipe and in a pseudo-terminal", async () => {
    const cat = await terminal({ command: "read line; echo got $line", background: true });
    await proc({ action: "submit", session_id: cat.json.session_id, data: "hello" });
    expect((await proc({ action: "wait", session_id: cat.json.session_id })).json.output).toContain("got hello");
    const tty = await terminal({ command: "tty; read line; echo got $line", background: true, pty: true });
    await proc({ action: "submit", session_id: tty.json.session_id, data: "there" });
    const answer = String((await proc({ action: "wait", session_id: tty.json.session_id })).json.output);
    expect(answer).toContain("/dev/pts/");
    expect(answer).toContain("got there");
  });

  it("kills the whole group", async () => {
    const { json } = await terminal({ command: "bash -c 'sleep 63; true' | cat", background: true });
    expect((await proc({ action: "kill", session_id: json.session_id })).json.status).toBe("killed");
    await until(() => !execFileSync("ps", ["-eo", "args"]).toString().includes("sleep 63"));
    expect((await proc({ action: "poll", session_id: json.session_id })).json).toMatchObject({
      status: "killed",
      exit_code: -15,
    });
  });

  it("notifies when a process ends or prints a watched pattern", async () => {
    const events: string[] = [];
    processes.onEvent = (event) => void events.push(event.type);
    await terminal({ command: "sleep 0.3; echo done", background: true, notify_on_complete: true });
    await terminal({ command: "sleep 0.3; echo server ready; sleep 5", background: true, watch_patterns: ["ready"] });
    await until(() => events.includes("completed") && events.includes("watch_match"));
  });
});

it("leaves no process when the program is killed", async () => {
  writeFileSync(
    join(folder.path, "program.mjs"),
    `import { spawn } from "node:child_process";
const script = process.argv[2];
const child = spawn("bash", ["-c", script], { detached: true, stdio: ["pipe", "pipe", "ignore", "pipe"] });
child.stdout.on("data", (chunk) => process.stdout.write(chunk));
setInterval(() => undefined, 1000);`,
  );
  const { lifelineScript } = await import("../../lib/process/spawn-group.ts");
  const program = spawn(
    process.execPath,
    [join(folder.path, "program.mjs"), `${lifelineScript} sleep 64 & echo $!; wait`],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const pid = await new Promise<number>((resolve) =>
    program.stdout.once("data", (chunk) => resolve(Number(String(chunk).trim()))),
  );
  expect(alive(pid)).toBe(true);
  program.kill("SIGKILL");
  await until(() => !alive(pid));
});

it("removes old folders of programs that no longer run, and no others", async () => {
  const { sweepOrphans } = await import("./own-temp.ts");
  const names = ["hermes-shell-999999999-a", `hermes-shell-${process.pid}-b`, "hermes-ssh-999999999-c", "other"];
  for (const name of names) mkdirSync(join(folder.path, name));
  await sweepOrphans(folder.path);
  expect(names.filter((name) => existsSync(join(folder.path, name)))).toEqual(names);
  await sweepOrphans(folder.path, Date.now() + 2 * 86_400_000);
  expect(names.filter((name) => existsSync(join(folder.path, name)))).toEqual([names[1], "other"]);
});
