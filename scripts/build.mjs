// Bundles the product into dist/: one chunk per lazily imported surface, source maps, native modules left outside.
// --release also writes the type declarations that the package exports; --outdir DIR builds to another place.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outdirFlag = process.argv.indexOf("--outdir");
const outdir = outdirFlag < 0 ? join(root, "dist") : process.argv[outdirFlag + 1];
const { version, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

rmSync(outdir, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: {
    main: "src/main.ts",
    index: "src/index.ts",
    plugin: "src/plugin.ts",
    "store-worker": "src/store/worker-entry.ts",
    "plugin-module-hooks": "src/app/plugin-module-hooks.ts",
    "mail-worker": "src/store/mail-worker-entry.ts",
  },
  outdir,
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  sourcemap: true,
  sourcesContent: false,
  minifySyntax: true,
  minifyWhitespace: true,
  chunkNames: "chunks/[name]-[hash]",
  // Native packages stay outside. The schema library is bundled all the same: unbundled it costs 130 ms at each start;
  // it is a dependency only because the type declarations name it.
  external: Object.keys(dependencies).filter((name) => name !== "typebox"),
  define: { "process.env.NODE_ENV": '"production"', __HERMES_VERSION__: JSON.stringify(version) },
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  logLevel: "warning",
});

const wasm = [
  ["web-tree-sitter/web-tree-sitter.wasm", "wasm/web-tree-sitter.wasm"],
  ["tree-sitter-bash/tree-sitter-bash.wasm", "wasm/tree-sitter-bash.wasm"],
];
for (const [from, to] of wasm) {
  const source = join(root, "node_modules", from);
  if (existsSync(source)) cpSync(source, join(outdir, to));
}

if (process.argv.includes("--release")) {
  const tsc = join(root, "node_modules", "typescript-7", "bin", "tsc");
  const { status } = spawnSync(process.execPath, [tsc, "-p", join(root, "tsconfig.types.json")], { stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}
