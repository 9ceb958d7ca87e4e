// Bundles one of our TypeScript files so that a child process or a worker thread can run it.
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Path of a runnable `.mjs`; inside node_modules, so that native packages resolve from it. */
export async function bundle(entry: string): Promise<string> {
  const source = resolve(root, entry);
  const folder = join(root, "node_modules", ".cache", "hermes-test");
  const name = createHash("sha256").update(source).digest("hex").slice(0, 12);
  const file = join(folder, `${name}-${process.pid}.mjs`);
  mkdirSync(folder, { recursive: true });
  const result = await build({
    entryPoints: [source],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    external: ["@photostructure/sqlite", "@lydell/node-pty"],
    define: { __HERMES_VERSION__: '"0.0.0-test"' },
    logLevel: "warning",
  });
  writeFileSync(file, result.outputFiles[0]?.text ?? "");
  process.once("exit", () => rmSync(file, { force: true }));
  return file;
}
