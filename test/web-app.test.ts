// The web tools in a running program: configuration, environment, guard, taint, and pages in messages.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openApp } from "../src/app/compose.ts";
import { absentHuman } from "../src/core/human.ts";
import { openHome } from "../src/home/api.ts";
import { type AgentEvent, createHermes, type Hermes } from "../src/index.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";
import { type FakePages, fakePages } from "./servers/fake-web-pages.ts";
import { type FakeWebServices, fakeWebServices } from "./servers/fake-web-services.ts";

const LONG = `<title>Foxes</title><main>${"<h2>Part</h2><p>Foxes live in the forest and hunt at night.</p>".repeat(200)}</main>`;

let home: string;
let llm: FakeLlm;
let services: FakeWebServices;
let site: FakePages;
let hermes: Hermes;

async function start(security: object): Promise<void> {
  hermes = await createHermes({
    home,
    env: { PATH: process.env.PATH, HOME: home, SEARXNG_URL: services.env.SEARXNG_URL },
    cwd: home,
    config: {
      model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 },
      security,
    },
  });
}

beforeEach(async () => {
  home = tempDir("hermes-web-");
  llm = await startFakeLlm();
  services = await fakeWebServices();
  site = await fakePages({ "/a": { body: "<title>A</title><p>Hello <b>web</b>" }, "/long": { body: LONG } });
});

afterEach(async () => {
  await hermes.close();
  await llm.close();
  await services.close();
  await site.close();
  rmSync(home, { recursive: true, force: true });
});

/** Runs one turn and returns the tool results. */
async function turn(input: string): Promise<string[]> {
  const talk = await hermes.conversation();
  const answers: string[] = [];
  for await (const event of talk.send(input, { signal: AbortSignal.timeout(20_000) }) as AsyncIterable<AgentEvent>)
    if (event.type === "message" && event.message.role === "tool") answers.push(String(event.message.content));
  await talk.close();
  return answers;
}

it("searches the user's own server on the local network, and refuses pages there unless allowed", async () => {
  await start({});
  llm.enqueue(
    calls([{ name: "web_search", args: { query: "foxes", limit: 2 } }]),
    calls([{ name: "web_extract", args: { urls: [`${site.url}/a`] } }]),
    text("Done."),
    text("Title"),
  );
  const [found, read] = await turn("Find foxes");
  expect(found).toContain('"provider":"searxng"');
  expect(found).toContain("https://example.org/2");
  expect(read).toContain("private address");
  expect(site.visits).toHaveLength(0);
});

it("summarises a long page with the model that is there, and keeps the whole for read_file", async () => {
  await start({ allow_private_urls: true });
  llm.enqueue(
    calls([{ name: "web_extract", args: { urls: [`${site.url}/long`] } }]),
    text("Foxes, in short."),
    text("Done."),
    text("Title"),
  );
  const [read = ""] = await turn("Read it");
  const [page] = JSON.parse(read).results;
  expect(page.content).toContain("Foxes, in short.");
  expect(page.full_text.path.startsWith(home)).toBe(true);
});

it("follows a shared blocklist", async () => {
  writeFileSync(join(home, "blocked.txt"), "# ours\nblocked.example\n");
  await start({ website_blocklist: { enabled: true, domains: [], shared_files: ["blocked.txt"] } });
  llm.enqueue(
    calls([{ name: "web_extract", args: { urls: ["https://www.blocked.example/"] } }]),
    text("Done."),
    text("Title"),
  );
  const [read = ""] = await turn("Read it");
  expect(JSON.parse(read).results[0].blocked_by_policy).toMatchObject({ rule: "blocked.example" });
});

it("attaches a page to a message as Markdown", async () => {
  await start({});
  const env = { PATH: process.env.PATH, HOME: home, HERMES_HOME: home };
  const { home: found } = openHome([], { env, cwd: home, platform: process.platform, homedir: home });
  const app = await openApp(found, {
    overrides: {
      model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 },
      security: { allow_private_urls: true },
    },
  });
  const opened = await app.openConversation({ human: absentHuman, source: "cli" });
  const input = await app.prepareInput(`What is @url:${site.url}/a about?`, opened);
  expect(input.text).toContain("Hello **web**");
  expect(input.untrusted).toBe(true);
  await opened.conversation.close();
  await app.close();
});
