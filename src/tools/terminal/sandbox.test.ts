import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, openGate, plainRedactor, tempFolder, toolContext } from "../../../test/kit/tool-context.ts";
import { noHooks } from "../../core/hook.ts";
import { type ApprovalRequest, absentHuman, type Human } from "../../core/human.ts";
import { ProcessRegistry } from "./process-registry.ts";
import { SandboxedBackend, type SandboxOptions, sandboxAvailable } from "./sandbox.ts";
import { terminalTool } from "./terminal-tool.ts";

const env = { PATH: "/usr/local/bin:/usr/bin:/bin" };
const usable = await sandboxAvailable(env);
if (!usable.ok) process.stderr.write(`skipped: sandbox tests, because ${usable.reason}\n`);

let workspace: ReturnType<typeof tempFolder>;
/** Outside /tmp, which is private in a sandbox. */
let outside: string;
let home: string;
let backend: SandboxedBackend;
let asked: ApprovalRequest[];

function open(options: Partial<SandboxOptions> = {}): SandboxedBackend {
  return new SandboxedBackend({
    cwd: workspace.path,
    env: { ...env, HOME: home },
    useBashrc: false,
    home,
    hidden: [],
    network: false,
    writable: [],
    ...options,
  });
}

function person(choice: "once" | "session" | "deny"): Human {
  return {
    ...absentHuman,
    present: true,
    approve: async (request) => {
      asked.push(request);
      return { choice };
    },
  };
}

async function terminal(command: string, human: Human = absentHuman) {
  const tool = terminalTool({
    backendFor: async () => backend,
    gate: openGate,
    redactor: plainRedactor,
    hooks: noHooks,
    processes: new ProcessRegistry((text) => text),
    settings: {
      defaultTimeoutMs: 20_000,
      maxTimeoutMs: 600_000,
      maxOutputChars: 50_000,
      spillDir: join(workspace.path, "spill"),
    },
  });
  return (await callTool(tool, { command }, toolContext(workspace.path, { human }))).json;
}

describe.skipIf(!usable.ok)("the bubblewrap sandbox", () => {
  beforeEach(() => {
    workspace = tempFolder();
    outside = mkdtempSync("/opt/hermes-sandbox-test-");
    home = join(outside, "home");
    mkdirSync(join(home, ".ssh"), { recursive: true });
    mkdirSync(join(home, ".local", "bin"), { recursive: true });
    writeFileSync(join(home, ".ssh", "id"), "private key");
    asked = [];
    backend = open();
  });
  afterEach(async () => {
    await backend.close();
    workspace.remove();
    rmSync(outside, { recursive: true, force: true });
  });

  it("writes to the workspace and a private temp folder, and keeps state between commands", async () => {
    expect(await terminal("echo hi > note && export A=1 && cd / && mktemp")).toMatchObject({ exit_code: 0 });
    expect(readFileSync(join(workspace.path, "note"), "utf8")).toBe("hi\n");
    expect(await terminal('echo "$A $PWD"; ls /tmp | grep -c tmp')).toMatchObject({ output: "1 /\n1" });
    expect(await terminal("exit 7")).toMatchObject({ exit_code: 7 });
  });

  it("keeps the system read-only and names the setting when no user can be asked", async () => {
    const json = await terminal(`echo x > ${outside}/made`);
    expect(json.exit_code).not.toBe(0);
    expect(json.sandbox).toContain(`${outside} is read-only in the sandbox`);
    expect(json.sandbox).toContain("terminal.sandbox_writable");
    expect(existsSync(join(outside, "made"))).toBe(false);
  });

  it("hides the home except for tool chains", async () => {
    const json = await terminal(`ls -A ${home}; cat ${home}/.ssh/id`);
    expect(json.output).toContain(".local");
    expect(json.output).not.toContain("private key");
    expect(json.sandbox).toContain("hidden in the sandbox");
    expect((await terminal(`echo lost > ${home}/file`)).exit_code).not.toBe(0);
    expect((await terminal(`cat ${home}/.ssh/id`, person("once"))).output).toContain("private key");
    expect(asked.at(-1)?.intent).toBe(`sandbox read ${home}/.ssh/id`);
  });

  it("asks for the denied path, runs again, and remembers it for the session only when requested", async () => {
    writeFileSync(join(outside, "a"), "old");
    writeFileSync(join(outside, "b"), "old");
    expect(await terminal(`echo new > ${outside}/a`, person("once"))).toMatchObject({ exit_code: 0 });
    expect(readFileSync(join(outside, "a"), "utf8")).toBe("new\n");
    expect(asked).toMatchObject([{ intent: `sandbox write ${outside}/a`, choices: ["once", "session", "deny"] }]);
    await terminal(`echo again > ${outside}/a`, person("session"));
    await terminal(`echo third > ${outside}/a`, person("deny"));
    expect(asked).toHaveLength(2);
    expect(readFileSync(join(outside, "a"), "utf8")).toBe("third\n");
    expect((await terminal(`echo new > ${outside}/b`, person("deny"))).sandbox).toContain(`${outside}/b`);
    expect(readFileSync(join(outside, "b"), "utf8")).toBe("old");
    const python = `python3 -c "open('${outside}/c', 'w')"`;
    const node = `node -e "require('fs').writeFileSync('${outside}/c', '')"`;
    for (const command of [python, node, `touch ${outside}/c`, `cp note ${outside}/c`]) {
      asked = [];
      await terminal("echo x > note");
      await terminal(command, person("deny"));
      expect(asked, command).toMatchObject([{ intent: `sandbox write ${outside}` }]);
    }
  });

  it("has no network unless allowed", async () => {
    const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    const ask = `exec 5<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&5 && cat <&5`;
    expect((await terminal(ask)).output).not.toContain("reached");
    await backend.close();
    backend = open({ network: true });
    expect((await terminal(ask)).output).toContain("reached");
    server.close();
  });

  it("allows configured folders, and hides other processes", async () => {
    await backend.close();
    backend = open({ writable: [outside] });
    expect(await terminal(`echo x > ${outside}/made; ls -d /proc/[0-9]* | wc -l`)).toMatchObject({ exit_code: 0 });
    expect(existsSync(join(outside, "made"))).toBe(true);
    expect((await terminal(`kill -0 ${process.pid}`)).exit_code).not.toBe(0);
  });

  it("does not make a workspace writable that contains the home", async () => {
    await backend.close();
    backend = open({ cwd: outside });
    expect((await terminal("echo x > made")).exit_code).not.toBe(0);
    expect(existsSync(join(outside, "made"))).toBe(false);
  });

  it("contains background processes and pseudo-terminals, and ends their whole group", async () => {
    for (const pty of [false, true]) {
      let output = "";
      let code: number | undefined;
      const running = await backend.spawn({
        command: `echo x > ${outside}/made; sleep 75`,
        pty,
        onOutput: (text) => (output += text),
        onExit: (exitCode) => (code = exitCode),
      });
      await expect.poll(() => output, { timeout: 5_000 }).toContain("Read-only file system");
      await running.kill();
      await expect.poll(() => code, { timeout: 5_000 }).toBeDefined();
    }
    expect(existsSync(join(outside, "made"))).toBe(false);
  });
});

it("reports that bubblewrap is missing", async () => {
  expect(await sandboxAvailable({ PATH: "/nowhere" })).toMatchObject({
    ok: false,
    reason: expect.stringContaining("not installed"),
  });
});
