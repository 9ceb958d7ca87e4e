import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { tempDir } from "../../test/kit/temp-dir.ts";
import { openHome } from "../home/api.ts";
import { CONVERSATION_TOOLS } from "./builtins.ts";
import { openApp } from "./compose.ts";

let folder: string;

beforeEach(() => {
  folder = tempDir("hermes-builtins-");
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, code: string): void {
  const dir = join(folder, "plugins", name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "plugin.yaml"), JSON.stringify({ name, api: 1 }));
  writeFileSync(join(dir, "index.js"), `export function register(ctx) {\n${code}\n}`);
}

async function open(config: object = {}) {
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(config));
  const env = { HERMES_HOME: folder };
  const { home } = openHome([], { env, cwd: folder, platform: "linux", homedir: folder });
  const notices: string[] = [];
  const app = await openApp(home, { onNotice: (text) => void notices.push(text) });
  return { app, notices };
}

const tool = (name: string, options = "") =>
  `ctx.registerTool({ name: "${name}", description: "d", parameters: { type: "object", properties: {} }, run: async () => ({ content: "mine" }) }${options});`;

it("reserves the names of all tools, also of those that are created for each conversation", async () => {
  const { app } = await open();
  const states = await app.tools();
  const registered = new Set([...app.registry.toolsets().values()].flat());
  const made = states.map(({ tool: { name } }) => name).filter((name) => !registered.has(name));
  expect(made.sort()).toEqual([...CONVERSATION_TOOLS].sort());
  expect(new Set(states.map(({ owner }) => owner))).toEqual(new Set(["builtins"]));
  await app.close();
});

it("is replaced only by a plugin that sets override, and reports other attempts", async () => {
  write("meek", `${tool("read_file")} ${tool("execute_code")} ctx.registerCommand({ name: "help", run: () => "no" });`);
  write("bold", `${tool("write_file", ", { override: true }")} ${tool("memory", ", { override: true }")}`);
  const { app, notices } = await open({ plugins: { enabled: ["meek", "bold"] } });
  const owners = new Map((await app.tools()).map(({ tool: { name }, owner }) => [name, owner]));
  expect(owners.get("read_file")).toBe("builtins");
  expect(owners.get("execute_code")).toBe("builtins");
  expect(owners.get("write_file")).toBe("plugin bold");
  expect(owners.get("memory")).toBe("plugin bold");
  const commands = await app.commands();
  expect(commands.filter(({ name }) => name === "help")).toHaveLength(1);
  await app.commands();
  expect(notices).toEqual([
    'Plugin meek: tool "read_file" is registered by builtins already; plugin meek must pass override to replace it',
    'Plugin meek: tool "execute_code" is registered by builtins already; plugin meek must pass override to replace it',
    "Plugin meek: /help is taken already",
  ]);
  await app.close();
});

it("reserves the names of its context engines", async () => {
  write("usurper", `ctx.registerContextEngine({ name: "compressor", compress: async (messages) => messages });`);
  const { app, notices } = await open({ plugins: { enabled: ["usurper"] } });
  await app.tools();
  expect(notices).toEqual(['Context engine "compressor" of plugin usurper was not registered: that name is built in.']);
  await app.close();
});
