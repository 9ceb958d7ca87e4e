// npm run bench -- <name> [options]: bundles bench/<name>.ts to a temporary file and runs it in a clean environment.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Files that are run directly; the other files in the folder are imported by them. */
function benches() {
  return readdirSync(join(root, "bench"))
    .filter((file) => file.endsWith(".ts"))
    .filter((file) => readFileSync(join(root, "bench", file), "utf8").startsWith("// Bench:"))
    .map((file) => file.slice(0, -3));
}

async function run(name, args) {
  const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const outfile = join(folder, `${name}.mjs`);
  try {
    await build({
      absWorkingDir: root,
      entryPoints: [join("bench", `${name}.ts`)],
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      // grammY recognises abort signals by their class name, which bundling may change.
      external: [...Object.keys(dependencies), "grammy"],
      banner: {
        js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
      },
      logLevel: "warning",
    });
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"), "junction");
    const env = { ...process.env, HERMES_ROOT: root };
    // Node parses this bundle of certificates at every start, which would dominate the measurement.
    delete env.NODE_EXTRA_CA_CERTS;
    const result = spawnSync(process.execPath, ["--expose-gc", outfile, ...args], { stdio: "inherit", env });
    return result.status ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !benches().includes(name)) {
  process.stderr.write(`usage: npm run bench -- <name> [options]\nbenches: ${benches().join(", ")}\n`);
  process.exit(2);
}
process.exit(await run(name, args));
