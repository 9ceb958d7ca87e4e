import { describe, expect, test } from "vitest";
import { gather, transportCall } from "../../../test/kit/transport-call.ts";
import type { Message } from "../../core/message.ts";
import type { ModelRequest, ToolSchema } from "../../core/model/provider.ts";
import { offline } from "./offline.ts";

const tool = (name: string, ...names: string[]): ToolSchema => ({
  name,
  description: name,
  parameters: { type: "object", properties: Object.fromEntries(names.map((key) => [key, { type: "string" }])) },
});
const TOOLS = [
  tool("read_file", "path", "offset", "limit"),
  tool("write_file", "path", "content"),
  tool("search_files", "pattern", "target", "path"),
  tool("terminal", "command"),
  tool("memory", "action", "target", "content", "old_text"),
];

const ask = (request: Partial<ModelRequest>) =>
  gather(offline(), transportCall({ request: { tools: TOOLS, ...request } }));

/** Plays a turn to its end with results by tool name. */
async function play(text: string, results: Record<string, string>, tools = TOOLS) {
  const messages: Message[] = [{ role: "user", content: text }];
  const used: string[] = [];
  for (let round = 0; round < 6; round++) {
    const { done } = await ask({ messages, tools });
    messages.push(done.message);
    if (done.finishReason === "stop") return { answer: String(done.message.content), used };
    for (const call of done.message.tool_calls ?? []) {
      used.push(`${call.function.name} ${call.function.arguments}`);
      const content = results[call.function.name] ?? '{"error":"no such tool"}';
      messages.push({ role: "tool", content, tool_call_id: call.id, tool_name: call.function.name });
    }
  }
  throw new Error("the turn did not end");
}

describe("the offline model", () => {
  test("greets, says what it is and how to connect a model", async () => {
    const { text, done } = await ask({ messages: [{ role: "user", content: "hello" }] });
    expect(text).toContain("[offline model]");
    expect(text.match(/\[offline model\]/g)).toHaveLength(1);
    expect(text).toContain("hermes setup");
    expect(text).toContain(".env");
    expect(text).toMatch(/Ollama/);
    expect(done.usage.input).toBeGreaterThan(0);
  });

  test("uses tools and reports their results", async () => {
    const { answer, used } = await play('write "hi" to a.txt then read a.txt', {
      write_file: '{"bytes_written":3}',
      read_file: '{"content":"1|hi","total_lines":1}',
    });
    expect(used).toEqual(['write_file {"content":"hi\\n","path":"a.txt"}', 'read_file {"path":"a.txt"}']);
    expect(answer).toContain("Wrote `a.txt` (3 bytes)");
    expect(answer).toContain("```\nhi\n```");
    expect(answer.match(/\[offline model\]/g)).toHaveLength(1);
  });

  test("reports failures and stops there", async () => {
    const { answer, used } = await play("read nope.txt then run ls", {
      read_file: '{"error":"no such file: nope.txt"}',
    });
    expect(used).toHaveLength(1);
    expect(answer).toContain("That did not work: no such file: nope.txt");
  });

  test("runs commands, searches, remembers", async () => {
    expect((await play("run echo hi", { terminal: '{"output":"hi\\n","exit_code":0}' })).answer).toContain("hi");
    expect((await play("run false", { terminal: '{"output":"","exit_code":1}' })).answer).toContain("exit code 1");
    const hits = '{"total_count":1,"matches":[{"path":"a.ts","line":3,"content":"// TODO"}]}\n\n[more: offset 50]';
    expect((await play("search for TODO", { search_files: hits })).answer).toContain("a.ts:3: // TODO");
    const kept = '{"success":true,"entry_count":2}';
    expect((await play("remember that I like tea", { memory: kept })).answer).toContain("I will remember");
  });

  test("calls only tools that exist", async () => {
    const listing = await play("list the files", { terminal: '{"output":"a b","exit_code":0}' }, [
      tool("terminal", "command"),
    ]);
    expect(listing.used).toEqual([`terminal {"command":"ls -la -- '.'"}`]);
    const none = await play("run ls", {}, []);
    expect([none.used, none.answer.includes("`terminal`")]).toEqual([[], true]);
  });

  test("repeats a call in a later turn under another id", async () => {
    const messages: Message[] = [{ role: "user", content: "run date" }];
    const first = await ask({ messages });
    const id = first.done.message.tool_calls?.[0]?.id ?? "";
    messages.push(first.done.message, { role: "tool", content: "{}", tool_call_id: id, tool_name: "terminal" });
    messages.push({ role: "assistant", content: "done" }, { role: "user", content: "run date" });
    expect((await ask({ messages })).done.message.tool_calls?.[0]?.id).not.toBe(id);
  });

  test("lists the notes in the prompt", async () => {
    const system = `You.\n\n${"═".repeat(46)}\nUSER PROFILE (who the user is) [5% — 20/1375 chars]\n${"═".repeat(46)}\nLikes tea\n§\nLives in Graz`;
    const { text } = await ask({ system, messages: [{ role: "user", content: "what do you know about me?" }] });
    expect(text).toContain("- Likes tea");
    expect(text).toContain("- Lives in Graz");
  });

  test("serves titles and summaries without its label", async () => {
    const title = await ask({
      purpose: "title_generation",
      tools: [],
      messages: [
        {
          role: "user",
          content: "Name this.\n\nUser: Please fix the login page of the shop today\n\nAssistant: Sure.",
        },
      ],
    });
    expect(title.text).toBe("Fix the login page of the shop");
    const turns =
      "[USER]: Deploy version 4.2 to atlas\n\n[ASSISTANT]: I deployed it.\n[Tool calls: terminal({})]\n\n[TOOL RESULT c1]: error: port 8443 in use\n\n[USER]: Use port 9000 then";
    const summary = await ask({
      purpose: "compression",
      tools: [],
      messages: [{ role: "user", content: `Condense. Aim for about 500 tokens.\n\nTURNS:\n${turns}` }],
    });
    expect(summary.text).toContain("## Active Task");
    for (const fact of ["Use port 9000 then", "8443", "version 4.2"]) expect(summary.text).toContain(fact);
    expect(summary.text).not.toContain("offline model");
  });

  test("stops on abort", async () => {
    const controller = new AbortController();
    controller.abort();
    await expect(gather(offline(), transportCall({ signal: controller.signal }))).rejects.toMatchObject({
      kind: "aborted",
    });
  });
});
