// MCP servers through the built program: the official reference servers, driven by a scripted model.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

const packages = dirname(
  createRequire(import.meta.url).resolve("@modelcontextprotocol/server-everything/package.json"),
);
const everything = [join(packages, "dist", "index.js"), "stdio"];
const filesystem = [join(packages, "..", "server-filesystem", "dist", "index.js")];

let home: string;
let model: FakeLlm;

beforeEach(async () => {
  home = tempDir("hermes-mcp-");
  model = await startFakeLlm({ flavour: "cloud" });
});

afterEach(() => model.close());

function configure(servers: object, more: object = {}): void {
  const config = {
    model: { default: "scripted", provider: "custom", base_url: `${model.url}/v1`, context_length: 128_000 },
    mcp_servers: servers,
    ...more,
  };
  writeFileSync(join(home, "config.yaml"), JSON.stringify(config));
}

const node = (args: readonly string[], more: object = {}) => ({ command: process.execPath, args, ...more });
const hermes = (args: readonly string[], stdin = "") => runHermes(args, { home, stdin });
/** The requests of conversations, without those for titles. */
const asked = () => model.requests.filter((request) => request.tools.length > 0);
const toolNames = (index: number): readonly string[] => asked()[index]?.tools ?? [];
const lastResult = (): string => String(asked().at(-1)?.messages.at(-1)?.text ?? "");

describe("a server on this machine", () => {
  it("is added, tested, used by the model, and known without connecting in the next run", async () => {
    configure({});
    const added = await hermes([
      "mcp",
      "add",
      "every",
      "--command",
      process.execPath,
      ...everything.flatMap((arg) => ["--arg", arg]),
    ]);
    expect(added.stderr + added.stdout).toContain("Added every");
    const tested = await hermes(["mcp", "test", "every"]);
    expect(tested.stdout).toMatch(/every is ready after \d+ ms \(protocol 20/);
    expect(tested.stdout).toContain("echo");
    model.enqueue(calls([{ name: "mcp_every_echo", args: { message: "hello there" } }]), text("Done."));
    const run = await hermes(["-z", "say hello"]);
    expect(run.stdout).toContain("Done.");
    expect(lastResult()).toContain("hello there");
    const listed = JSON.parse((await hermes(["mcp", "list", "--json"])).stdout);
    expect(listed[0]).toMatchObject({ name: "every", state: "idle", held: [] });
    expect((await hermes(["mcp", "remove", "every"])).code).toBe(0);
    expect((await hermes(["mcp", "list"])).stdout).toContain("No MCP servers");
  });

  it("gives images to the model, and marks what it returns as untrusted", async () => {
    configure({ every: node(everything) });
    await hermes(["mcp", "test", "every"]);
    model.enqueue(calls([{ name: "mcp_every_get_tiny_image", args: {} }]), text("I see it."));
    await hermes(["-z", "show me"]);
    expect(JSON.stringify(asked().at(-1)?.body)).toContain("data:image/png;base64,");
  });

  it("is found by search when its schemas would fill the prompt", async () => {
    const many = Object.fromEntries(["one", "two"].map((name) => [name, node(everything)]));
    configure(many, { tool_search: { schema_budget: 100 } });
    await hermes(["mcp", "test", "one"]);
    await hermes(["mcp", "test", "two"]);
    model.enqueue(
      calls([{ name: "search_tools", args: { query: "echo a message back" } }]),
      calls([{ name: "call_tool", args: { name: "mcp_two_echo", arguments: { message: "found" } } }]),
      text("Done."),
    );
    await hermes(["-z", "echo"]);
    expect(toolNames(0)).toContain("search_tools");
    expect(toolNames(0).filter((name) => name.startsWith("mcp_"))).toEqual([]);
    const found = String(asked()[1]?.messages.at(-1)?.text);
    expect(found).toContain("mcp_two_echo");
    expect(found).toContain('"message"');
    expect(lastResult()).toContain("found");
    expect(JSON.stringify(asked()[1]?.body.tools)).toBe(JSON.stringify(asked()[0]?.body.tools));
  });

  it("that does not answer delays nothing and says why", async () => {
    configure({
      sleeper: { command: "sleep", args: ["1000"], connect_timeout: 1 },
      missing: { command: "/nonexistent/server" },
    });
    model.enqueue(text("Hi."));
    const began = performance.now();
    const run = await hermes(["-z", "hello"]);
    expect(run.stdout).toContain("Hi.");
    expect(performance.now() - began).toBeLessThan(30_000);
    const tested = await hermes(["mcp", "test", "missing"]);
    expect(tested.code).toBe(1);
    expect(tested.stderr).toContain("failed");
  });

  it("waits for the user with new and changed tools", async () => {
    configure({ every: node(everything) });
    await hermes(["mcp", "test", "every"]);
    const cache = join(home, "cache", "mcp-tools.json");
    const known = JSON.parse(readFileSync(cache, "utf8"));
    known.every.pins.echo = "another description";
    delete known.every.pins["get-sum"];
    writeFileSync(cache, JSON.stringify(known));
    model.enqueue(text("Hi."));
    await hermes(["-z", "hello"]);
    expect(toolNames(0)).toContain("mcp_every_get_tiny_image");
    expect(toolNames(0)).not.toContain("mcp_every_echo");
    const review = await hermes(["mcp", "configure", "every"], "y\n");
    expect(review.stdout).toMatch(/echo \(changed\)/);
    expect(review.stdout).toMatch(/get-sum \(new\)/);
    model.enqueue(text("Hi."));
    await hermes(["-z", "hello"]);
    expect(toolNames(1)).toContain("mcp_every_echo");
  });

  it("reads files below its folder only", async () => {
    const folder = tempDir("mcp-files-");
    writeFileSync(join(folder, "a.txt"), "inside");
    configure({ files: node([...filesystem, folder], { tools: { include: ["read_text_file"] } }) });
    await hermes(["mcp", "test", "files"]);
    model.enqueue(
      calls([{ name: "mcp_files_read_text_file", args: { path: join(folder, "a.txt") } }]),
      calls([{ name: "mcp_files_read_text_file", args: { path: "/etc/passwd" } }]),
      text("Done."),
    );
    await hermes(["-z", "read"]);
    expect(toolNames(0).filter((name) => name.startsWith("mcp_"))).toEqual(["mcp_files_read_text_file"]);
    expect(String(asked()[1]?.messages.at(-1)?.text)).toContain("inside");
    expect(lastResult()).toMatch(/denied|outside/i);
    expect(existsSync(join(home, "logs", "mcp-stderr.log"))).toBe(true);
  });
});
