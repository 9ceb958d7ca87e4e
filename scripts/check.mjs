// Runs the static checks: types, lint and format, the direction rule, unused code.
import { spawn } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bin = (name) => join(root, "node_modules", ".bin", name);

export const checks = [
  {
    name: "types",
    command: process.execPath,
    args: [join(root, "node_modules", "typescript-7", "bin", "tsc"), "-p", "tsconfig.json"],
  },
  { name: "lint", command: bin("biome"), args: ["ci", "--colors=off", "--error-on-warnings", "."] },
  {
    name: "direction",
    command: bin("depcruise"),
    args: ["--config", ".dependency-cruiser.cjs", "src"],
  },
  { name: "unused", command: bin("knip"), args: ["--no-progress"] },
  // Files and exports that only tests use.
  { name: "production", command: bin("knip"), args: ["--no-progress", "--production"] },
];

function runCheck(check) {
  return new Promise((resolve) => {
    const started = Date.now();
    const child = spawn(check.command, check.args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (chunk) => (output += chunk));
    child.stderr.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => resolve({ name: check.name, ok: code === 0, output, ms: Date.now() - started }));
  });
}

/** Runs every check two at a time and prints a line each, with the output of those that failed. */
export async function runChecks(names = checks.map((check) => check.name)) {
  const queue = checks.filter((check) => names.includes(check.name));
  const results = [];
  const worker = async () => {
    for (let check = queue.shift(); check; check = queue.shift()) {
      const result = await runCheck(check);
      results.push(result);
      process.stdout.write(`${result.ok ? "ok  " : "FAIL"} ${result.name} (${(result.ms / 1000).toFixed(1)} s)\n`);
      if (!result.ok) process.stdout.write(`${result.output}\n`);
    }
  };
  await Promise.all([worker(), worker()]);
  return results;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const results = await runChecks(process.argv.length > 2 ? process.argv.slice(2) : undefined);
  process.exit(results.every((result) => result.ok) ? 0 : 1);
}
