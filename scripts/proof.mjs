// npm run proof -- <name> [options]: runs what takes too long for `npm test`. A proof is a program in test/proofs/, or the
// full form of test files.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "test", "proofs");

/** Test files that have a full form, by the name of the proof. */
const fullForms = {
  kills: ["test/gateway-kill", "test/store-processes", "test/cron-kill", "test/cron-delivery", "src/agent/crash"],
  "cron-years": ["test/cron-years"],
  homes: ["test/broken-home", "test/home-modes"],
  soak: ["test/tools-soak"],
  "api-clients": ["test/api-foreign"],
  "mcp-kills": ["test/mcp-remote"],
  interchange: ["test/reference-interop"],
};

/** The programs of the folder start with this text; the other files are imported by them. */
function programs() {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => readFileSync(join(folder, file), "utf8").startsWith("// Proof:"))
    .map((file) => file.slice(0, -3));
}

async function runProgram(name, args) {
  // Two folders below the checkout, as test/kit/ is: its modules find the checkout from there, and packages resolve.
  const outfile = join(root, "node_modules", ".hermes", `proof-${name}-${process.pid}.mjs`);
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [join("test", "proofs", `${name}.ts`)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      packages: "external",
      logLevel: "warning",
    });
    return spawnSync(process.execPath, [outfile, ...args], { stdio: "inherit", cwd: root }).status ?? 1;
  } finally {
    rmSync(outfile, { force: true });
  }
}

function runFullForm(files, args) {
  const vitest = join(root, "node_modules", "vitest", "vitest.mjs");
  const env = { ...process.env, HERMES_PROOF: "full" };
  const command = [vitest, "run", "--testTimeout=3600000", ...files, ...args];
  return spawnSync(process.execPath, command, { stdio: "inherit", cwd: root, env }).status ?? 1;
}

const [name, ...args] = process.argv.slice(2);
const known = [...programs(), ...Object.keys(fullForms)];
if (name === undefined || !known.includes(name)) {
  process.stderr.write(`usage: npm run proof -- <name> [options]\nproofs: ${known.sort().join(", ")}\n`);
  process.exit(2);
}
process.exit(Object.hasOwn(fullForms, name) ? runFullForm(fullForms[name], args) : await runProgram(name, args));
