// npm run proof -- <name> [options]: bundles test/proofs/<name>.ts and runs it. A proof is too long for `npm test`.
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "test", "proofs");

/** A proof is a file that starts with this mark; the others in the folder are its parts. */
function proofs() {
  return readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => readFileSync(join(folder, file), "utf8").startsWith("// Proof:"))
    .map((file) => file.slice(0, -3));
}

async function run(name, args) {
  // Directly in node_modules: packages resolve from there, and the parts of test/ find the checkout two levels up.
  const outfile = join(root, "node_modules", `.proof-${name}-${process.pid}.mjs`);
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

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !proofs().includes(name)) {
  process.stderr.write(`usage: npm run proof -- <name> [options]\nproofs: ${proofs().join(", ")}\n`);
  process.exit(2);
}
process.exit(await run(name, args));
