// Bundles the product into dist/: chunks that the launcher runs with a code cache, source maps, native modules left outside.
// --release also writes the type declarations that the package exports; --outdir DIR builds to another place.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const outdirFlag = process.argv.indexOf("--outdir");
const outdir = outdirFlag < 0 ? join(root, "dist") : process.argv[outdirFlag + 1];
const { version, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

// Native packages stay outside. The schema library is bundled although it is a dependency: unbundled it costs 130 ms at
// each start, and it is a dependency only because the type declarations name it.
const external = Object.keys(dependencies).filter((name) => name !== "typebox");
const common = {
  absWorkingDir: root,
  platform: "node",
  target: "node20",
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: "warning",
};
const bundled = { ...common, bundle: true, external };

/** Entry points for Node, workers and library users; each becomes a file of this name in the build. */
const entries = {
  main: "src/main.ts",
  index: "src/index.ts",
  "store-worker": "src/store/worker-entry.ts",
  "mail-worker": "src/store/mail-worker-entry.ts",
  "page-worker": "src/tools/web/page-worker-entry.ts",
};

/** Files that Node itself must see as modules: what plugins import, and the hooks of their loading. */
function buildModules() {
  return build({
    ...bundled,
    entryPoints: { plugin: "src/plugin.ts", "plugin-module-hooks": "src/plugins/module-hooks.ts" },
    outdir,
    format: "esm",
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
    },
  });
}

/** Scripts from a code cache cannot call `import()`: the launcher calls it for them. */
const importsByLauncher = {
  name: "imports-by-launcher",
  setup: ({ onLoad }) =>
    onLoad({ filter: /[\\/]src[\\/]lib[\\/]import-module\.ts$/ }, () => ({
      contents: "export const importModule = (url) => __import(url);",
    })),
};

/** The program in chunks, one per lazily imported part; an entry is a chunk like the others. */
async function splitProgram(parts) {
  const { metafile } = await build({
    ...bundled,
    entryPoints: entries,
    outdir: parts,
    splitting: true,
    format: "esm",
    chunkNames: "[name]-[hash]",
    metafile: true,
    plugins: [importsByLauncher],
    define: { "process.env.NODE_ENV": '"production"', __HERMES_VERSION__: JSON.stringify(version) },
  });
  const exportsOf = (name) =>
    Object.entries(metafile.outputs).find(([path]) => basename(path) === `${name}.js`)?.[1].exports ?? [];
  return { names: Object.keys(metafile.outputs).filter((path) => path.endsWith(".js")), exportsOf };
}

/** Splitting needs modules, the code cache needs scripts: each chunk becomes a function that the launcher calls. */
async function writeChunks(parts, names) {
  const { outputFiles } = await build({
    ...common,
    entryPoints: names,
    outbase: parts,
    outdir: join(outdir, "chunks"),
    outExtension: { ".js": ".cjs" },
    format: "cjs",
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "__meta.url", "import.meta.dirname": "__meta.dirname" },
    write: false,
  });
  const known = new Set(names.map((name) => basename(name, ".js")));
  const toChunk = (whole, name) => (known.has(name) ? `require("./${name}.cjs")` : whole);
  mkdirSync(join(outdir, "chunks"), { recursive: true });
  const hash = createHash("sha256");
  for (const { path, text } of outputFiles) {
    const linked = text.replace(/\brequire\("\.\/([\w.-]+)\.js"\)/g, toChunk);
    // A package that declares its own `require` (web-tree-sitter does) must not shadow the launcher's.
    const shadows = /\b(?:var|let|const) require\s*=/.test(linked);
    const code = shadows ? linked.replace(/\brequire\((?="[^"\\]+"\))/g, "__require(") : linked;
    writeFileSync(path, code);
    hash.update(`${basename(path)}\n${code}\n`);
  }
  return hash.digest("hex").slice(0, 16);
}

/** The launcher and the entry files for Node, workers and library users. */
async function writeEntries(buildId, exportsOf) {
  await build({
    ...common,
    sourcemap: false,
    entryPoints: ["src/launch.ts"],
    outfile: join(outdir, "launch.cjs"),
    format: "cjs",
    define: { "import.meta.dirname": "__dirname", __HERMES_BUILD__: JSON.stringify(buildId) },
  });
  for (const name of Object.keys(entries)) {
    const names = exportsOf(name);
    const enter = `import launch from "./launch.cjs";\n${names.length > 0 ? `export const { ${names.join(", ")} } = ` : ""}`;
    writeFileSync(join(outdir, `${name}.js`), `${enter}launch.load("${name}.cjs");\n`);
  }
}

rmSync(outdir, { recursive: true, force: true });
const parts = mkdtempSync(join(root, "node_modules", ".hermes-build-"));
try {
  // Without it the chunks' default exports would be read as Node reads those of CommonJS packages.
  writeFileSync(join(parts, "package.json"), '{ "type": "commonjs" }');
  const [{ names, exportsOf }] = await Promise.all([splitProgram(parts), buildModules()]);
  await writeEntries(await writeChunks(parts, names), exportsOf);
} finally {
  rmSync(parts, { recursive: true, force: true });
}

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
