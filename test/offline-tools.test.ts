import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { judgeSummary, summaryPrompt } from "../src/context/compaction/summary-prompt.ts";
import { contentText, type Message } from "../src/core/message.ts";
import type { Tool } from "../src/core/tool/tool.ts";
import { offline } from "../src/providers/transports/offline.ts";
import { localFiles } from "../src/tools/files/file-access.ts";
import { FileMemory } from "../src/tools/files/file-memory.ts";
import { readFileTool } from "../src/tools/files/read-file.ts";
import { searchFilesTool } from "../src/tools/files/search-files.ts";
import { writeFileTool } from "../src/tools/files/write-file.ts";
import { openGate, plainRedactor, tempFolder, toolContext } from "./kit/tool-context.ts";
import { gather, transportCall } from "./kit/transport-call.ts";

let folder: ReturnType<typeof tempFolder>;
let tools: Tool[];
let messages: Message[];

beforeEach(() => {
  folder = tempFolder();
  messages = [];
  const parts = {
    files: localFiles,
    gate: openGate,
    redactor: plainRedactor,
    memory: new FileMemory(),
    limits: { maxReadChars: 100_000, maxLines: 2_000, maxLineChars: 2_000 },
  };
  tools = [readFileTool(parts), writeFileTool(parts), searchFilesTool(parts)];
});
afterEach(() => folder.remove());

/** One turn of the offline model with real tools, in one growing conversation. */
async function say(text: string): Promise<string> {
  messages.push({ role: "user", content: text });
  const schemas = tools.map(({ name, description, parameters }) => ({
    name,
    description,
    parameters: { ...parameters },
  }));
  for (let round = 0; round < 5; round++) {
    const { done } = await gather(offline(), transportCall({ request: { messages, tools: schemas as never } }));
    messages.push(done.message);
    const call = done.message.tool_calls?.[0];
    if (!call) return contentText(done.message.content);
    const tool = tools.find((item) => item.name === call.function.name);
    const result = await tool?.run(JSON.parse(call.function.arguments) as never, toolContext(folder.path));
    const content = result?.content ?? "";
    messages.push({ role: "tool", content, tool_call_id: call.id, tool_name: call.function.name });
  }
  throw new Error("the turn did not end");
}

describe("the offline model with the real file tools", () => {
  test("writes, reads, reads again, lists, searches and summarises", async () => {
    expect(await say('write "buy milk" to list.txt')).toContain("Wrote `list.txt`");
    expect(readFileSync(join(folder.path, "list.txt"), "utf8")).toBe("buy milk\n");
    expect(await say("read list.txt")).toContain("buy milk");
    expect(await say("please show me list.txt")).toContain("buy milk");
    expect(await say("read list.txt")).toContain("buy milk");
    writeFileSync(join(folder.path, "notes.md"), "The atlas server runs the shop.\nThe shop sells tea.\nRain fell.\n");
    expect(await say("list the files")).toMatch(/2 files here:\n- (list\.txt|notes\.md)/);
    expect(await say("search for atlas")).toContain("notes.md:1: The atlas server runs the shop.");
    expect(await say("search for nothingness")).toContain("Nothing found");
    expect(await say("summarise notes.md")).toContain("- The atlas server runs the shop.");
    expect(await say("read missing.md")).toContain("That did not work: no such file");
  });
});

test("its summaries are good enough for the context engine, also when they update earlier ones", async () => {
  const turn = (index: number) =>
    `[USER]: Step ${index}: set retries to ${index * 7} in src/job-${index}.ts\n\n[ASSISTANT]: I changed src/job-${index}.ts and ran the tests.\n[Tool calls: terminal({"command":"npm test"})]\n\n[TOOL RESULT c${index}]: ok, ${index * 11} tests passed`;
  const content = Array.from({ length: 30 }, (_, index) => turn(index + 1)).join("\n\n");
  let previous = "";
  for (let pass = 0; pass < 2; pass++) {
    const request = { content, previous, budget: 2000 };
    const messages: Message[] = [{ role: "user", content: summaryPrompt(request) }];
    const { done, text } = await gather(
      offline(),
      transportCall({ request: { messages, system: "", purpose: "compression" } }),
    );
    const identity = { provider: "offline", model: "offline", baseUrl: "", transport: "offline" } as const;
    const verdict = judgeSummary({ ok: true, text, finishReason: done.finishReason, identity }, request);
    expect(verdict).toMatchObject({ kind: "good" });
    expect(text).toContain("Step 30: set retries to 210 in src/job-30.ts");
    previous = text;
  }
});
