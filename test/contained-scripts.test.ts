// A contained script can reach its workspace and the tools, but not the user's files, processes or network.
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Intent } from "../src/core/gate.ts";
import { jsonResult, type ToolContext } from "../src/core/tool/tool.ts";
import { type CodeParts, executeCodeTool } from "../src/tools/code/execute-code.ts";
import { type ContainerFixture, containerFixture, containerProblem } from "./kit/container-fixture.ts";
import { callTool, openGate, plainRedactor, toolContext } from "./kit/tool-context.ts";

const problem = await containerProblem();

let fixture: ContainerFixture;
let home: string;
let hermes: string;
let project: string;
let parts: CodeParts;
let seen: Intent[];

const run = async (code: string, language = "python", context: Partial<ToolContext> = {}) =>
  (await callTool(executeCodeTool(parts), { code, language }, toolContext(project, { workspace: project, ...context })))
    .json;

beforeEach(() => {
  fixture = containerFixture();
  ({ home, hermes, project } = fixture);
  seen = [];
  parts = {
    gate: {
      ...openGate,
      check: async (intent) => {
        seen.push(intent);
        return { allowed: true, how: "harmless" };
      },
    },
    redactor: plainRedactor,
    settings: { mode: "project", timeoutMs: 30_000, maxToolCalls: 50, spillDir: join(fixture.root, "spill") },
    env: fixture.env,
    containerOf: () => fixture.open({ env: parts.env }),
    toolNames: ["read_file", "terminal"],
    callTool: async (name, args) => jsonResult({ tool: name, args }),
  };
});
afterEach(() => fixture.remove());

describe.skipIf(problem)("a contained script", { timeout: 60_000 }, () => {
  it("reads and writes the workspace and its own temporary folder", async () => {
    const json = await run(
      "import os, tempfile\nprint(open('data/a.txt').read())\nopen('data/b.txt', 'w').write('new')\nprint(tempfile.mkdtemp())\nos.remove('data/a.txt')",
    );
    expect(json).toMatchObject({ status: "success", output: expect.stringContaining("in the project\n/tmp/") });
    expect(readFileSync(join(project, "data", "b.txt"), "utf8")).toBe("new");
    expect(existsSync(join(project, "data", "a.txt"))).toBe(false);
    const javascript = await run(
      "import { writeFileSync } from 'node:fs'; writeFileSync('c.txt', 'js'); console.log(process.cwd())",
      "javascript",
    );
    expect(javascript).toMatchObject({ status: "success", output: project });
    expect(readFileSync(join(project, "c.txt"), "utf8")).toBe("js");
  });

  it("calls tools", async () => {
    const json = await run("from hermes_tools import terminal\nprint(terminal('ls')['tool'])");
    expect(json).toMatchObject({ status: "success", output: "terminal", tool_calls_made: 1 });
    const javascript = await run(
      "import { read_file } from 'hermes_tools'; console.log((await read_file('x')).tool)",
      "javascript",
    );
    expect(javascript).toMatchObject({ status: "success", output: "read_file" });
    expect(seen[0]).toMatchObject({ kind: "code", contained: true });
  });

  it.each([
    ["reads a key", "print(open(os.environ['HOME']+'/.ssh/id_rsa').read()[::-1])"],
    ["changes a start-up file", "open(os.environ['HOME']+'/.bashrc','a').write('evil')"],
    ["creates a start-up file", "open(os.environ['HOME']+'/.profile','w').write('evil')"],
    [
      "changes the settings of Hermes",
      "q=os.environ['HOME']+'/.hermes/con'+'fig.yaml'; open(q,'a').write('mode: off')",
    ],
    ["adds a skill", "open(os.environ['HOME']+'/.hermes/skills/pdf/SKILL.md','w').write('evil')"],
    [
      "writes through a link",
      "os.symlink(os.environ['HOME']+'/.ssh','k'); open('k/authorized_keys','a').write('evil')",
    ],
    ["writes to the system", "open('/etc/evil','w').write('x')"],
    ["mounts the system writable", "sys.exit(subprocess.run(['mount','-o','remount,rw','/']).returncode or 0)"],
    ["deletes the home", "shutil.rmtree(os.environ['HOME']+'/.ssh')"],
    ["signals a process outside the sandbox", `os.kill(${process.pid}, 0)`],
  ])("is stopped when it %s", async (_name, code) => {
    const json = await run(`import os, shutil, subprocess, sys\n${code}`);
    expect(json.status).toBe("error");
    expect(String(json.output)).not.toContain("yek etavirp");
    expect(readFileSync(join(home, ".ssh", "id_rsa"), "utf8")).toBe("private key");
    expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("# mine\n");
    expect(readFileSync(join(hermes, "config.yaml"), "utf8")).toBe("approvals: {}\n");
    for (const path of [
      join(home, ".profile"),
      join(hermes, "skills", "pdf", "SKILL.md"),
      join(home, ".ssh", "authorized_keys"),
      "/etc/evil",
    ])
      expect(existsSync(path)).toBe(false);
  });

  it("sees installed skills", async () => {
    const json = await run("import os\nprint(open(os.environ['HOME']+'/.hermes/skills/pdf/table.txt').read())");
    expect(json).toMatchObject({ status: "success", output: "of a skill" });
  });

  it("runs the Python of a version manager in the home", async () => {
    const manager = join(home, ".manager");
    for (const folder of ["shims", "versions"]) mkdirSync(join(manager, folder), { recursive: true });
    symlinkSync("/usr/bin/python3", join(manager, "versions", "python3"));
    const shim = '#!/bin/sh\nexec "$(dirname "$0")/../versions/python3" "$@"\n';
    writeFileSync(join(manager, "shims", "python3"), shim, { mode: 0o755 });
    parts = { ...parts, env: { ...parts.env, PATH: `${join(manager, "shims")}:${fixture.env.PATH}` } };
    expect(await run("print(1)")).toMatchObject({ status: "success", output: "1" });
  });

  it("has no network", async () => {
    let asked = 0;
    const server = createServer((_request, answer) => {
      asked++;
      answer.end("ok");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const json = await run(
      `import urllib.request\nprint(urllib.request.urlopen('http://127.0.0.1:${port}/', timeout=5).read())`,
    );
    server.close();
    expect(json.status).toBe("error");
    expect(asked).toBe(0);
  });

  it("works in strict mode, where it changes its own folder only", async () => {
    parts = { ...parts, settings: { ...parts.settings, mode: "strict" } };
    const json = await run(
      `import os\nopen('x','w').write('x')\nprint(os.listdir('.'), os.access(${JSON.stringify(project)}, os.W_OK))`,
    );
    expect(json).toMatchObject({ status: "success", output: "['x'] False" });
  });
});

it("tells the gate when there is no sandbox", async () => {
  parts = { ...parts, containerOf: async () => undefined };
  expect(await run("print(1)")).toMatchObject({ status: "success", output: "1" });
  expect(seen[0]).toMatchObject({ kind: "code", contained: false });
});
