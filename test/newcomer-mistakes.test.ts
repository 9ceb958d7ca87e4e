// Typical mistakes of a newcomer: each gets a sentence about what happened and what to do, an exit code, and loses nothing.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HermesRun, runHermes } from "./kit/run-hermes.ts";
import { openTerminal } from "./kit/terminal.ts";
import { calls, type FakeLlm, startFakeLlm, status, text } from "./servers/fake-llm.ts";

// Built from a string because the linter rejects control characters in regular expression literals.
const ESCAPES = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");
let base: string;
let llm: FakeLlm;
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), "hermes-newcomer-"));
  llm = await startFakeLlm({
    script: (request) => {
      const said = String(request.messages.at(-1)?.text ?? "");
      const code = /fail (\d+)/.exec(said)?.[1];
      if (code)
        return status(Number(code), { message: code === "404" ? "The model `test-model` does not exist" : "refused" });
      return said.includes("loop") ? calls([{ name: "todo", args: {} }]) : text("OK");
    },
  });
});
afterAll(async () => {
  rmSync(base, { recursive: true, force: true });
  await llm.close();
});

let count = 0;
/** A home with a model that answers. */
function home(more = "", server: { readonly url: string } = llm): string {
  const path = join(base, `home-${++count}`);
  mkdirSync(path, { mode: 0o700 });
  const model = `model:\n  default: test-model\n  provider: custom\n  base_url: ${server.url}/v1\n  context_length: 128000\n  max_retries: 0\n`;
  writeFileSync(join(path, "config.yaml"), `${model}${more}`);
  return path;
}

interface Mistake {
  readonly name: string;
  readonly args: readonly string[];
  readonly code: number;
  /** What is printed must say both what happened and what to do. */
  readonly says: RegExp;
  readonly env?: { readonly [name: string]: string };
  readonly stdin?: string;
}

async function commit(path: string, { args, env, stdin }: Mistake): Promise<HermesRun> {
  return runHermes(args, {
    home: path,
    ...(env ? { env: { ...env } } : {}),
    ...(stdin === undefined ? {} : { stdin }),
  });
}

function judge({ name, code, says }: Mistake, run: HermesRun): void {
  const said = `${run.stdout}${run.stderr}`;
  expect([name, run.code, said]).toEqual([name, code, expect.stringMatching(says)]);
  expect(said).not.toMatch(/^ {4}at |unexpected error|undefined|\[object/m);
}

/** Mistakes that leave the home as it was share one. */
const SHARED: readonly Mistake[] = [
  { name: "a typo in a command", args: ["seesions"], code: 2, says: /did you mean "sessions"/ },
  { name: "a typo in a subcommand", args: ["sessions", "lst"], code: 2, says: /did you mean "list"/ },
  { name: "a typo in an option", args: ["sessions", "list", "--limitt", "3"], code: 2, says: /did you mean "--limit"/ },
  { name: "a question without -q", args: ["hello", "world"], code: 2, says: /hermes -q 'hello world'/ },
  { name: "a question after chat", args: ["chat", "hello"], code: 2, says: /unexpected "hello"[\s\S]*hermes -q hello/ },
  { name: "an empty question", args: ["-z", "  "], code: 2, says: /message is empty/ },
  { name: "-z without text", args: ["-z"], code: 2, says: /argument missing[\s\S]*--help/ },
  {
    name: "an unknown session",
    args: ["-r", "nope", "-q", "x"],
    code: 1,
    says: /no session "nope"[\s\S]*sessions list/,
  },
  { name: "an unknown provider", args: ["-z", "x", "--provider", "antropic"], code: 1, says: /did you mean/ },
  { name: "an unknown toolset", args: ["-z", "x", "-t", "wbe"], code: 2, says: /did you mean/ },
  {
    name: "a key for an unknown provider",
    args: ["auth", "add", "antropic", "--api-key", "x"],
    code: 2,
    says: /did you mean/,
  },
  { name: "a bad schedule", args: ["cron", "create", "sometimes", "x"], code: 2, says: /sometimes[\s\S]*every/ },
  {
    name: "a model of an unknown provider",
    args: ["model", "set", "x", "--provider", "antropic"],
    code: 2,
    says: /did you mean/,
  },
  { name: "an unknown key", args: ["config", "set", "compresion.x", "1"], code: 2, says: /did you mean/ },
  {
    name: "a value of the wrong type",
    args: ["config", "set", "compression.threshold", "lots"],
    code: 2,
    says: /number[\s\S]*Nothing was changed/,
  },
  {
    name: "an address that is none",
    args: ["config", "set", "model.base_url", "foo"],
    code: 2,
    says: /http:\/\/[\s\S]*Nothing was changed/,
  },
  {
    name: "an address of a provider",
    args: ["config", "set", "providers.x.base_url", "foo"],
    code: 2,
    says: /http:\/\//,
  },
  {
    name: "a backend that is not there",
    args: ["config", "set", "terminal.backend", "modal"],
    code: 2,
    says: /not available yet[\s\S]*local, docker or ssh/,
  },
  {
    name: "a profile that is not there",
    args: ["-p", "work"],
    code: 1,
    says: /no such profile[\s\S]*hermes profile create work/,
  },
  { name: "no gateway", args: ["gateway", "status"], code: 3, says: /gateway start/ },
  { name: "a wrong key", args: ["-z", "fail 401"], code: 1, says: /refused the key \(401\)[\s\S]*hermes auth/ },
  { name: "no credit", args: ["-z", "fail 402"], code: 1, says: /402[\s\S]*credit/ },
  { name: "too many requests", args: ["-z", "fail 429"], code: 1, says: /429[\s\S]*fallback_providers/ },
  { name: "an error of the server", args: ["-z", "fail 500"], code: 1, says: /500[\s\S]*later[\s\S]*hermes model/ },
  { name: "an unknown model", args: ["-z", "fail 404"], code: 1, says: /does not know the model[\s\S]*hermes model/ },
  {
    name: "a limit of one call",
    args: ["chat", "-q", "loop", "--max-turns", "1"],
    code: 0,
    says: /Stopped after 1 model call \(agent\.max_turns\)/,
  },
  {
    name: "an image that is not there",
    args: ["chat", "-q", "x", "--image", "no.png"],
    code: 2,
    says: /no such image/,
  },
  { name: "a log that is not there", args: ["logs", "gatway"], code: 1, says: /did you mean "gateway"/ },
  { name: "a shell that is not known", args: ["completion", "tcsh"], code: 2, says: /bash, zsh, fish/ },
  { name: "a backup that is not there", args: ["import", "nope.zip", "-f"], code: 2, says: /does not exist/ },
  {
    name: "too much input",
    args: ["-z", "x"],
    stdin: "x".repeat(1_100_000),
    code: 2,
    says: /more than[\s\S]*Nothing was sent/,
  },
  { name: "no input", args: ["-z", "hello"], code: 0, says: /OK/ },
];

it("mistakes on the command line", async () => {
  const path = home();
  const before = readFileSync(join(path, "config.yaml"), "utf8");
  const queue = [...SHARED];
  const worker = async () => {
    for (let mistake = queue.shift(); mistake; mistake = queue.shift()) judge(mistake, await commit(path, mistake));
  };
  await Promise.all([worker(), worker(), worker()]);
  expect(readFileSync(join(path, "config.yaml"), "utf8")).toBe(before);
}, 120_000);

describe("mistakes in files, variables and places", () => {
  it("keys with a wrong name go to .env, masked, with the right name", async () => {
    const path = home();
    const key = "sk-or-v1-0123456789abcdef0123456789abcdef";
    const run = await runHermes(["config", "set", "OPENROUTER_APIKEY", key], { home: path });
    expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("OPENROUTER_API_KEY")]);
    const forced = await runHermes(["config", "set", "--force", "MY_THING", key], { home: path });
    expect(`${run.stdout}${forced.stdout}`).not.toContain(key);
    expect(readFileSync(join(path, "config.yaml"), "utf8")).not.toContain(key);
  });

  const FILES: readonly (Mistake & { readonly file: string })[] = [
    { name: "YAML", file: "model:\n  default: [x\n", args: ["-z", "x"], code: 1, says: /line 3[\s\S]*config edit/ },
    {
      name: "an unknown key",
      file: "compresion:\n  x: 1\n",
      args: ["config", "check"],
      code: 1,
      says: /did you mean compression/,
    },
    {
      name: "no key",
      file: "model:\n  provider: openrouter\n  default: x\n",
      args: ["-z", "x"],
      code: 1,
      says: /No key for OpenRouter[\s\S]*auth add openrouter/,
    },
    {
      name: "a key for another host",
      file: "model:\n  provider: openrouter\n  default: x\n",
      env: { OPENROUTER_API_KEY: "sk-or-x", OPENROUTER_BASE_URL: "http://127.0.0.1:9" },
      args: ["-z", "x"],
      code: 1,
      says: /not sent to 127\.0\.0\.1/,
    },
    {
      name: "a server that is not there",
      file: "model:\n  provider: custom\n  default: x\n  base_url: http://127.0.0.1:9/v1\n  max_retries: 0\n",
      args: ["-z", "x"],
      code: 1,
      says: /at http:\/\/127\.0\.0\.1:9 [\s\S]*base URL/,
    },
  ];

  it.each(FILES.map((mistake) => [mistake.name, mistake] as const))("%s", async (_, mistake) => {
    const path = home();
    writeFileSync(join(path, "config.yaml"), mistake.file);
    const run = await commit(path, mistake);
    judge(mistake, run);
    expect(run.stdout).not.toContain("[offline model]");
    expect(readFileSync(join(path, "config.yaml"), "utf8")).toBe(mistake.file);
  });

  it("homes that are files, relative, linked, or have spaces", async () => {
    const file = join(base, "a file");
    writeFileSync(file, "x");
    const real = home();
    const link = join(base, "ein Verknüpfung");
    symlinkSync(real, link);
    const results = await Promise.all([
      runHermes(["-z", "hi"], { home: base, env: { HERMES_HOME: file } }),
      runHermes(["-z", "hi"], { home: base, env: { HERMES_HOME: link } }),
      runHermes(["config", "path"], { home: base, env: { HERMES_HOME: "./relative home" } }),
    ]);
    expect(results.map(({ code }) => code)).toEqual([1, 0, 0]);
    expect(results[0]?.stderr).toMatch(/is not a folder[\s\S]*Set HERMES_HOME/);
    expect(results[2]?.stdout.trim()).toBe(join(base, "relative home", "config.yaml"));
  });

  it("a dumb terminal and NO_COLOR get no escapes", async () => {
    const path = home();
    for (const env of [{ TERM: "dumb" }, { NO_COLOR: "1", TERM: "xterm" }]) {
      const terminal = openTerminal(["sessions", "list"], { home: path, env });
      await terminal.exited;
      expect([env, terminal.raw().includes("\u001b[")]).toEqual([env, false]);
    }
  });

  it("tables fit a narrow terminal", async () => {
    const path = home();
    await runHermes(["-z", "a rather long question about nothing in particular, to fill the table"], { home: path });
    for (const args of [
      ["sessions", "list"],
      ["model", "list"],
      ["skills", "list"],
      ["profile", "list"],
      ["tools", "list"],
      ["--help"],
    ]) {
      const terminal = openTerminal(args, { home: path, columns: 80, rows: 120 });
      await terminal.exited;
      const wide = terminal
        .raw()
        .split("\n")
        .map((line) => line.replace(ESCAPES, "").replace(/\r$/, ""))
        .filter((line) => [...line].length > 80);
      expect([args, wide]).toEqual([args, []]);
    }
  }, 60_000);
});
