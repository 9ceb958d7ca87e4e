import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Gate } from "../core/gate.ts";
import { absentHuman } from "../core/human.ts";
import type { MemoryInit, MemoryProvider } from "../core/memory.ts";
import type { JsonObject } from "../core/message.ts";
import type { ToolContext } from "../core/tool/tool.ts";
import { fenceRecall, stripRecall } from "./fence.ts";
import { MemoryService } from "./memory-service.ts";
import { memoryTool } from "./memory-tool.ts";
import { Notes } from "./notes.ts";

let dir = "";
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "memory-"));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const init: MemoryInit = {
  sessionId: "s1",
  hermesHome: "/home/x/.hermes",
  platform: "cli",
  agentContext: "primary",
  agentIdentity: "default",
  agentWorkspace: "hermes",
  userId: "u1",
  sessionTitle: "Trip",
};

/** A provider that records every call. */
function recorder(name = "recorder"): MemoryProvider & { readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const log = (...call: unknown[]) => void calls.push(call);
  return {
    name,
    calls,
    isAvailable: () => true,
    initialize: async (given) => log("initialize", given),
    systemPromptBlock: () => "External block.",
    prefetch: async (...args) => {
      log("prefetch", ...args);
      return "<memory-context>likes</memory-context> tea";
    },
    queuePrefetch: (...args) => log("queuePrefetch", ...args),
    syncTurn: (...args) => log("syncTurn", ...args),
    getToolSchemas: () => [
      { name: "recorder_search", description: "", parameters: { type: "object" } },
      { name: "memory", description: "clash", parameters: { type: "object" } },
    ],
    handleToolCall: async (...args) => {
      log("tool", ...args);
      return '{"ok":true}';
    },
    shutdown: async () => log("shutdown"),
    onTurnStart: async (...args) => log("onTurnStart", ...args),
    onSessionEnd: async (...args) => log("onSessionEnd", ...args),
    onSessionSwitch: async (...args) => log("onSessionSwitch", ...args),
    onPreCompress: async () => "Keep: lives in Lyon",
    onMemoryWrite: async (...args) => log("onMemoryWrite", ...args),
    onDelegation: async (...args) => log("onDelegation", ...args),
  };
}

const notes = () => new Notes({ dir });

test("a provider is called at every step of a session, with its arguments", async () => {
  const provider = recorder();
  const memory = await MemoryService.open({ notes: notes(), providers: [provider], init });
  await memory.turnStarted(1, "hello");
  expect(await memory.recall("hello", "s1")).toMatch(
    /^<memory-context>\n\[System note: [^\]]+\]\n\nlikes tea\n<\/memory-context>$/,
  );
  memory.turnEnded("hello", "hi", "s1");
  expect(await memory.beforeCompaction([])).toBe("Keep: lives in Lyon");
  await memory.sessionEnded([{ role: "user", content: "hello" }]);
  await memory.sessionSwitched("s2", { parentSessionId: "s1", reset: false, reason: "compression" });
  await memory.delegated("task", "result", "child");
  expect(await memory.callTool("recorder_search", { q: "x" })).toBe('{"ok":true}');
  expect(memory.toolSchemas.map((schema) => schema.name)).toEqual(["recorder_search"]);
  await memory.close();
  expect(provider.calls).toEqual([
    ["initialize", init],
    ["onTurnStart", 1, "hello"],
    ["prefetch", "hello", "s1"],
    ["syncTurn", "hello", "hi", "s1"],
    ["queuePrefetch", "hello", "s1"],
    ["onSessionEnd", [{ role: "user", content: "hello" }]],
    ["onSessionSwitch", "s2", { parentSessionId: "s1", reset: false, reason: "compression" }],
    ["onDelegation", "task", "result", "child"],
    ["tool", "recorder_search", { q: "x" }],
    ["shutdown"],
  ]);
});

test("add, replace and remove are mirrored when they succeed, and only then", async () => {
  const provider = recorder();
  const heard: JsonObject[] = [];
  const hooks = {
    listens: () => true,
    run: async (_: string, args: JsonObject) => {
      heard.push(args);
      return [];
    },
  };
  const memory = await MemoryService.open({ notes: notes(), providers: [provider], init, hooks });
  const meta = { session_id: "s1" };
  await memory.write("memory", { action: "add", content: "one" }, meta);
  await memory.write("memory", { action: "add", content: "one" }, meta);
  await memory.write("memory", { action: "add", content: "x".repeat(3_000) }, meta);
  await memory.write("memory", { action: "replace", oldText: "one", content: "two" }, meta);
  await memory.write("memory", { action: "remove", oldText: "nothing" }, meta);
  await memory.write("memory", { action: "remove", oldText: "tw" }, meta);
  const mirrored = provider.calls.filter((call) => call[0] === "onMemoryWrite").map((call) => call[1]);
  expect(mirrored).toEqual([
    { action: "add", target: "memory", content: "one", metadata: meta },
    { action: "replace", target: "memory", content: "two", metadata: meta },
    { action: "remove", target: "memory", content: "two", metadata: meta },
  ]);
  expect(heard).toHaveLength(3);
});

test("a second provider is not used and causes a warning", async () => {
  const second = recorder("second");
  const warnings: string[] = [];
  const options = { notes: notes(), providers: [recorder("first"), second], init };
  const memory = await MemoryService.open({ ...options, onWarning: (text) => warnings.push(text) });
  expect(memory.providerName).toBe("first");
  expect(second.calls).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("second is not used")]);
});

test("a provider that throws or hangs breaks nothing", async () => {
  const never = () => new Promise<never>(() => undefined);
  const boom = () => {
    throw new Error("boom");
  };
  const bad: MemoryProvider = {
    ...recorder("bad"),
    prefetch: never,
    syncTurn: boom,
    onTurnStart: never,
    onPreCompress: async () => boom(),
    handleToolCall: never,
    getToolSchemas: boom,
    systemPromptBlock: boom,
    shutdown: never,
  };
  const warnings: string[] = [];
  const deadlines = { prefetch: 20, hook: 20, tool: 20, initialize: 20 };
  const memory = await MemoryService.open({
    notes: notes(),
    providers: [bad],
    init,
    deadlines,
    onWarning: (text) => warnings.push(text),
  });
  await memory.turnStarted(1, "x");
  expect(await memory.recall("x", "s1")).toBe("");
  memory.turnEnded("x", "y", "s1");
  expect(await memory.beforeCompaction([])).toBe("");
  expect(await memory.snapshot()).toBe("");
  expect(memory.toolSchemas).toEqual([]);
  expect(JSON.parse(await memory.callTool("t", {}))).toHaveProperty("error");
  await memory.close();
  expect(warnings.length).toBeGreaterThanOrEqual(7);
  expect(warnings.every((text) => text.startsWith("Memory provider bad"))).toBe(true);
});

test("a provider that cannot start leaves the notes working", async () => {
  const failing: MemoryProvider = { ...recorder(), initialize: () => Promise.reject(new Error("no key")) };
  const memory = await MemoryService.open({ notes: notes(), providers: [failing], init });
  expect(memory.providerName).toBeUndefined();
  expect((await memory.write("user", { action: "add", content: "Anna" }, {})).success).toBe(true);
});

test("the snapshot does not change during a session", async () => {
  const memory = await MemoryService.open({ notes: notes(), init });
  await memory.write("memory", { action: "add", content: "one" }, {});
  const first = await memory.snapshot();
  await memory.write("memory", { action: "add", content: "two" }, {});
  expect(await memory.snapshot()).toBe(first);
  await memory.beforeCompaction([]);
  const second = await memory.snapshot();
  expect(second).toContain("two");
  await memory.write("memory", { action: "add", content: "three" }, {});
  await memory.sessionSwitched("s2", { reset: true });
  expect(await memory.snapshot()).toContain("three");
  await memory.close();
});

test("tags are removed from stored text and cannot be forged", () => {
  expect(stripRecall("hi\n\n<memory-context>\nx\n</memory-context>")).toBe("hi");
  expect(fenceRecall("a</memory-context>b").match(/<\/memory-context>/g)).toHaveLength(1);
  expect(fenceRecall("  ")).toBe("");
});

function context(tainted = false): ToolContext {
  const signal = new AbortController().signal;
  return {
    sessionId: "s1",
    conversationId: "c",
    callId: "k",
    cwd: "/",
    depth: 0,
    signal,
    human: absentHuman,
    tainted,
    progress: () => undefined,
  };
}

test("the tool writes, explains what is missing, and asks the gate", async () => {
  const memory = await MemoryService.open({ notes: notes(), init });
  const asked: boolean[] = [];
  const gate: Gate = {
    beginTurn: () => undefined,
    check: async (_, { tainted }) => {
      asked.push(tainted);
      return tainted
        ? { allowed: false, status: "denied", message: "Not from a web page.", rule: "taint" }
        : { allowed: true, how: "harmless" };
    },
  };
  const tool = memoryTool({ memory, gate, platform: "cli" });
  const answer = async (args: object, tainted = false) =>
    JSON.parse(String((await tool.run(args, context(tainted))).content));
  expect(await answer({ action: "add", target: "memory", content: "one" })).toMatchObject({
    success: true,
    entries: ["one"],
  });
  expect(await answer({ action: "replace", target: "memory", content: "two" })).toHaveProperty("error");
  expect(await answer({ action: "add", target: "memory", content: "three" }, true)).toMatchObject({
    error: "Not from a web page.",
  });
  expect(asked).toEqual([false, true]);
  expect(await notes().entries("memory")).toEqual(["one"]);
});
