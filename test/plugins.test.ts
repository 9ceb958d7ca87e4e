// Plugins of third parties: files in an empty home, the built program, a scripted model.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const frozen = join(root, "test", "fixtures", "plugins");

let home: string;
let model: FakeLlm;

beforeEach(async () => {
  home = tempDir("hermes-plugins-");
  model = await startFakeLlm({ flavour: "cloud" });
});

afterEach(async () => {
  await model.close();
  rmSync(home, { recursive: true, force: true });
});

function configure(extra: object): void {
  const config = {
    model: { default: "scripted", provider: "custom", base_url: `${model.url}/v1`, context_length: 128_000 },
    ...extra,
  };
  writeFileSync(join(home, "config.yaml"), JSON.stringify(config));
}

/** Writes the files that the page shows under a plugin's name. */
function fromDocs(plugin: string): void {
  const page = readFileSync(join(root, "docs", "plugins.md"), "utf8");
  const files = [...page.matchAll(/<!-- file: (\S+) -->\n```\w+\n([\s\S]*?)```/g)].filter(([, path]) =>
    path?.startsWith(`${plugin}/`),
  );
  expect(files).toHaveLength(2);
  for (const [, path = "", content = ""] of files) {
    const file = join(home, "plugins", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    expect(content.trim().split("\n").length).toBeLessThanOrEqual(20);
  }
}

function fromFrozen(...plugins: string[]): void {
  for (const plugin of plugins) cpSync(join(frozen, plugin), join(home, "plugins", plugin), { recursive: true });
}

const hermes = (args: readonly string[], stdin = "", env: { [name: string]: string } = {}) =>
  runHermes(args, { home, stdin, env });

describe("the plugins of the documentation", () => {
  it("adds a tool, a hook and a slash command in twenty lines", async () => {
    configure({});
    fromDocs("greeter");
    expect((await hermes(["plugins", "enable", "greeter"])).code).toBe(0);
    model.enqueue(calls([{ name: "greet", args: { name: "Ada" } }]), text("Done."), text("A title"));
    const run = await hermes([], "say hello to Ada\n/greeted\n/quit\n");
    expect(run.stdout).toContain("Greeted 1 so far.");
    const [first, second] = model.requests;
    expect(JSON.stringify(first?.body)).toContain('"greet"');
    expect(JSON.stringify(second?.body)).toContain("Hello, Ada!");
  });

  it("replaces the context engine", async () => {
    configure({ context: { engine: "last-words" }, compression: { enabled: true } });
    fromDocs("last-words");
    const long = "word ".repeat(9000);
    model.enqueue(...Array.from({ length: 12 }, () => text("ok")));
    const run = await hermes([], `${long}\n${long}\n${long}\nlast question\n/quit\n`);
    expect(run.stderr).not.toContain("no context engine");
    const bodies = model.requests.map((request) => JSON.stringify(request.body));
    expect(bodies.some((body) => body.includes("earlier messages were left out"))).toBe(true);
  });

  it("recalls through a memory provider", async () => {
    configure({});
    fromDocs("diary");
    const setup = await hermes(["memory", "setup", "diary"]);
    expect(setup.stdout).toContain("diary is the memory provider");
    model.enqueue(...Array.from({ length: 6 }, () => text("ok")));
    await hermes(["-z", "The harbour office opens at seven"]);
    await hermes(["-z", "When does the harbour office open?"]);
    const asked = model.requests.map((request) => JSON.stringify(request.body));
    const second = asked.find((body) => body.includes("When does the harbour"));
    expect(second).toContain("The harbour office opens at seven");
    expect(asked[0]).toContain("A diary of earlier conversations");
  });
});

describe("the frozen examples", () => {
  it("run TypeScript, keep the stripped text, and load it from there", async () => {
    configure({ plugins: { enabled: ["typed"] } });
    fromFrozen("typed");
    for (let round = 0; round < 2; round++) {
      model.enqueue(calls([{ name: "add", args: { a: 2, b: 40 } }]), text("42"));
      const run = await hermes(["-Q", "-q", "add 2 and 40"]);
      expect(run.stdout).toContain("42");
      expect(run.stderr).not.toContain("notice");
    }
    const results = model.requests
      .map((request) => JSON.stringify(request.body))
      .filter((body) => body.includes("total"));
    expect(results.length).toBeGreaterThanOrEqual(2);
    expect(existsSync(join(home, "cache", "plugins", "typescript"))).toBe(true);
  });

  it("skip one that throws and one for another API, and continue", async () => {
    configure({ plugins: { enabled: ["thrower", "future", "greeter"] } });
    fromFrozen("thrower", "future", "greeter");
    model.enqueue(text("still here"), text("A title"));
    const run = await hermes(["-q", "hello"]);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("Plugin thrower is not loaded: the thrower threw");
    expect(run.stderr).toContain("it needs plugin API 9, and this Hermes serves 1.x: update Hermes");
    expect(JSON.stringify(model.requests[0]?.body)).toContain('"greet"');
    const check = await hermes(["plugins", "list", "--check", "--json"]);
    expect(check.code).toBe(1);
    const rows = JSON.parse(check.stdout) as { name: string; problem?: string; loadMs?: number }[];
    expect(rows.find((row) => row.name === "greeter")?.loadMs).toBeGreaterThan(0);
    expect(rows.find((row) => row.name === "thrower")?.problem).toBe("the thrower threw");
  });

  it("are listed with the bundled plugins on request", async () => {
    configure({ plugins: { enabled: ["greeter"] } });
    fromFrozen("greeter");
    const rows = JSON.parse((await hermes(["plugins", "list", "--all", "--json"])).stdout) as {
      key: string;
      registrations?: { tools: { name: string }[]; commands: { name: string }[]; modelProviders: { name: string }[] };
    }[];
    const own = rows.find((row) => row.key === "builtins")?.registrations;
    expect(own?.tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["read_file", "memory", "delegate_task"]),
    );
    expect(own?.commands.map(({ name }) => name)).toContain("help");
    expect(own?.modelProviders.map(({ name }) => name)).toContain("anthropic");
    expect((await hermes(["plugins", "list"])).stdout).not.toContain("builtins");
  });

  it("skip a hook that hangs and one that throws; the next one is called", async () => {
    configure({ plugins: { enabled: ["hanger"], hook_timeout: 1 } });
    fromFrozen("hanger");
    model.enqueue(text("fine"), text("A title"));
    const run = await hermes(["-q", "hello"]);
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("did not answer within 1 s; skipped");
    expect(run.stderr).toContain("no context from me; skipped");
    expect(JSON.stringify(model.requests[0]?.body)).toContain("the third one answers");
  });

  it("understand the names of the Python API, blocking included", async () => {
    configure({ plugins: { enabled: ["snake"] } });
    fromFrozen("snake");
    const tool = (value: string) => calls([{ name: "snake_case", args: { text: value } }]);
    model.enqueue(tool("Big Snake"), tool("forbidden"), text("Done."), text("A title"));
    const run = await hermes([], "go\n/snake hiss\n/quit\n", { SNAKE_KEY: "x", OTHER: "y" });
    expect(run.stdout).toContain("~~~ hiss");
    const last = JSON.stringify(model.requests[2]?.body);
    expect(last).toContain("big_snake");
    expect(last).toContain("SNAKE_KEY");
    expect(last).not.toContain("OTHER");
    expect(last).toContain("not that word");
  });

  it("are found in a project only when that is switched on", async () => {
    configure({ plugins: { enabled: ["greeter"] } });
    const project = join(home, "project");
    cpSync(join(frozen, "greeter"), join(project, ".hermes", "plugins", "greeter"), { recursive: true });
    model.enqueue(text("a"), text("b"));
    await runHermes(["-z", "one"], { home, cwd: project });
    await runHermes(["-z", "two"], { home, cwd: project, env: { HERMES_ENABLE_PROJECT_PLUGINS: "1" } });
    const bodies = model.requests.map((request) => JSON.stringify(request.body));
    expect(bodies.find((body) => body.includes('"one"'))).not.toContain('"greet"');
    expect(bodies.find((body) => body.includes('"two"'))).toContain('"greet"');
  });
});

describe("what a plugin may use", () => {
  const write = (name: string, manifest: object, code: string) => {
    const dir = join(home, "plugins", name);
    mkdirSync(dir, { recursive: true });
    writeFileSync(join(dir, "plugin.yaml"), JSON.stringify({ name, api: 1, ...manifest }));
    writeFileSync(join(dir, "index.js"), code);
  };

  it("its own command, the user's model, and a row in the ledger", async () => {
    configure({ plugins: { enabled: ["teller"] } });
    write(
      "teller",
      {},
      `export function register(ctx) {
        ctx.registerCliCommand({ name: "tell", summary: "Tell a story", run: async ({ argv, out }) => {
          const { parsed } = await ctx.llm.completeStructured({ prompt: "About " + argv.join(" "), jsonSchema: { type: "object" } });
          out("Once upon a time: " + parsed.end);
          await ctx.llm.complete({ prompt: "x", model: "other" }).catch((error) => out(error.message));
        } });
      }`,
    );
    model.enqueue(text('```json\n{"end":"they lived"}\n```'));
    const run = await hermes(["tell", "two", "otters"]);
    expect(run.stdout).toContain("Once upon a time: they lived");
    expect(run.stdout).toContain('plugin teller may not choose the model "other"');
    expect(run.code).toBe(0);
    expect(JSON.stringify(model.requests[0]?.body)).toContain("About two otters");
    const usage = await hermes(["usage", "--by", "purpose", "--json"]);
    expect(usage.stdout).toContain("plugin:teller");
    expect((await hermes(["tel"])).stderr).toContain('unknown command "tel"');
  });

  it("cannot end the program with an unhandled error", async () => {
    configure({ plugins: { enabled: ["careless"] } });
    write(
      "careless",
      {},
      `export function register(ctx) {
        ctx.registerHook("pre_llm_call", () => {
          setTimeout(() => { throw new Error("thrown by a timer"); }, 1);
          void Promise.reject(new Error("rejected and forgotten"));
          return new Promise((resolve) => setTimeout(resolve, 50));
        });
      }`,
    );
    model.enqueue(text("unharmed"), text("A title"));
    const run = await hermes(["-q", "hello"]);
    expect(run.stdout).toContain("unharmed");
    expect(run.code).toBe(0);
    expect(run.stderr).toContain("Plugin careless: thrown by a timer");
    expect(run.stderr).toContain("Plugin careless: rejected and forgotten");
  });

  it("cannot block the program: at its start, in a hook, or at its end", async () => {
    configure({ plugins: { enabled: ["asleep", "clinging", "loud"], hook_timeout: 1 } });
    write("asleep", {}, "export function register() { return new Promise(() => undefined); }");
    write(
      "clinging",
      {},
      `export function register(ctx) {
        setInterval(() => undefined, 1000);
        ctx.registerHook("post_llm_call", () => new Promise(() => undefined));
        ctx.onClose(() => new Promise(() => undefined));
      }`,
    );
    write(
      "loud",
      {},
      `export function register(ctx) {
        ctx.registerHook("post_llm_call", () => { throw new Error("in a hook"); });
        ctx.onClose(() => { throw new Error("at the end"); });
      }`,
    );
    model.enqueue(text("answered"), text("A title"));
    const run = await hermes(["chat", "-q", "hello"]);
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining("answered")]);
    expect(run.stderr).toContain("Plugin asleep is not loaded: it did not finish loading within 10 s");
    expect(run.stderr).toContain("plugin clinging, hook post_llm_call: did not answer within 1 s; skipped");
    expect(run.stderr).toContain("plugin loud, hook post_llm_call: in a hook; skipped");
    expect(run.stderr).toContain("Plugin clinging did not close cleanly: it did not finish closing within 2 s");
    expect(run.stderr).toContain("Plugin loud did not close cleanly: at the end");
  });

  it("a catalog row from its manifest alone", async () => {
    const row = { name: "acme", base_url: `${model.url}/v1`, key_var: "ACME_KEY", default_model: "acme-1" };
    configure({ plugins: { enabled: ["acme"] } });
    const dir = join(home, "plugins", "acme");
    mkdirSync(dir, { recursive: true });
    const manifest = { name: "acme", api: 1, kind: "model-provider", provides_model_providers: [row] };
    writeFileSync(join(dir, "plugin.yaml"), JSON.stringify(manifest));
    model.enqueue(text("from acme"));
    const run = await hermes(["-z", "hello", "--provider", "acme"], "", { ACME_KEY: "acme-key-0123456789" });
    expect(run.stdout).toContain("from acme");
    expect((model.requests[0]?.body as { model?: string } | undefined)?.model).toBe("acme-1");
  });
});
