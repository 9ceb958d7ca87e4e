// A program that is killed while its script runs: `code-child.mjs FOLDER NOTE` writes the script's process ids to NOTE.
import { executeCodeTool } from "../../src/tools/code/execute-code.ts";
import { openGate, plainRedactor, toolContext } from "../kit/tool-context.ts";

const [, , folder = "", note = ""] = process.argv;
const code = `import os, subprocess, time
child = subprocess.Popen(["sleep", "300"])
open(${JSON.stringify(note)}, "w").write(f"{os.getpid()} {child.pid}")
time.sleep(300)`;

const tool = executeCodeTool({
  gate: openGate,
  redactor: plainRedactor,
  toolNames: [],
  callTool: async () => ({ content: "" }),
  settings: { mode: "project", timeoutMs: 60_000, maxToolCalls: 5, spillDir: folder },
  env: { PATH: "/usr/local/bin:/usr/bin:/bin" },
});
await tool.run({ code } as never, toolContext(folder));
