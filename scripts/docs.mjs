// Writes the generated pages of docs/; with --check it only lists stale pages, and exits with 1 if there are any.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
// Inside the checkout, because packages left out of the bundle are looked up from there.
const outdir = join(root, "node_modules", ".hermes", `docs-${process.pid}`);

async function loadPages() {
  await build({
    absWorkingDir: root,
    entryPoints: ["scripts/docs-pages.ts"],
    outdir,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    outExtension: { ".js": ".mjs" },
    define: { __HERMES_VERSION__: '"docs"' },
    logLevel: "warning",
  });
  return (await import(pathToFileURL(join(outdir, "docs-pages.mjs")).href)).pages;
}

function current(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    // A page that was never written is stale like any other.
    return "";
  }
}

const checkOnly = process.argv.includes("--check");
let stale = 0;
try {
  for (const page of await loadPages()) {
    const path = join(root, page.path);
    const text = await page.make();
    if (current(path) === text) continue;
    stale += 1;
    if (!checkOnly) {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
    }
    process.stdout.write(`${page.path} ${checkOnly ? "is stale: run npm run docs" : "written"}\n`);
  }
} finally {
  rmSync(outdir, { recursive: true, force: true });
}
process.exit(checkOnly && stale > 0 ? 1 : 0);
