// Bench: start, first request, tool calls and memory beside other agents that are installed, interleaved.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";

const ROOT = process.env.HERMES_ROOT ?? process.cwd();
const { values: options } = parseArgs({
  options: {
    pi: { type: "string" },
    "hermes-agent": { type: "string" },
    rounds: { type: "string", default: "5" },
    calls: { type: "string", default: "20" },
  },
});

type Work = "answer" | "read" | "shell";

interface Peer {
  readonly name: string;
  /** Prepares a home and returns the command line. */
  prepare(
    home: string,
    url: string,
  ): { readonly command: string; readonly args: readonly string[]; readonly env: object };
}

interface Sample {
  /** Milliseconds from the start of the process to the first byte of its first model request. */
  readonly first: number;
  /** Median milliseconds from the end of an answer to the next request. */
  readonly gap: number;
  /** From the last byte of the last answer to the exit. */
  readonly exit: number;
  readonly wall: number;
  readonly megabytes: number;
}

function hermesConfig(url: string): string {
  return `model:\n  default: m\n  provider: lab\n  base_url: ${url}\nproviders:\n  lab:\n    base_url: ${url}\n    context_length: 128000\nagent:\n  max_turns: 200\n`;
}

const ours: Peer = {
  name: "this program",
  prepare(home, url) {
    writeFileSync(join(home, "config.yaml"), hermesConfig(url));
    const env = { HERMES_HOME: home, HERMES_YOLO_MODE: "1" };
    return { command: process.execPath, args: [join(ROOT, "bin", "hermes"), "-z", "go"], env };
  },
};

function pi(path: string): Peer {
  return {
    name: "pi",
    prepare(home, url) {
      const folder = join(home, ".pi", "agent");
      mkdirSync(folder, { recursive: true });
      const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
      const model = {
        id: "m",
        name: "m",
        reasoning: false,
        input: ["text"],
        cost,
        contextWindow: 128_000,
        maxTokens: 4096,
      };
      const fake = { baseUrl: url, apiKey: "k", api: "openai-completions", models: [model] };
      writeFileSync(join(folder, "models.json"), JSON.stringify({ providers: { fake } }));
      const args = ["-p", "--provider", "fake", "--model", "m", "go"];
      return { command: path, args, env: { HOME: home, PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1" } };
    },
  };
}

function hermesAgent(path: string): Peer {
  return {
    name: "Hermes Agent (Python)",
    prepare(home, url) {
      const config = `model:\n  default: m\n  provider: custom\n  base_url: ${url}\n  api_key: k\n  context_length: 128000\n`;
      writeFileSync(join(home, "config.yaml"), config);
      const env = { HERMES_HOME: home, HERMES_YOLO_MODE: "1", OPENAI_API_KEY: "k", OPENAI_BASE_URL: url };
      return { command: path, args: ["-z", "go"], env };
    },
  };
}

interface Request {
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/** Asks for `calls` tool calls, then ends; notes when each request begins. */
class Script {
  readonly gaps: number[] = [];
  first = 0;
  lastEnd = 0;
  #asked = 0;
  readonly #work: Work;
  readonly #calls: number;
  readonly #file: string;

  constructor(work: Work, calls: number, file: string) {
    this.#work = work;
    this.#calls = work === "answer" ? 0 : calls;
    this.#file = file;
  }

  #delta(tools: readonly string[]): object {
    if (tools.length === 0 || this.#asked >= this.#calls) return { role: "assistant", content: "done" };
    const index = this.#asked++;
    const read = this.#work === "read";
    const name = ["read_file", "read", "terminal", "bash"].find(
      (candidate) => tools.includes(candidate) && candidate.startsWith("read") === read,
    );
    const args = read ? { path: this.#file, offset: 1 + (index % 15) } : { command: `echo ${index}` };
    const call = { name: name ?? "none", arguments: JSON.stringify(args) };
    return { role: "assistant", tool_calls: [{ index: 0, id: `call_${index}`, type: "function", function: call }] };
  }

  answer(request: Request, at: number, response: ServerResponse): void {
    const tools = (request.tools ?? []).map((tool) => tool.function.name);
    const main = tools.length > 0;
    if (this.first === 0) this.first = at;
    if (main && this.lastEnd > 0) this.gaps.push(at - this.lastEnd);
    const delta = this.#delta(tools);
    const reason = "tool_calls" in delta ? "tool_calls" : "stop";
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    const chunk = (choice: object, more = {}) =>
      `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, ...choice }], ...more })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(chunk({ delta, finish_reason: null }) + chunk({ delta: {}, finish_reason: reason }, { usage }));
    response.end("data: [DONE]\n\n");
    if (main) this.lastEnd = performance.now();
  }
}

function serve(script: Script): Promise<Server> {
  const server = createServer((request, response) => {
    const at = performance.now();
    if (request.method === "GET") return void response.end('{"data":[{"id":"m","context_length":128000}]}');
    let body = "";
    request.on("data", (piece) => {
      body += piece;
    });
    request.on("end", () => script.answer(JSON.parse(body || "{}") as Request, at, response));
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const median = (list: readonly number[]): number => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;

function residentMegabytes(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    // The process has ended, or this system has no /proc.
    return 0;
  }
}

async function measure(peer: Peer, work: Work): Promise<Sample> {
  const home = mkdtempSync(join(tmpdir(), "hermes-peers-"));
  const file = join(home, "a.txt");
  writeFileSync(file, "one line\n".repeat(20));
  const script = new Script(work, Number(options.calls), file);
  const server = await serve(script);
  try {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const { command, args, env } = peer.prepare(home, url);
    const started = performance.now();
    const child = spawn(command, args, { cwd: home, stdio: "ignore", env: { ...process.env, ...env } });
    let megabytes = 0;
    const watch = setInterval(() => {
      megabytes = Math.max(megabytes, residentMegabytes(child.pid));
    }, 20);
    await new Promise((resolve) => child.once("exit", resolve));
    clearInterval(watch);
    const ended = performance.now();
    const exit = ended - (script.lastEnd || ended);
    return { first: script.first - started, gap: median(script.gaps), exit, wall: ended - started, megabytes };
  } finally {
    server.close();
    rmSync(home, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const peers = [ours];
  if (options.pi) peers.push(pi(options.pi));
  if (options["hermes-agent"]) peers.push(hermesAgent(options["hermes-agent"]));
  const works: readonly Work[] = ["answer", "read", "shell"];
  const samples = new Map<string, Sample[]>();
  for (let round = 0; round < Number(options.rounds); round++)
    for (const work of works)
      for (const peer of peers) {
        const key = `${work} ${peer.name}`;
        samples.set(key, [...(samples.get(key) ?? []), await measure(peer, work)]);
      }
  console.log(`median of ${options.rounds} interleaved rounds, ${options.calls} tool calls; milliseconds, megabytes`);
  console.log("| work | program | first request | per call | exit | wall | memory |\n|---|---|---|---|---|---|---|");
  for (const work of works)
    for (const peer of peers) {
      const list = samples.get(`${work} ${peer.name}`) ?? [];
      const of = (key: keyof Sample) => median(list.map((sample) => sample[key])).toFixed(key === "gap" ? 1 : 0);
      const gap = work === "answer" ? "" : of("gap");
      console.log(
        `| ${work} | ${peer.name} | ${of("first")} | ${gap} | ${of("exit")} | ${of("wall")} | ${of("megabytes")} |`,
      );
    }
}

await main();
