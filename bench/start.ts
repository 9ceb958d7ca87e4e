// Bench: how long the program takes to start, as a multiple of `node -e 0` in the same run.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { SqliteSessionStore } from "../src/store/sqlite-session-store.ts";
import { tempDir } from "../test/kit/temp-dir.ts";
import { type Line, printTable } from "./table.ts";

const root = process.env.HERMES_ROOT ?? process.cwd();
const program = join(root, "bin", "hermes");

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "15" },
    messages: { type: "string", default: "20000" },
    skills: { type: "string", default: "500" },
    plugins: { type: "string", default: "50" },
  },
});
const runs = Number(values.runs);

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
}

function timeOf(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const began = process.hrtime.bigint();
  const result = spawnSync(process.execPath, [...args], { env, stdio: "ignore" });
  if (result.status !== 0) throw new Error(`${args.join(" ")} ended with ${result.status}`);
  return Number(process.hrtime.bigint() - began) / 1e6;
}

/** A home with a store, skills and plugins of some size: none of them may slow the start. */
async function buildHome(home: string): Promise<void> {
  const store = await SqliteSessionStore.open({ path: join(home, "state.db") });
  await store.createSession({ id: "old", source: "cli" });
  for (let done = 0; done < Number(values.messages); done += 500) {
    await store.appendMessages(
      "old",
      Array.from({ length: 500 }, (_, index) => ({
        role: "user",
        content: `message ${done + index} about the deployment`,
      })),
    );
  }
  await store.close();
  for (let index = 0; index < Number(values.skills); index++) {
    const folder = join(home, "skills", "bench", `skill-${index}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "SKILL.md"),
      `---\nname: skill-${index}\ndescription: Does thing number ${index} well\nversion: 1.0.0\n---\n\n# Skill ${index}\n`,
    );
  }
  for (let index = 0; index < Number(values.plugins); index++) {
    const folder = join(home, "plugins", `plugin-${index}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "plugin.yaml"), `name: plugin-${index}\nversion: 1.0.0\ndescription: bench\napi: 1\n`);
    writeFileSync(
      join(folder, "index.js"),
      'export function register(ctx) {\n  ctx.registerHook("subagent_stop", () => null);\n}\n',
    );
  }
}

/** All of them are enabled; none is used. */
function enabledPlugins(): string {
  return Array.from({ length: Number(values.plugins) }, (_, index) => `plugin-${index}`).join(", ");
}

/** Answers every model request and records when its first byte arrived. */
async function startModel(): Promise<{ url: string; next(): Promise<bigint>; close(): void }> {
  let arrived: (at: bigint) => void = () => undefined;
  const server = createServer((request, response) => {
    if (request.method === "POST") arrived(process.hrtime.bigint());
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(
        JSON.stringify({
          id: "1",
          object: "chat.completion",
          choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
          data: [],
        }),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    next: () =>
      new Promise((resolve) => {
        arrived = resolve;
      }),
    close: () => server.close(),
  };
}

async function firstRequest(model: Awaited<ReturnType<typeof startModel>>, env: NodeJS.ProcessEnv): Promise<number> {
  const arrival = model.next();
  const began = process.hrtime.bigint();
  const child = spawn(process.execPath, [program, "chat", "-Q", "-q", "hello"], { env, stdio: "ignore" });
  const at = await arrival;
  await new Promise((resolve) => child.once("exit", resolve));
  return Number(at - began) / 1e6;
}

async function promptReady(env: NodeJS.ProcessEnv): Promise<number> {
  const began = process.hrtime.bigint();
  const child = spawn(process.execPath, [program], { env, stdio: ["pipe", "pipe", "ignore"] });
  const ready = new Promise<number>((resolve) => {
    child.stdout.on("data", (chunk) => {
      if (String(chunk).includes("❯")) resolve(Number(process.hrtime.bigint() - began) / 1e6);
    });
  });
  const time = await ready;
  child.stdin.end();
  await new Promise((resolve) => child.once("exit", resolve));
  return time;
}

/** The constant part of every request, by section. */
async function printFixedPrompt(home: string, env: NodeJS.ProcessEnv): Promise<number> {
  const { createHermes } = (await import(join(root, "dist", "index.js"))) as typeof import("../src/index.ts");
  const hermes = await createHermes({ home, env, cwd: home });
  const talk = await hermes.conversation();
  for await (const _ of talk.send("hello", { signal: AbortSignal.timeout(30_000) }));
  const parts = [...talk.about.promptParts];
  await talk.close();
  await hermes.close();
  const total = parts.reduce((sum, part) => sum + part.tokens, 0);
  const lines = parts.map((part) => ({ what: part.name, ours: `${part.tokens} tokens`, raw: "", ratio: undefined }));
  const absolute = { text: "≤ 6000 tokens", met: total <= 6000 };
  return printTable("The fixed prompt by part", [
    ...lines,
    { what: "total", ours: `${total} tokens`, raw: "", ratio: undefined, absolute },
  ]);
}

interface Pair {
  readonly ms: number;
  readonly floor: number;
}

/** Alternates between the work and its floor, so that a slow phase of the machine affects both. */
async function inTurns(work: () => Promise<number> | number, floor: () => number): Promise<Pair> {
  await work();
  const times: number[] = [];
  const floors: number[] = [];
  for (let index = 0; index < runs; index++) {
    floors.push(floor());
    times.push(await work());
  }
  return { ms: median(times), floor: median(floors) };
}

const home = tempDir("hermes-bench-home-");
const model = await startModel();
try {
  await buildHome(home);
  writeFileSync(
    join(home, "config.yaml"),
    `model:\n  default: bench\n  provider: custom\n  base_url: ${model.url}\n  context_length: 128000\nplugins:\n  enabled: [${enabledPlugins()}]\n`,
  );
  const env = { PATH: process.env.PATH, HOME: home, HERMES_HOME: home };
  const floor = () => timeOf(["-e", "0"], env);
  const lines: Line[] = [];
  const add = async (what: string, ratio: number, work: () => Promise<number> | number) => {
    const pair = await inTurns(work, floor);
    lines.push({
      what,
      ours: `${pair.ms.toFixed(1)} ms`,
      raw: `${pair.floor.toFixed(1)} ms`,
      ratio: pair.ms / pair.floor,
      budget: { kind: "max", ratio },
    });
  };
  await add("hermes --version", 1.5, () => timeOf([program, "--version"], env));
  await add("hermes --help", 1.5, () => timeOf([program, "--help"], env));
  await add("chat -Q -q until the first request byte", 5, () => firstRequest(model, env));
  await add("interactive prompt ready", 8, () => promptReady(env));
  const title = `A home with ${values.messages} messages, ${values.skills} skills, ${values.plugins} enabled plugins; floor: node -e 0`;
  const missed = printTable(title, lines);
  process.exitCode = missed + (await printFixedPrompt(home, env)) > 0 ? 1 : 0;
} finally {
  model.close();
  rmSync(home, { recursive: true, force: true });
}
