// Adds the optional packages of other platforms to package-lock.json: `npm install` omits those that the registry in use does
// not serve, and `npm ci` then refuses the lock file. Run it after the lock file has changed.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const file = join(dirname(dirname(fileURLToPath(import.meta.url))), "package-lock.json");
const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm64", "x64", "arm", "ia32", "ppc64", "riscv64", "s390x", "wasm32"];

/** Package names like `@scope/binding-linux-arm64-musl` say what they are for. */
function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = words.find((word) => SYSTEMS.includes(word));
  const cpu = words.find((word) => PROCESSORS.includes(word));
  const libc = words.includes("musl") ? "musl" : words.includes("gnu") ? "glibc" : undefined;
  return os || cpu ? { os, cpu, libc } : undefined;
}

const lock = JSON.parse(readFileSync(file, "utf8"));
const missing = new Map();
for (const entry of Object.values(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const platform = platformOf(name);
    if (lock.packages[`node_modules/${name}`] || !platform) continue;
    missing.set(`node_modules/${name}`, {
      version,
      ...(platform.cpu ? { cpu: [platform.cpu] } : {}),
      ...(entry.dev ? { dev: true } : {}),
      ...(platform.libc ? { libc: [platform.libc] } : {}),
      optional: true,
      ...(platform.os ? { os: [platform.os] } : {}),
    });
  }
}
for (const [path, entry] of missing) lock.packages[path] = entry;
const byPath = (a, b) => a.localeCompare(b, "en");
const paths = Object.keys(lock.packages).sort(byPath);
lock.packages = Object.fromEntries(paths.map((path) => [path, lock.packages[path]]));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
process.stdout.write(`${missing.size} packages added\n`);
