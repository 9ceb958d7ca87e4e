// The half of the runner that runs inside the sandbox: verifies the sandbox, builds the canary home, lets the program
// make the calls of each attempt, and reports what happened as one line of JSON per attempt.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { calls, type FakeLlm, startFakeLlm, text } from "../servers/fake-llm.ts";
import type { Reply } from "../servers/fake-llm-replies.ts";
import type { RecordedRequest } from "../servers/fake-llm-request.ts";
import type { Attempt, Effect, Observation, ToolAnswer } from "./attempt.ts";
import { type CanaryServer, startCanaryServer } from "./canary-server.ts";
import { type Ending, endLeftovers, HermesServer, restoreCheckpoint, runHermes, runShell } from "./drive.ts";
import { findEffects, ownFilesChanged, snapshot } from "./effects.ts";
import { clearTemp, HOME, resetAll, resetFiles } from "./reset.ts";
import { isolationProblem } from "./verify-sandbox.ts";

function config(url: string): string {
  const model = `model:\n  default: test-model\n  provider: custom\n  base_url: ${url}/v1\n  context_length: 500000\n`;
  return `${model}approvals:\n  mode: manual\n`;
}

function lastSessionId(request: RecordedRequest): string {
  const said = request.messages.map((message) => message.text).join("\n");
  return /"session_id"\s*:\s*"([^"]+)"/.exec(said)?.[1] ?? "none";
}

/** The scripted model: one call per answer, in their order, then the end. */
function buildReply(attempt: Attempt | undefined, request: RecordedRequest, port: number): Reply {
  if (request.tools.length === 0) return text("A title");
  const done = request.messages.filter((message) => message.role === "tool").length;
  const next = attempt?.calls[done];
  if (!next) return text("Done.");
  const filled = JSON.stringify(next.args)
    .replaceAll("@PORT@", String(port))
    .replaceAll("@SID@", lastSessionId(request));
  return calls([{ name: next.name, args: JSON.parse(filled) as Record<string, unknown> }]);
}

function readAnswers(requests: readonly RecordedRequest[]): ToolAnswer[] {
  const last = requests.filter((request) => request.tools.length > 0).at(-1);
  const names = new Map<string, string>();
  const answers: ToolAnswer[] = [];
  for (const message of last?.messages ?? []) {
    for (const call of message.calls) names.set(call.id, call.name);
    if (message.role === "tool") answers.push({ tool: names.get(message.callId ?? "") ?? "tool", text: message.text });
  }
  return answers;
}

function packedHome(): string {
  return execFileSync("tar", ["-cf", "-", "-C", HOME, "."], { maxBuffer: 64_000_000 }).toString("base64");
}

/** Effects on files that checkpoints hold. */
const IN_PROJECT: ReadonlySet<Effect> = new Set(["deleted", "readme"]);

class Inside {
  readonly #canary: CanaryServer;
  readonly #llm: FakeLlm;
  readonly #show: (attempt: Attempt) => void;
  readonly #server = new HermesServer();
  #clean = false;

  constructor(canary: CanaryServer, llm: FakeLlm, show: (attempt: Attempt) => void) {
    this.#canary = canary;
    this.#llm = llm;
    this.#show = show;
  }

  async observe(attempt: Attempt): Promise<Observation> {
    const begun = Date.now();
    await this.#prepare();
    this.#show(attempt);
    const from = { requests: this.#llm.requests.length, visits: this.#canary.visits.length };
    if (attempt.kind === "calls" && !attempt.yolo) await this.#server.start();
    const before = { home: snapshot(HOME), etc: snapshot("/etc") };
    const ending = await this.#drive(attempt);
    await endLeftovers(this.#server.pid);
    const answers = readAnswers(this.#llm.requests.slice(from.requests));
    const visits = this.#canary.visits.slice(from.visits);
    const context = { attempt, before, answers, visits };
    const found = findEffects(context);
    this.#clean =
      !ending.timedOut && this.#server.alive && !found.effects.includes("etc") && !ownFilesChanged(before.home);
    const recovered = found.effects.some((effect) => IN_PROJECT.has(effect)) && (await this.#restores(context));
    const output = attempt.kind === "first-start" ? packedHome() : ending.output;
    const called = visits.map((visit) => `${visit.at}${visit.path}`);
    const milliseconds = Date.now() - begun;
    return { id: attempt.id, ...found, recovered, answers, visits: called, ...ending, output, milliseconds };
  }

  /** True when the checkpoint that was taken before the attempt undoes all of its effects. */
  async #restores(context: Parameters<typeof findEffects>[0]): Promise<boolean> {
    if (context.attempt.kind !== "calls") return false;
    const { exitCode } = await restoreCheckpoint();
    return exitCode === 0 && findEffects(context).effects.length === 0;
  }

  /** Resets the home. The server keeps running when its files and its folder are unchanged. */
  async #prepare(): Promise<void> {
    if (this.#clean && resetFiles()) return clearTemp();
    await this.#server.stop();
    await endLeftovers(undefined);
    resetAll();
    writeFileSync(`${HOME}/.hermes/config.yaml`, config(this.#llm.url));
  }

  #drive(attempt: Attempt): Promise<Ending> {
    if (attempt.kind === "shell") return runShell(String(attempt.calls[0]?.args.command ?? ""));
    if (attempt.kind === "first-start") return runHermes([]);
    return attempt.yolo ? runHermes(["--yolo"]) : this.#server.ask(attempt.id);
  }
}

async function main(): Promise<void> {
  const problem = isolationProblem(process.getuid?.() ?? 0);
  if (problem !== undefined) {
    process.stdout.write(`${JSON.stringify({ refused: problem })}\n`);
    return;
  }
  const attempts = JSON.parse(readFileSync(0, "utf8")) as Attempt[];
  const canary = await startCanaryServer(attempts.some((attempt) => attempt.publicAddress));
  let current: Attempt | undefined;
  const llm = await startFakeLlm({ strict: false, script: (request) => buildReply(current, request, canary.port) });
  const inside = new Inside(canary, llm, (attempt) => {
    current = attempt;
  });
  for (const attempt of attempts) {
    const line = `${JSON.stringify(await inside.observe(attempt))}\n`;
    await new Promise<void>((written) => process.stdout.write(line, () => written()));
  }
}

/** An error of the runner must not look like an attempt that ended the sandbox. */
await main().catch((error: unknown) => {
  process.stdout.write(`${JSON.stringify({ refused: `the runner failed: ${(error as Error).stack}` })}\n`);
});
process.exit(0);
