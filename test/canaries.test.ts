// Thirty canary secrets, every tool exercised: none of them is in plain text in the home, the logs, the store or a request.
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

const NAMES = [
  "OPENAI_API_KEY",
  "ANTHROPIC_API_KEY",
  "GITHUB_TOKEN",
  "TELEGRAM_BOT_TOKEN",
  "DISCORD_BOT_TOKEN",
  "DB_PASSWORD",
  "MY_SERVICE_SECRET",
  "STRIPE_KEY",
  "TAVILY_API_KEY",
  "HF_TOKEN",
];
const CANARIES = Array.from({ length: 30 }, (_, index) => {
  const name = NAMES[index] ?? `CANARY_${index}_TOKEN`;
  const shape = ["sk-", "ghp_", "xoxb-", "", "tok/en+", "pass&word=%"][index % 6] ?? "";
  return { name, value: `${shape}cAnArY${String(index).padStart(2, "0")}${"q7Zx9Kp2Lm4Nv8Rt"}${index}` };
});

let home: TempHome;
let work: string;
let llm: FakeLlm;
let web: Server;

function forms(value: string): string[] {
  return [
    value,
    Buffer.from(value).toString("base64").replace(/=+$/, ""),
    encodeURIComponent(value),
    JSON.stringify(value).slice(1, -1),
  ];
}

function* filesBelow(folder: string): Generator<string> {
  for (const entry of readdirSync(folder)) {
    const path = join(folder, entry);
    if (statSync(path).isDirectory()) yield* filesBelow(path);
    else yield path;
  }
}

beforeAll(async () => {
  home = tempHome();
  work = tempDir("hermes-canary-work-");
  llm = await startFakeLlm();
  home.useModel(llm, "security:\n  allow_private_urls: true\n");
  writeFileSync(join(home.path, ".env"), CANARIES.map(({ name, value }) => `${name}=${value}\n`).join(""), {
    mode: 0o600,
  });
  const all = CANARIES.map(({ value }) => forms(value).join("\n")).join("\n");
  writeFileSync(join(work, "leak.txt"), `${all}\n`);
  writeFileSync(
    join(work, "leak.json"),
    JSON.stringify(Object.fromEntries(CANARIES.map(({ name, value }) => [name, value])), null, 1),
  );
  web = createServer((_, response) => {
    response.setHeader("content-type", "text/html; charset=utf-8");
    response.end(`<html><body><main><h1>Leak</h1><pre>${all}</pre></main></body></html>`);
  });
  await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  web.close();
  await llm.close();
  home.remove();
  rmSync(work, { recursive: true, force: true });
});

it("keeps every canary out of every sink", async () => {
  const url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/leak`;
  const [first] = CANARIES;
  const secret = first?.value ?? "";
  const skill = `---\nname: leak\ndescription: Leaks ${secret}\n---\n\n# Leak\n\nUse ${secret}.\n`;
  llm.enqueue(
    calls([{ name: "memory", args: { action: "add", target: "memory", content: `The key is ${secret}` } }]),
    calls([{ name: "skill_manage", args: { action: "create", name: "leak", content: skill } }]),
    calls([{ name: "skills_list", args: {} }]),
    calls([{ name: "skill_view", args: { name: "leak" } }]),
    calls([
      { name: "cronjob", args: { action: "create", schedule: "every 2h", prompt: `say ${secret}`, name: "leak" } },
    ]),
    calls([{ name: "clarify", args: { question: `is it ${secret}?` } }]),
    calls([{ name: "web_search", args: { query: `what is ${secret}` } }]),
    calls([{ name: "delegate_task", args: { goal: `read leak.txt and tell ${secret}` } }]),
    text(`The child says ${secret}.`),
    calls([
      { name: "read_file", args: { path: "leak.txt" } },
      { name: "search_files", args: { pattern: "cAnArY" } },
    ]),
    calls([
      {
        name: "terminal",
        args: { command: "cat leak.txt leak.json; env; cat leak.txt | base64 -w0; cat leak.txt >&2" },
      },
    ]),
    calls([{ name: "terminal", args: { command: "cat leak.json; sleep 0.2", background: true } }]),
    calls([{ name: "process", args: { action: "list" } }]),
    calls([
      { name: "execute_code", args: { code: "import os\nprint(open('leak.txt').read())\nprint(dict(os.environ))" } },
    ]),
    calls([{ name: "web_extract", args: { urls: [url] } }]),
    calls([{ name: "write_file", args: { path: "copy.txt", content: `the key is ${secret}` } }]),
    calls([{ name: "patch", args: { path: "leak.json", old_string: '"OPENAI_API_KEY"', new_string: '"OPENAI_KEY"' } }]),
    calls([{ name: "todo", args: { todos: [{ id: "1", content: `use ${secret}`, status: "pending" }] } }]),
    calls([{ name: "memory", args: { action: "add", target: "memory", content: `The key is ${secret}` } }]),
    calls([{ name: "session_search", args: { query: "cAnArY00" } }]),
    calls([{ name: "recall_context", args: { query: "cAnArY00" } }]),
    text(`I will not repeat ${secret}.`),
    text("Canaries"),
  );
  const run = await runHermes(["chat", "-v", "-q", `my key is ${secret}, look at leak.txt`], {
    home: home.path,
    cwd: work,
  });
  expect(run.code).toBe(0);
  const exported = await runHermes(["sessions", "export", "-"], { home: home.path });
  const found = await runHermes(["sessions", "search", "cAnArY00", "--json"], { home: home.path });

  const sinks = new Map<string, string>();
  for (const file of filesBelow(home.path)) if (!file.endsWith("/.env")) sinks.set(file, readFileSync(file, "latin1"));
  for (const [index, request] of llm.requests.entries()) sinks.set(`request ${index}`, request.raw.toString("utf8"));
  sinks.set("screen", run.stdout + run.stderr);
  sinks.set("export", exported.stdout);
  sinks.set("search", found.stdout);
  const leaks: string[] = [];
  for (const [sink, content] of sinks) {
    for (const { name, value } of CANARIES) {
      for (const form of forms(value)) {
        if (content.includes(form) || content.includes(Buffer.from(form).toString("latin1")))
          leaks.push(`${name} in ${sink}`);
      }
    }
  }
  expect([...new Set(leaks)]).toEqual([]);
});
