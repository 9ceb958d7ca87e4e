// Every hook, called by a real conversation: when, with which arguments, and the effect of its result.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openApp } from "../src/app/compose.ts";
import { HOOK_NAMES, type HookName } from "../src/core/hook.ts";
import type { ApprovalAnswer, Human } from "../src/core/human.ts";
import type { JsonObject } from "../src/core/message.ts";
import { openHome } from "../src/home/api.ts";
import { workspaceEnv } from "./kit/home-workspace.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: string;
let model: FakeLlm;

beforeEach(async () => {
  home = tempDir("hermes-hooks-");
  model = await startFakeLlm({ flavour: "cloud" });
});

afterEach(async () => {
  await model.close();
  rmSync(home, { recursive: true, force: true });
});

/** A plugin that writes down every call of every hook, and answers what its settings say. */
const WITNESS = `import { appendFileSync } from "node:fs";
export function register(ctx) {
  for (const name of ${JSON.stringify(HOOK_NAMES)})
    ctx.registerHook(name, (args) => {
      appendFileSync(ctx.config.log, JSON.stringify({ name, args }) + "\\n");
      return ctx.config.answers?.[name] ?? null;
    });
}`;

interface Seen {
  readonly name: HookName;
  readonly args: JsonObject;
}

function install(answers: { readonly [hook in HookName]?: unknown } = {}): void {
  const dir = join(home, "plugins", "witness");
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, "plugin.yaml"), JSON.stringify({ name: "witness", api: 1 }));
  writeFileSync(join(dir, "index.js"), WITNESS);
  const config = {
    model: { default: "scripted", provider: "custom", base_url: `${model.url}/v1`, context_length: 128_000 },
    plugins: { enabled: ["witness"], entries: { witness: { log: join(home, "seen.jsonl"), answers } } },
    delegation: { max_iterations: 2 },
  };
  writeFileSync(join(home, "config.yaml"), JSON.stringify(config));
}

function seen(): Seen[] {
  const file = join(home, "seen.jsonl");
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line) as Seen);
}

const scriptedHuman = (answer: ApprovalAnswer): Human => ({
  present: true,
  approve: async () => answer,
  clarify: async () => null,
  secret: async () => null,
});

/** One turn of one conversation, to its end. */
async function turn(input: string, human: Human = scriptedHuman({ choice: "once" })): Promise<string> {
  const env = { ...workspaceEnv(home, home), HERMES_HOME: home, PATH: process.env.PATH ?? "" };
  const opened = openHome([], { env, cwd: home, platform: "linux", homedir: home });
  const app = await openApp(opened.home);
  const { conversation } = await app.openConversation({ human });
  let last = "";
  for await (const event of conversation.send(input, { signal: new AbortController().signal }))
    if (event.type === "ended") last = event.text;
  await conversation.close();
  await app.close();
  return last;
}

const call = (name: string, args: Readonly<Record<string, unknown>>) => calls([{ name, args }]);

describe("in one turn with a command, a note, a subagent and a question", () => {
  let all: Seen[];

  beforeEach(async () => {
    install();
    mkdirSync(join(home, "goner"));
    model.enqueue(
      call("terminal", { command: "echo from the shell" }),
      call("memory", { action: "add", target: "memory", content: "The sky is blue" }),
      call("delegate_task", { goal: "say hi" }),
      text("hi from the child"),
      call("terminal", { command: `rm -rf ${join(home, "goner")}` }),
      text("All done."),
      text("A title"),
    );
    expect(await turn("please do things")).toBe("All done.");
    all = seen();
  });

  const chat = { session_id: expect.any(String), platform: "cli", model: "scripted" };
  const tool = { session_id: expect.any(String), task_id: expect.any(String), tool_call_id: expect.any(String) };
  const api = {
    ...chat,
    task_id: expect.any(String),
    provider: "custom",
    base_url: expect.stringContaining("127.0.0.1"),
    api_mode: "chat_completions",
    api_call_count: 1,
    message_count: expect.any(Number),
  };
  const approval = {
    command: expect.stringContaining("rm -rf"),
    description: expect.any(String),
    pattern_key: expect.any(String),
    pattern_keys: [expect.any(String)],
    session_key: expect.any(String),
    surface: "cli",
  };
  const shell = { tool_name: "terminal", args: { command: "echo from the shell" } };
  const history = [expect.objectContaining({ role: "user", content: "please do things" })];
  const TABLE: { readonly [hook in HookName]?: JsonObject } = {
    on_session_start: chat,
    pre_llm_call: {
      ...chat,
      user_message: "please do things",
      conversation_history: history as never,
      is_first_turn: true,
    },
    pre_api_request: {
      ...api,
      user_message: "please do things",
      request_messages: expect.any(Array),
      tool_count: expect.any(Number),
      approx_input_tokens: expect.any(Number),
      request_char_count: expect.any(Number),
    },
    post_api_request: {
      ...api,
      api_duration: expect.any(Number),
      finish_reason: "tool_calls",
      response_model: expect.any(String),
      usage: expect.any(Object),
      assistant_message: expect.objectContaining({ role: "assistant" }),
      assistant_content_chars: 0,
      assistant_tool_call_count: 1,
    },
    pre_tool_call: { ...tool, ...shell },
    post_tool_call: {
      ...tool,
      ...shell,
      result: expect.stringContaining("from the shell"),
      duration_ms: expect.any(Number),
    },
    transform_tool_result: { ...tool, ...shell, result: expect.stringContaining("from the shell") },
    transform_terminal_output: {
      command: "echo from the shell",
      output: "from the shell",
      returncode: 0,
      task_id: expect.any(String),
      env_type: "local",
    },
    on_memory_write: { action: "add", target: "memory", content: "The sky is blue", metadata: expect.any(Object) },
    subagent_stop: {
      parent_session_id: expect.any(String),
      child_role: expect.any(String),
      child_summary: expect.stringContaining("hi from the child"),
      child_status: "completed",
      duration_ms: expect.any(Number),
    },
    pre_approval_request: approval,
    post_approval_response: { ...approval, choice: "once" },
    transform_llm_output: { ...chat, response_text: "All done." },
    post_llm_call: {
      ...chat,
      user_message: "please do things",
      assistant_response: "All done.",
      conversation_history: expect.arrayContaining(history) as never,
    },
    on_session_end: { ...chat, completed: true, interrupted: false },
    on_session_finalize: { session_id: expect.any(String), platform: "cli" },
  };

  it("every hook fires with its arguments, in the expected order", () => {
    for (const [name, args] of Object.entries(TABLE)) {
      const first = all.find((one) => one.name === name && one.args.platform !== "tool");
      expect({ name, ...first?.args }, name).toMatchObject({ name, ...args });
    }
    const missing = HOOK_NAMES.filter((name) => !(name in TABLE));
    // A new session of the terminal and the messages of chats have their own tests.
    expect(missing).toEqual(["on_session_reset", "pre_gateway_dispatch"]);
    const main = all[0]?.args.session_id;
    const order = all.filter(({ args }) => args.session_id === main).map(({ name }) => name);
    expect(order.slice(0, 4)).toEqual(["on_session_start", "pre_llm_call", "pre_api_request", "post_api_request"]);
    expect(order.slice(-4)).toEqual(["transform_llm_output", "post_llm_call", "on_session_end", "on_session_finalize"]);
    expect(order.indexOf("pre_tool_call")).toBeLessThan(order.indexOf("transform_terminal_output"));
    expect(order.indexOf("post_tool_call")).toBeLessThan(order.indexOf("transform_tool_result"));
  });
});

describe("the effect of a hook result", () => {
  const bodies = () => model.requests.map(({ body }) => JSON.stringify(body));
  const shell = call("terminal", { command: "echo original" });

  it("pre_tool_call: a block with a message is the result, and nothing ran", async () => {
    install({ pre_tool_call: { action: "block", message: "not on Sundays" } });
    model.enqueue(call("terminal", { command: "touch made" }), text("ok"), text("t"));
    await turn("go");
    expect(bodies()[1]).toContain("not on Sundays");
    expect(existsSync(join(home, "made"))).toBe(false);
    expect(seen().some(({ name }) => name === "transform_terminal_output")).toBe(false);
  });

  it("transform_terminal_output and transform_tool_result: the model reads the text instead", async () => {
    install({ transform_terminal_output: "rewritten output" });
    model.enqueue(shell, text("ok"), text("t"));
    await turn("go");
    expect(bodies()[1]).toContain("rewritten output");
    install({ transform_tool_result: "rewritten result" });
    model.enqueue(shell, text("ok"), text("t"));
    await turn("go");
    const last = bodies().findLast((body) => body.includes("rewritten result"));
    expect(last).not.toContain("original\\n");
  });

  it("pre_llm_call: the context goes with this message and is not stored", async () => {
    install({ pre_llm_call: { context: "It is raining." } });
    model.enqueue(text("ok"), text("t"));
    await turn("go");
    expect(bodies()[0]).toContain("It is raining.");
    expect(readFileSync(join(home, "state.db")).includes("It is raining.")).toBe(false);
  });

  it("transform_llm_output: the user sees the changed text, and post_llm_call receives it", async () => {
    install({ transform_llm_output: "Said differently." });
    model.enqueue(text("Said plainly."), text("t"));
    expect(await turn("go")).toBe("Said differently.");
    expect(seen().find(({ name }) => name === "post_llm_call")?.args.assistant_response).toBe("Said differently.");
  });

  it("post_approval_response: no answer in time is a timeout", async () => {
    install();
    model.enqueue(call("terminal", { command: "rm -rf /var/tmp/nothing-here-at-all" }), text("ok"), text("t"));
    await turn("go", scriptedHuman({ choice: "deny", unattended: true }));
    expect(seen().find(({ name }) => name === "post_approval_response")?.args.choice).toBe("timeout");
  });

  it("on_session_end after a failed model call says so", async () => {
    install();
    await model.close();
    await turn("go");
    model = await startFakeLlm({ flavour: "cloud" });
    expect(seen().find(({ name }) => name === "on_session_end")?.args).toMatchObject({ completed: false });
    expect(seen().some(({ name }) => name === "post_llm_call")).toBe(false);
  });
});

it("on_session_reset: /new in the terminal finishes one session and names the next", async () => {
  install();
  model.enqueue(...Array.from({ length: 6 }, () => text("ok")));
  await runHermes([], { home, stdin: "one\n/new\ntwo\n/quit\n" });
  const sessionEvents = seen().filter(({ name }) => /^on_session_(start|finalize|reset)$/.test(name));
  expect(sessionEvents.map(({ name }) => name)).toEqual([
    "on_session_start",
    "on_session_finalize",
    "on_session_reset",
    "on_session_start",
    "on_session_finalize",
  ]);
  expect(sessionEvents[2]?.args).toEqual({ session_id: sessionEvents[3]?.args.session_id, platform: "cli" });
});
