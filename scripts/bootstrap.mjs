// Zero-dependency entry for every npm script: installs when the lock file changed, builds when sources
// changed, then runs the script. With nothing to do it only stats files and prints nothing.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stampDir = join(root, "node_modules", ".hermes");
const installStamp = join(stampDir, "install");
const buildStamp = join(stampDir, "build");
const buildInputs = ["src", "scripts", "package.json", "tsconfig.json"];

function say(text) {
  process.stderr.write(`hermes: ${text}\n`);
}

function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (result.error) throw result.error;
  return result.status ?? 1;
}

/** The stamp of an install: the lock file's content and the Node ABI, which native modules must match. */
function wantedInstall() {
  const lock = readFileSync(join(root, "package-lock.json"));
  return `${createHash("sha256").update(lock).digest("hex")} ${process.versions.modules}`;
}

function readStamp(path) {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function newestMtime(path) {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return 0;
  if (!stat.isDirectory()) return stat.mtimeMs;
  let newest = stat.mtimeMs;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.name.endsWith(".test.ts")) continue;
    newest = Math.max(newest, newestMtime(join(path, entry.name)));
  }
  return newest;
}

/** Running needs the root package; everything else also the workspace `dev` with linters and test tools. */
function ensureInstalled(forDevelopment) {
  const wanted = wantedInstall();
  const complete = `${wanted} dev`;
  const present = readStamp(installStamp);
  if (present === complete || (!forDevelopment && present === wanted)) return;
  say(forDevelopment ? "installing dependencies and test tools …" : "installing dependencies …");
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  if (!forDevelopment) args.push("--workspaces=false");
  const status = run("npm", args, { stdio: ["inherit", 2, 2] });
  if (status !== 0) {
    say("`npm install` failed. Check the network, then run the command again.");
    process.exit(status);
  }
  mkdirSync(stampDir, { recursive: true });
  writeFileSync(installStamp, forDevelopment ? complete : wanted);
}

function ensureBuilt() {
  const wanted = String(Math.max(...buildInputs.map((input) => newestMtime(join(root, input)))));
  if (readStamp(buildStamp) === wanted && existsSync(join(root, "dist", "main.js"))) return;
  say("building …");
  const status = run(process.execPath, [join(root, "scripts", "build.mjs")], { stdio: ["inherit", 2, 2] });
  if (status !== 0) process.exit(status);
  mkdirSync(stampDir, { recursive: true });
  writeFileSync(buildStamp, wanted);
}

function major() {
  return Number(process.versions.node.split(".")[0]);
}

if (major() < 20) {
  say(`Node ${process.versions.node} is too old: install Node 20 or newer (https://nodejs.org).`);
  process.exit(1);
}

// Started by bin/hermes in a checkout that was never built, the arguments are those of the user.
const viaLauncher = !process.argv[1]?.endsWith("bootstrap.mjs");
const [task = "start", ...args] = viaLauncher ? ["start", ...process.argv.slice(2)] : process.argv.slice(2);
ensureInstalled(task !== "start");
ensureBuilt();
if (task === "start") {
  process.argv = [process.argv[0], join(root, "bin", "hermes"), ...args];
  await import(new URL("../dist/main.js", import.meta.url).href);
} else {
  const script = join(root, "scripts", `${task}.mjs`);
  if (!existsSync(script)) {
    say(`unknown task "${task}": use start, test, check, bench, proof or docs.`);
    process.exit(2);
  }
  process.exit(run(process.execPath, [script, ...args]));
}
