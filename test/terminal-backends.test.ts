import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createHermes, type Hermes, type Human } from "../src/index.ts";
import { containerProblem } from "./kit/container-fixture.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: string;
let work: string;
let llm: FakeLlm;
let hermes: Hermes | undefined;
const problem = await containerProblem();

beforeEach(async () => {
  home = tempDir("hermes-places-");
  work = join(home, "work");
  mkdirSync(work);
  llm = await startFakeLlm();
});
afterEach(async () => {
  await hermes?.close();
  hermes = undefined;
  await llm.close();
  rmSync(home, { recursive: true, force: true });
});

async function open(terminal: object, path = "/usr/local/bin:/usr/bin:/bin"): Promise<Hermes> {
  hermes = await createHermes({
    home: join(home, ".hermes"),
    env: { PATH: path, HOME: home },
    cwd: work,
    config: {
      model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 },
      terminal: { auto_source_bashrc: false, ...terminal },
    },
  });
  return hermes;
}

/** The tool results that the model received, in order. */
const results = () =>
  (llm.requests.findLast((request) => request.messages.some((message) => message.role === "tool"))?.messages ?? [])
    .filter((message) => message.role === "tool")
    .map((message) => message.text);

it("runs commands and file tools in the container", async () => {
  const inside = join(home, "inside");
  const bin = join(home, "bin");
  for (const folder of [inside, bin]) mkdirSync(folder);
  writeFileSync(
    join(bin, "docker"),
    `#!/bin/bash
case $1 in exec) shift 3; cd ${inside}; HOME=${inside} exec "$@";; info) echo '{}';; ps) ;; *) echo ok;; esac
`,
  );
  chmodSync(join(bin, "docker"), 0o755);
  llm.enqueue(
    calls([{ name: "write_file", args: { path: "note.txt", content: "from the container\n" } }]),
    calls([{ name: "terminal", args: { command: "mkdir deep && cd deep && cat ../note.txt" } }]),
    calls([{ name: "write_file", args: { path: "second.txt", content: "2\n" } }]),
    calls([{ name: "search_files", args: { pattern: "from the \\w+", path: ".." } }]),
    text("Done."),
    text("A title"),
  );
  const config = { backend: "docker", cwd: inside, container_persistent: false };
  const answer = await (await open(config, `${bin}:/usr/bin:/bin`)).ask("go");
  expect(answer.text).toBe("Done.");
  expect(readFileSync(join(inside, "note.txt"), "utf8")).toBe("from the container\n");
  expect(readFileSync(join(inside, "deep", "second.txt"), "utf8")).toBe("2\n");
  expect(existsSync(join(work, "note.txt"))).toBe(false);
  const [, ran, , found] = results();
  expect(ran).toContain("from the container");
  expect(found).toContain("note.txt");
});

it("names what is available when a backend is not", async () => {
  llm.enqueue(calls([{ name: "terminal", args: { command: "true" } }]), text("I see."), text("A title"));
  await (await open({ backend: "modal" })).ask("go");
  expect(results()[0]).toContain("local, ssh and docker");
});

it.skipIf(problem)("keeps file tools and commands inside the container until the user allows a path", async () => {
  const outside = mkdtempSync("/opt/hermes-places-");
  const asked: string[] = [];
  const human: Human = {
    present: true,
    approve: async (request) => {
      asked.push(request.intent);
      return { choice: request.intent.endsWith("wanted") ? "session" : "deny" };
    },
    clarify: async () => null,
    secret: async () => null,
  };
  writeFileSync(join(outside, "wanted"), "");
  try {
    llm.enqueue(
      calls([{ name: "write_file", args: { path: join(outside, "made"), content: "x" } }]),
      calls([{ name: "terminal", args: { command: `echo 1 >> ${outside}/wanted && echo inside > mine` } }]),
      calls([{ name: "write_file", args: { path: join(outside, "wanted"), content: "2\n" } }]),
      text("Done."),
      text("A title"),
    );
    await (await open({})).ask("go", { human });
    expect(existsSync(join(outside, "made"))).toBe(false);
    expect(results()[0]).toContain("container");
    expect(readFileSync(join(outside, "wanted"), "utf8")).toBe("2\n");
    expect(readFileSync(join(work, "mine"), "utf8")).toBe("inside\n");
    expect(asked).toEqual([`permission write:${outside}/made`, `permission write:${outside}/wanted`]);
  } finally {
    rmSync(outside, { recursive: true, force: true });
  }
});
