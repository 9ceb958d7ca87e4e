// Bench: the file tools on a large tree against raw ripgrep and raw reads, and the round trip of a command.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { rgPath } from "@vscode/ripgrep";
import { openContainers } from "../src/container/open-containers.ts";
import type { Tool } from "../src/core/tool/tool.ts";
import { ShadowStore } from "../src/tools/checkpoints/shadow-store.ts";
import { take } from "../src/tools/checkpoints/snapshot.ts";
import { localFiles } from "../src/tools/files/file-access.ts";
import { FileMemory } from "../src/tools/files/file-memory.ts";
import type { FileToolParts } from "../src/tools/files/file-tools.ts";
import { patchTool } from "../src/tools/files/patch.ts";
import { readFileTool } from "../src/tools/files/read-file.ts";
import { searchFilesTool } from "../src/tools/files/search-files.ts";
import { ContainedBackend } from "../src/tools/terminal/contained.ts";
import { LocalBackend } from "../src/tools/terminal/local.ts";
import { OutputCapture } from "../src/tools/terminal/output-capture.ts";
import { tempDir } from "../test/kit/temp-dir.ts";
import { openGate, plainRedactor, toolContext } from "../test/kit/tool-context.ts";
import { type Line, printTable } from "./table.ts";

const FILES = Number(process.argv[2] ?? 50_000);
const FOLDERS = 500;
const userHome = tempDir("hermes-bench-home-");
const env = { PATH: process.env.PATH ?? "/usr/bin:/bin", HOME: userHome };

/** Source files of about 40 lines in 500 folders; one in a thousand holds the needle. */
function makeTree(root: string): void {
  const line = (file: number, at: number) =>
    `export const value${at} = compute(${file}, ${at * 7}); // plain line ${at}`;
  for (let folder = 0; folder < FOLDERS; folder++) mkdirSync(join(root, `part-${folder}`), { recursive: true });
  for (let file = 0; file < FILES; file++) {
    const lines = Array.from({ length: 40 }, (_, at) => line(file, at));
    if (file % 1_000 === 7) lines[20] = `const needleInHaystack${file} = true;`;
    writeFileSync(join(root, `part-${file % FOLDERS}`, `file-${file}.ts`), `${lines.join("\n")}\n`);
  }
}

const lowerQuartile = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 2] ?? 0;

/** Alternates between both sides, so that load on the machine affects both. */
async function compare(
  rounds: number,
  ours: (round: number) => Promise<unknown>,
  raw: (round: number) => Promise<unknown>,
): Promise<{ ours: number; raw: number }> {
  const times: { ours: number[]; raw: number[] } = { ours: [], raw: [] };
  await ours(-1);
  await raw(-1);
  for (let round = 0; round < rounds; round++) {
    for (const [side, work] of [["ours", ours] as const, ["raw", raw] as const]) {
      const began = performance.now();
      await work(round);
      times[side].push(performance.now() - began);
    }
  }
  return { ours: lowerQuartile(times.ours), raw: lowerQuartile(times.raw) };
}

function line(what: string, times: { ours: number; raw: number }, budget?: number): Line {
  return {
    what,
    ours: `${times.ours.toFixed(2)} ms`,
    raw: `${times.raw.toFixed(2)} ms`,
    ratio: times.ours / times.raw,
    ...(budget ? { budget: { kind: "max", ratio: budget } } : {}),
  };
}

function ended(command: string, args: readonly string[], cwd: string): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.resume();
    child.stderr.resume();
    child.once("close", () => resolve());
  });
}

async function fileLines(root: string): Promise<Line[]> {
  const parts: FileToolParts = {
    files: localFiles,
    gate: openGate,
    redactor: plainRedactor,
    memory: new FileMemory(),
    limits: { maxReadChars: 100_000, maxLines: 2_000, maxLineChars: 2_000 },
  };
  const context = (round: number) => toolContext(root, { conversationId: `bench-${round}` });
  const call = async (tool: Tool, args: object, round: number) => {
    const result = await tool.run(args as never, context(round));
    if (result.failed) throw new Error(String(result.content));
  };
  const [read, patch, search] = [readFileTool(parts), patchTool(parts), searchFilesTool(parts)];
  const file = (round: number) => join(root, `part-${(round + 1) * 3}`, `file-${(round + 1) * 3}.ts`);
  const needle = ["--no-config", "--hidden", "--glob", "!.git", "-n", "needleInHaystack\\d+", "."];
  return [
    line(
      "read_file, 40 lines, against readFileSync",
      await compare(
        50,
        (round) => call(read, { path: file(round) }, round),
        async (round) => readFileSync(file(round), "utf8"),
      ),
    ),
    line(
      "patch, one passage, against read and write",
      await compare(
        30,
        (round) =>
          call(patch, { path: file(round), old_string: "plain line 9\n", new_string: `changed ${round}\n` }, round),
        async (round) => {
          const text = readFileSync(file(round), "utf8");
          writeFileSync(file(round), text.replace("plain line 8\n", "raw\n"));
        },
      ),
    ),
    line(
      `search_files, text in ${FILES} files, against ripgrep`,
      await compare(
        7,
        (round) => call(search, { pattern: "needleInHaystack\\d+" }, round),
        () => ended(rgPath, needle, root),
      ),
      1.3,
    ),
    line(
      `search_files, names in ${FILES} files, against ripgrep`,
      await compare(
        7,
        (round) => call(search, { pattern: "file-1234*.ts", target: "files" }, round),
        () =>
          ended(
            rgPath,
            ["--no-config", "--files", "--hidden", "--iglob", "file-1234*.ts", "--sortr", "modified"],
            root,
          ),
      ),
      1.3,
    ),
  ];
}

async function commandLines(root: string): Promise<Line[]> {
  const backend = new LocalBackend({ cwd: root, env, useBashrc: false });
  const signal = new AbortController().signal;
  const run = async (command: string) => {
    const output = new OutputCapture({ limit: 50_000, spillPath: join(root, "spill.txt") });
    await backend.run({ command, timeoutMs: 10_000, signal, output });
    await output.finish();
  };
  try {
    const lines: Line[] = [];
    for (const command of ["true", "echo hello world", "cd . && export SEEN=1"]) {
      const times = await compare(
        100,
        () => run(command),
        () => ended("bash", ["-c", command], root),
      );
      lines.push(line(`terminal: ${command}`, times, 1.5));
    }
    return lines;
  } finally {
    await backend.close();
  }
}

/** The container must add at most this to a command. */
const CONTAINER_MS = 20;

async function openContained(root: string): Promise<ContainedBackend | undefined> {
  const containers = openContainers({
    hermesHome: join(userHome, ".hermes"),
    userHome: env.HOME,
    setting: "auto",
    env,
    roots: [],
    readable: [],
    isSecret: () => false,
  });
  const container = await containers.open({ workspace: root, credentials: () => [] });
  return container && new ContainedBackend({ cwd: root, env, useBashrc: false }, container);
}

/** Contained commands against the same on the machine itself. */
async function containedLines(root: string): Promise<Line[]> {
  const contained = await openContained(root);
  if (!contained) return [];
  const bare = new LocalBackend({ cwd: root, env, useBashrc: false });
  const signal = new AbortController().signal;
  const run = async (backend: LocalBackend | ContainedBackend, command: string) => {
    const output = new OutputCapture({ limit: 50_000, spillPath: join(root, "spill.txt") });
    await backend.run({ command, timeoutMs: 60_000, signal, output });
    await output.finish();
  };
  const sides = (command: string, rounds: number) =>
    compare(
      rounds,
      () => run(contained, command),
      () => run(bare, command),
    );
  try {
    const plain = await sides("true", 60);
    const status = await sides("git status --short", 7);
    const most = (plain.raw + CONTAINER_MS) / plain.raw;
    return [
      line(`contained command against bare, at most ${CONTAINER_MS} ms more`, plain, most),
      line(`contained git status of ${FILES} files against bare`, status, 1.2),
    ];
  } finally {
    await Promise.all([contained.close(), bare.close()]);
  }
}

/** A checkpoint when nothing has changed, against git status. */
async function checkpointLine(root: string): Promise<Line> {
  const store = new ShadowStore({
    dir: join(root, "..", `${basename(root)}-store`),
    searchPath: env.PATH,
    timeoutMs: 60_000,
  });
  const limits = { maxFiles: 100_000, maxFileBytes: 0, maxTreeBytes: 0 };
  try {
    await store.locked(() => take(store, { root, reason: "first", limits }));
    const times = await compare(
      5,
      () => store.locked(() => take(store, { root, reason: "again", limits })),
      () => ended("git", ["status", "--short"], root),
    );
    return line(`checkpoint of ${FILES} unchanged files against git status`, times, 1.5);
  } finally {
    rmSync(store.dir, { recursive: true, force: true });
  }
}

async function repositoryLines(root: string): Promise<Line[]> {
  const git = (...args: readonly string[]) =>
    ended("git", ["-c", "gc.auto=0", "-c", "maintenance.auto=false", ...args], root);
  await git("init", "-q");
  await git("add", "-A");
  await git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "all");
  return [...(await containedLines(root)), await checkpointLine(root)];
}

const root = tempDir("hermes-bench-tools-");
try {
  const commands = await commandLines(root);
  makeTree(root);
  const lines = [...(await fileLines(root)), ...commands, ...(await repositoryLines(root))];
  process.exitCode = printTable("Tools", lines) > 0 ? 1 : 0;
} finally {
  for (const folder of [root, userHome]) rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
