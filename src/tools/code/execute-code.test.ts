import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callTool, openGate, plainRedactor, tempFolder, toolContext } from "../../../test/kit/tool-context.ts";
import { until } from "../../../test/kit/until.ts";
import type { Intent } from "../../core/gate.ts";
import { absentHuman } from "../../core/human.ts";
import type { ToolContext } from "../../core/tool/tool.ts";
import { jsonResult, toolError } from "../../core/tool/tool.ts";
import { type CodeParts, executeCodeTool } from "./execute-code.ts";
import { SCRIPT_TOOLS } from "./script-tools.ts";

const LANGUAGES = ["python", "javascript"] as const;
const PATH = "/usr/local/bin:/usr/bin:/bin";
const ALL = SCRIPT_TOOLS.map((tool) => tool.name);

let folder: ReturnType<typeof tempFolder>;
let calls: { name: string; args: { [key: string]: unknown }; context: ToolContext }[];
let parts: CodeParts;

const run = (args: object, context: Partial<ToolContext> = {}) =>
  callTool(executeCodeTool(parts), args, toolContext(folder.path, context));

function alive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

beforeEach(() => {
  folder = tempFolder();
  calls = [];
  parts = {
    gate: openGate,
    redactor: plainRedactor,
    settings: { mode: "project", timeoutMs: 30_000, maxToolCalls: 50, spillDir: join(folder.path, "spill") },
    env: { PATH, HOME: folder.path },
    toolNames: ALL,
    callTool: async (name, args, context) => {
      calls.push({ name, args, context });
      return jsonResult({ tool: name, args });
    },
  };
});

afterEach(() => folder.remove());

describe.each(LANGUAGES)("a script in %s", (language) => {
  const code = (python: string, javascript: string) => ({
    code: language === "python" ? python : javascript,
    language,
  });

  it("returns output and status", async () => {
    const { json, result } = await run(code("print('hello', 2 + 3)", "console.log('hello', 2 + 3)"));
    expect(json).toMatchObject({ status: "success", output: "hello 5", tool_calls_made: 0 });
    expect(json.error).toBeUndefined();
    expect(result.failed).toBeUndefined();
  });

  it("calls tools with positional and named arguments and gets parsed values", async () => {
    const { json } = await run(
      code(
        `from hermes_tools import read_file, search_files, terminal
print(read_file("a.txt", limit=3)["args"])
print(search_files("x", path="src")["tool"])
print(terminal("ls", background=True, pty=True, watch_patterns=["x"], timeout=5)["args"])`,
        `import { read_file, search_files, terminal } from "hermes_tools";
console.log(JSON.stringify((await read_file({ path: "a.txt", limit: 3 })).args));
console.log((await search_files("x", "content", "src")).tool);
console.log(JSON.stringify((await terminal({ command: "ls", background: true, pty: true, watch_patterns: ["x"], timeout: 5 })).args));`,
      ),
    );
    expect(json).toMatchObject({ status: "success", tool_calls_made: 3 });
    expect(calls[0]).toMatchObject({ name: "read_file", args: { path: "a.txt", limit: 3 } });
    expect(calls[1]).toMatchObject({ name: "search_files", args: { pattern: "x", path: "src" } });
    expect(calls[2]?.args).toEqual({ command: "ls", timeout: 5 });
    expect(new Set(calls.map((call) => call.context.callId)).size).toBe(3);
  });

  it("has helper functions", async () => {
    const { json } = await run(
      code(
        `from hermes_tools import json_parse, shell_quote, retry
print(json_parse('{"a": "x\\ny"}')["a"])
print(shell_quote("it's"))
tries = []
def flaky():
    tries.append(1)
    if len(tries) < 3: raise ValueError("no")
    return "third"
print(retry(flaky, delay=0.01))`,
        `import { json_parse, shell_quote, retry } from "hermes_tools";
console.log(json_parse('{"a": "x\\ny"}').a);
console.log(shell_quote("it's"));
let tries = 0;
console.log(await retry(() => { if (++tries < 3) throw new Error("no"); return "third"; }, 3, 0.01));`,
      ),
    );
    const quoted = language === "python" ? `'it'"'"'s'` : `'it'\\''s'`;
    expect(json.output).toBe(`x\ny\n${quoted}\nthird`);
  });

  it("returns a tool's failure as a value and refuses tools that are not offered", async () => {
    parts = { ...parts, toolNames: ["read_file"], callTool: async () => toolError("no such file") };
    const { json } = await run(
      code(
        `import hermes_tools
print(hermes_tools.read_file("x"))
print(hasattr(hermes_tools, "terminal"))
print(hermes_tools._call("terminal", {"command": "ls"}))`,
        `import * as tools from "hermes_tools";
console.log(JSON.stringify(await tools.read_file("x")), "terminal" in tools);`,
      ),
    );
    expect(json.output).toContain("no such file");
    expect(json.output).toMatch(/false/i);
    if (language === "python") expect(json.output).toContain("a script cannot call terminal");
    expect(json.tool_calls_made).toBe(1);
  });

  it("stops at the limit of calls", async () => {
    parts = { ...parts, settings: { ...parts.settings, maxToolCalls: 3 } };
    const { json } = await run(
      code(
        "from hermes_tools import read_file\nfor n in range(5): r = read_file(str(n))\nprint(r)",
        'import { read_file } from "hermes_tools";\nlet r; for (let n = 0; n < 5; n++) r = await read_file(String(n));\nconsole.log(r);',
      ),
    );
    expect(json.output).toContain("limit of 3 tool calls");
    expect(json.tool_calls_made).toBe(3);
    expect(calls).toHaveLength(3);
  });

  it("reports errors with their position in the script", async () => {
    const { json, result } = await run(
      code("print('before')\nraise ValueError('broken')", "console.log('before');\nthrow new Error('broken');"),
    );
    expect(json).toMatchObject({ status: "error" });
    expect(json.output).toContain("before");
    expect(json.output).toContain("--- stderr ---");
    expect(json.error).toContain("broken");
    expect(json.error).toMatch(/script\.(py", line 2|mjs:2)/);
    expect(result.failed).toBe(true);
  });

  it("asks the gate first and runs nothing when it refuses", async () => {
    const seen: Intent[] = [];
    const message = "this is dangerous; do not try variants";
    parts = {
      ...parts,
      gate: {
        ...openGate,
        check: async (intent) => {
          seen.push(intent);
          return { allowed: false, status: "denied", message, rule: "code.delete" };
        },
      },
    };
    const { json, result } = await run(
      code("open('made', 'w')", "import { writeFileSync } from 'node:fs'; writeFileSync('made', '')"),
    );
    expect(seen[0]).toMatchObject({ kind: "code", language, cwd: folder.path });
    expect(json).toMatchObject({ error: message, status: "denied", rule: "code.delete" });
    expect(result.failed).toBe(true);
    expect(existsSync(join(folder.path, "made"))).toBe(false);
  });

  it("ends at the time limit with what was printed so far, and leaves no process", async () => {
    parts = { ...parts, settings: { ...parts.settings, timeoutMs: 1_500 } };
    const { json } = await run(
      code(
        "import os, subprocess, time\np = subprocess.Popen(['sleep', '300'])\nq = subprocess.Popen(['sleep', '300'], start_new_session=True)\nprint(os.getpid(), p.pid, q.pid)\ntime.sleep(300)",
        "import { spawn } from 'node:child_process';\nconst p = spawn('sleep', ['300']);\nconst q = spawn('sleep', ['300'], { detached: true });\nconsole.log(process.pid, p.pid, q.pid);\nsetTimeout(() => 0, 300_000);",
      ),
    );
    expect(json).toMatchObject({ status: "timeout" });
    expect(json.error).toContain("1.5 s");
    const pids = String(json.output).split(/\s+/).map(Number).filter(Boolean);
    expect(pids).toHaveLength(3);
    await until(() => !pids.some(alive));
  });
});

describe("execute_code", () => {
  it("refuses empty code and offers only tools of the conversation", async () => {
    expect((await run({ code: "  \n" })).json.error).toContain("empty");
    expect(executeCodeTool(parts).description).toContain("terminal(command, timeout?, workdir?)");
    const fewer = executeCodeTool({ ...parts, toolNames: ["read_file", "memory"] });
    expect(fewer.description).toContain("read_file(");
    expect(fewer.description).not.toMatch(/terminal|memory/);
  });

  it("uses JavaScript when there is no Python, and reports that when Python was requested", async () => {
    parts = { ...parts, env: { PATH: folder.path, HOME: folder.path } };
    const asked = await run({ code: "print(1)", language: "python" });
    expect(asked.json.error).toContain("JavaScript");
    const seen: Intent[] = [];
    parts = {
      ...parts,
      gate: {
        ...openGate,
        check: async (intent) => {
          seen.push(intent);
          return { allowed: true, how: "harmless" };
        },
      },
    };
    await run({ code: "console.log('js')" });
    expect(seen[0]).toMatchObject({ language: "javascript" });
  });

  it("runs in the project with its Python, or separate from both in strict mode", async () => {
    writeFileSync(join(folder.path, "mine.py"), "value = 'from the project'");
    const bin = join(folder.path, ".venv", "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "python"), '#!/bin/sh\nPROJECT_PYTHON=yes exec python3 "$@"\n');
    chmodSync(join(bin, "python"), 0o755);
    const code = `import os
try:
    import mine
    print(mine.value)
except ImportError:
    print("no project")
print(os.environ.get("PROJECT_PYTHON"), os.getcwd())
import hermes_tools`;
    const kept: string[] = [];
    parts = { ...parts, beforeRun: async (context) => void kept.push(context.cwd) };
    const project = await run({ code });
    expect(project.json.output).toBe(`from the project\nyes ${folder.path}`);
    parts = { ...parts, settings: { ...parts.settings, mode: "strict" } };
    const strict = await run({ code });
    expect(strict.json.output).toMatch(/^no project\nNone .*hermes-code-\w+\/work$/);
    expect(kept).toEqual([folder.path]);
    expect(existsSync(String(strict.json.output).split(" ").at(-1) ?? "")).toBe(false);
  });

  it("lets JavaScript import the project's files and packages", async () => {
    writeFileSync(join(folder.path, "lib.mjs"), "export const own = 'lib';");
    mkdirSync(join(folder.path, "node_modules", "pack"), { recursive: true });
    writeFileSync(join(folder.path, "node_modules", "pack", "index.js"), "module.exports = { name: 'pack' };");
    const { json } = await run({
      language: "javascript",
      code: `import { own } from "./lib.mjs";
import pack from "pack";
const { shell_quote } = require("hermes_tools");
console.log(own, pack.name, require("pack").name, shell_quote("a b"));`,
    });
    expect(json.output).toBe("lib pack pack 'a b'");
  });

  it("keeps start and end of large output, all of it in a file, and cuts the error stream", async () => {
    const { json, result } = await run({
      code: "import sys\nfor n in range(200000): print('line', n)\nsys.stderr.write('e' * 100000 + 'END')\nsys.exit(3)",
    });
    const output = String(json.output);
    expect(output).toContain("line 0\n");
    expect(output).toContain("line 199999");
    expect(output.length).toBeLessThan(62_000);
    expect(String(json.error).length).toBeLessThan(10_500);
    expect(json.error).toContain("END");
    expect(result.spill?.lines).toBe(200_000);
    expect(statSync(result.spill?.path ?? "").mode & 0o777).toBe(0o600);
  });

  it("removes secrets and colours from the output", async () => {
    parts = {
      ...parts,
      redactor: {
        ...plainRedactor,
        stream: () => {
          let held = "";
          const push = (text: string) => {
            held += text;
            return "";
          };
          return { push, end: () => held.replaceAll("s3cr3t", "***") };
        },
      },
    };
    const { json } = await run({ code: "print('\\x1b[31mred s3cr3t\\x1b[0m')" });
    expect(json.output).toBe("red ***");
  });

  it("stops at once on interrupt, also inside a tool call", async () => {
    const controller = new AbortController();
    let inner: AbortSignal | undefined;
    parts = {
      ...parts,
      callTool: async (_name, _args, context) => {
        inner = context.signal;
        controller.abort();
        await new Promise((resolve) => context.signal.addEventListener("abort", resolve, { once: true }));
        return toolError("interrupted");
      },
    };
    const code = "from hermes_tools import terminal\nterminal('sleep 300')\nimport time; time.sleep(300)";
    const { json } = await run({ code }, { signal: controller.signal });
    expect(json.status).toBe("interrupted");
    expect(inner?.aborted).toBe(true);
  }, 15_000);

  it("does not count the time while the user is asked", async () => {
    parts = {
      ...parts,
      settings: { ...parts.settings, timeoutMs: 2_000 },
      callTool: async (_name, _args, context) => {
        await context.human.clarify({ question: "?", choices: [] }, context.signal);
        return jsonResult({ ok: true });
      },
    };
    const human = { ...absentHuman, clarify: () => sleep(2_500).then(() => null) };
    const { json } = await run({ code: "from hermes_tools import terminal\nprint(terminal('x'))" }, { human });
    expect(json).toMatchObject({ status: "success", output: "{'ok': True}" });
  }, 15_000);

  it("marks the result as untrusted when the script read untrusted text", async () => {
    const tainted: boolean[] = [];
    parts = {
      ...parts,
      callTool: async (_name, _args, context) => {
        tainted.push(context.tainted);
        return { ...jsonResult({ page: "text" }), trust: "untrusted" };
      },
    };
    const { result } = await run({ code: "from hermes_tools import web_search\nweb_search('a')\nweb_search('b')" });
    expect(tainted).toEqual([false, true]);
    expect(result.trust).toBe("untrusted");
  });

  it("serves calls from threads one at a time", async () => {
    let running = 0;
    let most = 0;
    parts = {
      ...parts,
      callTool: async (_name, args) => {
        most = Math.max(most, ++running);
        await sleep(5);
        running--;
        return jsonResult({ path: args.path });
      },
    };
    const { json } = await run({
      code: `from concurrent.futures import ThreadPoolExecutor
from hermes_tools import read_file
with ThreadPoolExecutor(8) as pool:
    print(sorted(r["path"] for r in pool.map(lambda n: read_file(str(n)), range(9))))`,
    });
    expect(json.output).toBe("['0', '1', '2', '3', '4', '5', '6', '7', '8']");
    expect(most).toBe(1);
  });
});
