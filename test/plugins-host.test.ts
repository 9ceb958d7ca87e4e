import { cpSync, mkdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPluginHost } from "../src/app/open-plugins.ts";
import { openSettings } from "../src/config/api.ts";
import { Registry } from "../src/core/tool/tool-registry.ts";
import { openHome } from "../src/home/api.ts";
import { HookRunner } from "../src/plugins/hooks/hook-runner.ts";
import type { PluginHost } from "../src/plugins/plugin-host.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { toolContext } from "./kit/tool-context.ts";

let folder: string;
const open: PluginHost[] = [];

beforeEach(() => {
  folder = tempDir("hermes-host-");
});

afterEach(async () => {
  for (const host of open.splice(0)) await host.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Each plugin has its own file name, because Node imports a file only once. */
function plugin(path: string, manifest: object, code = "export function register() {}"): void {
  const file = join(folder, "plugins", path, "index.js");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(join(dirname(file), "plugin.yaml"), JSON.stringify({ api: 1, ...manifest }));
  writeFileSync(file, code);
}

async function host(config: object, env: { [name: string]: string } = {}) {
  writeFileSync(join(folder, "config.yaml"), JSON.stringify(config));
  const { home } = openHome([], {
    env: { HERMES_HOME: folder, ...env },
    cwd: folder,
    platform: "linux",
    homedir: folder,
  });
  const notices: string[] = [];
  const notice = (text: string) => void notices.push(text);
  const opened = await openPluginHost(home, (await openSettings(home).load()).config, { notice });
  open.push(opened);
  return { host: opened, notices, home };
}

const marker = (name: string) => join(folder, `${name}.ran`);
const marking = (name: string, body: string) =>
  `import { writeFileSync } from "node:fs";
export function register(ctx) {
  writeFileSync(${JSON.stringify(marker(name))}, "x");
  ${body}
}`;
const ran = (name: string) => {
  try {
    readFileSync(marker(name));
    rmSync(marker(name));
    return true;
  } catch {
    return false;
  }
};

const TOOL = `ctx.registerTool({ name: "t_" + ctx.name, description: "d", parameters: { type: "object", properties: {} }, run: async () => ({ content: "from " + ctx.name }) });`;

describe("which plugins run", () => {
  it("only those that are enabled; disabled takes precedence; a category is part of the key", async () => {
    plugin("a", { name: "a" });
    plugin("b", { name: "b" });
    plugin("tools/c", { name: "c" });
    const { host: opened } = await host({ plugins: { enabled: ["a", "b", "tools/c"], disabled: ["b"] } });
    const status = Object.fromEntries(opened.rows().map((row) => [row.key, row.status]));
    expect(status).toMatchObject({ a: "enabled", b: "disabled", "tools/c": "enabled" });
    expect(status["memory/holographic"]).toBe("not enabled");
  });

  it("a memory provider by its setting, not by the list", async () => {
    const enabled = await host({ plugins: { enabled: ["holographic"] } });
    expect(enabled.host.rows().find((row) => row.name === "holographic")?.status).toBe("not enabled");
    const selected = await host({ memory: { provider: "holographic" } });
    expect(selected.host.rows().find((row) => row.name === "holographic")?.status).toBe("selected");
    await selected.host.settle();
    expect((await selected.host.memoryProvider("holographic"))?.name).toBe("holographic");
  });

  it("npm packages with a hermes field, without their dependencies", async () => {
    for (const [name, hermes] of [
      ["one", { provides_tools: ["x"] }],
      ["dependency", { kind: "standalone" }],
    ] as const) {
      const dir = join(folder, "plugins", "node_modules", name);
      mkdirSync(dir, { recursive: true });
      writeFileSync(
        join(dir, "package.json"),
        JSON.stringify({ name, version: "2.0.0", type: "module", main: "main.js", hermes }),
      );
      writeFileSync(join(dir, "main.js"), "export function register() {}");
    }
    writeFileSync(join(folder, "plugins", "package.json"), JSON.stringify({ dependencies: { one: "2.0.0" } }));
    const { host: opened } = await host({ plugins: { enabled: ["one"] } });
    const rows = opened.rows().filter((row) => row.source === "npm");
    expect(rows).toMatchObject([{ key: "one", version: "2.0.0", status: "enabled" }]);
  });

  it("reports invalid manifests and Python plugins", async () => {
    plugin("odd", { name: "../evil", kind: "marvellous" });
    const python = join(folder, "plugins", "snake-charmer");
    mkdirSync(python, { recursive: true });
    writeFileSync(join(python, "plugin.yaml"), "name: snake-charmer\n");
    writeFileSync(join(python, "__init__.py"), "def register(ctx): pass\n");
    const { host: opened, notices } = await host({ plugins: { enabled: ["odd", "snake-charmer"] } });
    expect(
      opened
        .rows()
        .find((row) => row.key === "odd")
        ?.remarks.join(),
    ).toContain('kind "marvellous" is not known');
    await opened.settle();
    expect(notices.join()).toContain("snake-charmer is not loaded: it is written in Python");
  });
});

describe("when code is imported", () => {
  it("once to learn what it registers; after that on first use", async () => {
    plugin("lazy", { name: "lazy" }, marking("lazy", `${TOOL} ctx.registerHook("pre_llm_call", () => "hooked");`));
    const first = await host({ plugins: { enabled: ["lazy"] } });
    await first.host.settle();
    expect(ran("lazy")).toBe(true);

    const second = await host({ plugins: { enabled: ["lazy"] } });
    const registry = new Registry();
    const runner = new HookRunner({ notice: () => undefined });
    second.host.listen(runner);
    await second.host.settle();
    second.host.registerTools(registry);
    expect(registry.get("t_lazy")?.toolset).toBe("lazy");
    expect(runner.listens("pre_llm_call")).toBe(true);
    expect(runner.listens("post_llm_call")).toBe(false);
    expect(second.host.rows().find((row) => row.key === "lazy")?.loadMs).toBeGreaterThan(0);
    expect(ran("lazy")).toBe(false);
    expect(await registry.get("t_lazy")?.run({} as never, toolContext(folder))).toEqual({ content: "from lazy" });
    expect(ran("lazy")).toBe(true);
    expect(await runner.run("pre_llm_call", {})).toEqual(["hooked"]);
    expect(ran("lazy")).toBe(false);
  });

  it("again when its file or its settings change", async () => {
    plugin("fresh", { name: "fresh" }, marking("fresh", TOOL));
    await (await host({ plugins: { enabled: ["fresh"] } })).host.settle();
    expect(ran("fresh")).toBe(true);
    await (await host({ plugins: { enabled: ["fresh"], entries: { fresh: { colour: "red" } } } })).host.settle();
    expect(ran("fresh")).toBe(true);
    const entry = join(folder, "plugins", "fresh", "index.js");
    utimesSync(entry, new Date(), new Date(Date.now() + 5000));
    const third = await host({ plugins: { enabled: ["fresh"], entries: { fresh: { colour: "red" } } } });
    expect(third.host.rows().find((row) => row.key === "fresh")?.registrations).toBeUndefined();
  });

  it("nothing of a plugin with an unsupported API level", async () => {
    plugin("future", { name: "future", api: 9 }, marking("future", ""));
    const { host: opened, notices } = await host({ plugins: { enabled: ["future"] } });
    await opened.settle();
    await opened.loadAll();
    expect(ran("future")).toBe(false);
    expect(notices).toHaveLength(1);
    expect(notices[0]).toContain("needs plugin API 9");
  });
});

describe("what plugins may register", () => {
  it("a taken tool name needs override, those of conversations too", async () => {
    const tool = (name: string, options: string) =>
      `ctx.registerTool({ name: "${name}", description: "d", parameters: { type: "object" }, run: async () => ({ content: "mine" }) }${options});`;
    plugin(
      "over",
      { name: "over" },
      `export function register(ctx) { ${tool("read_file", ", { override: true }")} ${tool("memory", "")} ${tool("todo", "")} }`,
    );
    const { host: opened, notices } = await host({ plugins: { enabled: ["over"] } });
    const registry = new Registry();
    registry.reserve(["memory"]);
    for (const name of ["read_file", "todo"])
      registry.register({
        name,
        toolset: "file",
        description: "built in",
        parameters: {} as never,
        run: async () => ({ content: "built in" }),
      });
    await opened.settle();
    opened.registerTools(registry);
    opened.registerTools(registry);
    expect(registry.get("read_file")?.description).toBe("d");
    expect(registry.get("todo")?.description).toBe("built in");
    expect(notices.filter((text) => text.includes("override"))).toHaveLength(2);
  });

  it("one context engine; a second one is reported", async () => {
    const engine = (name: string) =>
      `export function register(ctx) { ctx.registerContextEngine({ name: "${name}", compress: async (m) => m.slice(-1) }); }`;
    plugin("e1", { name: "e1" }, engine("first"));
    plugin("e2", { name: "e2" }, engine("second"));
    const { host: opened, notices } = await host({ plugins: { enabled: ["e1", "e2"] }, context: { engine: "first" } });
    await opened.settle();
    expect(notices.join()).toContain(
      'Context engine "second" of plugin e2 was not registered: only one can be registered, and "first" of e1',
    );
    const made = await opened.contextEngine("first", { contextLength: 1000, model: "m" });
    expect(made?.thresholdTokens).toBe(500);
    expect(made?.shouldCompress(600)).toBe(true);
    made?.updateFromResponse({ promptTokens: 7, completionTokens: 1, totalTokens: 8 });
    expect(made?.getStatus?.()).toMatchObject({ lastPromptTokens: 7, contextLength: 1000, compressionCount: 0 });
    const outcome = await made?.compress(
      [
        { role: "user", content: "a" },
        { role: "user", content: "b" },
      ],
      { sessionId: "s" },
    );
    expect(outcome).toEqual({ messages: [{ role: "user", content: "b" }], method: "first", modelCalls: 0 });
    expect(await opened.contextEngine("second", { contextLength: 1, model: "m" })).toBeUndefined();
  });

  it("commands, providers, skills and model providers, known without code the second time", async () => {
    const code = `export function register(ctx) {
      ctx.registerCommand({ name: "/Big Help", run: () => "helped" });
      ctx.registerCommand({ name: "quit", run: () => "no" });
      ctx.registerProvider("image", { name: "painter", isAvailable: () => true });
      ctx.registerModelProvider({ name: "acme", baseUrl: "https://acme.example/v1" });
      ctx.registerSkill("fold", "skills/fold/SKILL.md");
      ctx.registerSkillRoot("skills");
      ctx.registerHook("pre_tool_cal", () => null);
    }`;
    plugin(
      "mixed",
      { name: "mixed", provides_model_providers: [{ name: "rows", base_url: "https://rows.example/v1" }, "acme"] },
      code,
    );
    const { host: opened, notices } = await host({ plugins: { enabled: ["mixed"] } });
    expect((await opened.modelProviders()).map((row) => row.name)).toEqual(["rows", "acme"]);
    await opened.settle();
    expect(notices.join()).toContain('there is no hook "pre_tool_cal"; did you mean "pre_tool_call"?');
    const again = (await host({ plugins: { enabled: ["mixed"] } })).host;
    const quit = { name: "quit", summary: "", run: async () => ({ type: "quit" as const }) };
    expect(again.commands([quit]).map((command) => command.name)).toEqual(["big-help"]);
    expect(again.providerNames("image")).toEqual(["painter"]);
    expect(again.skills).toEqual([
      { name: "mixed:fold", path: join(folder, "plugins", "mixed", "skills/fold/SKILL.md"), description: "" },
    ]);
    expect(again.skillRoots).toEqual([join(folder, "plugins", "mixed", "skills")]);
    expect((await again.provider("image", "painter"))?.name).toBe("painter");
  });

  it("a database inside the home and nowhere else", async () => {
    const code = `export function register(ctx) {
      const db = ctx.openDatabase("own/facts.db");
      db.exec("CREATE TABLE IF NOT EXISTS t (x)");
      db.transaction(() => db.run("INSERT INTO t VALUES (?)", 1));
      for (const path of ["../outside.db", "state.db", "/tmp/elsewhere.db"]) {
        try { ctx.openDatabase(path); ctx.log.error("opened " + path); } catch { ctx.env.refused; }
      }
      ctx.onClose(() => ctx.log.error("closed with " + db.get("SELECT count(*) AS n FROM t").n));
    }`;
    plugin("db", { name: "db" }, code);
    const { host: opened, notices } = await host({ plugins: { enabled: ["db"] } });
    await opened.settle();
    await opened.close();
    open.splice(0);
    expect(notices).toEqual(["db: closed with 1"]);
  });
});

it("imports no code of 50 enabled plugins at the second start", async () => {
  for (let index = 0; index < 50; index++) plugin(`p${index}`, { name: `p${index}` }, marking(`p${index}`, TOOL));
  const enabled = Array.from({ length: 50 }, (_, index) => `p${index}`);
  await (await host({ plugins: { enabled } })).host.settle();
  for (const name of enabled) expect(ran(name)).toBe(true);
  const { host: opened } = await host({ plugins: { enabled } });
  const registry = new Registry();
  await opened.settle();
  opened.registerTools(registry);
  expect([...registry.toolsets().keys()]).toHaveLength(50);
  expect(enabled.some(ran)).toBe(false);
});

it("loads an example that imports nothing", async () => {
  cpSync(join(import.meta.dirname, "fixtures/plugins/hanger"), join(folder, "plugins", "hanger"), {
    recursive: true,
  });
  const { host: opened } = await host({ plugins: { enabled: ["hanger"] } });
  await opened.settle();
  expect(opened.rows().find((row) => row.key === "hanger")?.registrations?.hooks).toEqual(["pre_llm_call"]);
});
