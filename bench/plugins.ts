// Bench: CPU time for finding installed plugins in a new process, without an index and with a valid one.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openPluginHost } from "../src/app/open-plugins.ts";
import { openSettings } from "../src/config/api.ts";
import { Registry } from "../src/core/tool/tool-registry.ts";
import { openHome } from "../src/home/api.ts";
import { tempDir } from "../test/kit/temp-dir.ts";
import { type Line, printTable } from "./table.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "15" },
    plugins: { type: "string", default: "50" },
    /** For the child processes: what to do, and where. */
    task: { type: "string" },
    home: { type: "string" },
  },
});
const count = Number(values.plugins);

function makeHome(): string {
  const home = tempDir("hermes-bench-plugins-");
  const names = Array.from({ length: count }, (_, index) => `plugin-${index}`);
  for (const name of names) {
    const folder = join(home, "plugins", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "plugin.yaml"),
      `name: ${name}\nversion: 1.0.0\ndescription: What ${name} is good for\nauthor: bench\napi: 1\nprovides_tools: [t_${name.replace("-", "_")}]\n`,
    );
    writeFileSync(
      join(folder, "index.js"),
      `export function register(ctx) {
  ctx.registerTool({ name: "t_${name.replace("-", "_")}", description: "A tool", parameters: { type: "object", properties: { a: { type: "string" } } }, run: async () => "ok" });
  ctx.registerHook("post_tool_call", () => null);
}\n`,
    );
  }
  writeFileSync(join(home, "config.yaml"), `plugins:\n  enabled: [${names.join(", ")}]\n`);
  return home;
}

/** The floor: one stat call for each of the two files of every folder. */
function look(home: string): void {
  const root = join(home, "plugins");
  for (const name of readdirSync(root))
    for (const file of ["plugin.yaml", "index.js"]) statSync(join(root, name, file), { throwIfNoEntry: false });
}

async function child(task: string, path: string): Promise<void> {
  const { home } = openHome([], { env: { HERMES_HOME: path }, cwd: path, platform: process.platform, homedir: path });
  const { config } = await openSettings(home).load();
  const before = process.cpuUsage();
  if (task === "look") look(path);
  else {
    const host = await openPluginHost(home, config, { notice: () => undefined });
    if (task !== "find") {
      await host.settle();
      host.registerTools(new Registry());
    }
    const { user, system } = process.cpuUsage(before);
    await host.close();
    console.log((user + system) / 1000);
    return;
  }
  const { user, system } = process.cpuUsage(before);
  console.log((user + system) / 1000);
}

function measure(task: string, home: string, prepare: () => void = () => undefined): number {
  const times: number[] = [];
  for (let run = 0; run < Number(values.runs); run++) {
    prepare();
    const argv = [fileURLToPath(import.meta.url), "--task", task, "--home", home, "--plugins", String(count)];
    const { stdout, stderr, status } = spawnSync(process.execPath, argv, { encoding: "utf8" });
    if (status !== 0) throw new Error(stderr);
    times.push(Number(stdout.trim()));
  }
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function main(): void {
  const home = makeHome();
  try {
    const forget = () => rmSync(join(home, "cache"), { recursive: true, force: true });
    const floor = measure("look", home);
    const ms = (time: number) => `${time.toFixed(1)} ms`;
    const line = (what: string, time: number): Line => ({ what, ours: ms(time), raw: ms(floor), ratio: time / floor });
    const cold = [
      line("cold: manifests read, all code imported once", measure("settle", home, forget)),
      line("cold: manifests read", measure("find", home, forget)),
    ];
    // Files with a recent change are read twice.
    spawnSync("sleep", ["2.1"]);
    measure("settle", home);
    const warm = [
      line("warm: found", measure("find", home)),
      line("warm: found, tools and hooks in place", measure("settle", home)),
    ];
    const lines = [...cold, ...warm];
    printTable(`${count} enabled plugins, processor time in a fresh process; raw: two stat calls each`, lines);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

if (values.task && values.home) await child(values.task, values.home);
else main();
