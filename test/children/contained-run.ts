// Opens a container and runs the commands from standard input in it; prints their results as JSON.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openContainers } from "../../src/container/open-containers.ts";
import { ContainedBackend } from "../../src/tools/terminal/contained.ts";
import { OutputCapture } from "../../src/tools/terminal/output-capture.ts";

interface Input {
  readonly home: string;
  readonly project: string;
  readonly commands: { readonly [name: string]: string };
}

const { home, project, commands } = JSON.parse(readFileSync(0, "utf8")) as Input;
const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: home };
const containers = openContainers({
  hermesHome: join(home, ".hermes"),
  userHome: home,
  setting: "required",
  env,
  roots: [],
  readable: [],
  isSecret: (path) => path.endsWith("/id_rsa"),
});
const container = await containers.open({ workspace: project, credentials: () => [] });
if (!container) throw new Error("there is no container");
const backend = new ContainedBackend({ cwd: project, env, useBashrc: false }, container);
const results: { [name: string]: { exitCode: number; output: string } } = {};
for (const [name, command] of Object.entries(commands)) {
  const output = new OutputCapture({ limit: 20_000, spillPath: join(home, "spill.txt") });
  const signal = new AbortController().signal;
  const { exitCode } = await backend.run({ command, cwd: project, timeoutMs: 30_000, signal, output });
  results[name] = { exitCode, output: (await output.finish()).text };
}
await backend.close();
process.stdout.write(JSON.stringify(results), () => process.exit(0));
