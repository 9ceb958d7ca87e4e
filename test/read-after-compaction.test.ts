// After a compaction the model no longer has the content that it read: the same file can be read again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openApp } from "../src/app/compose.ts";
import { absentHuman } from "../src/core/human.ts";
import { openHome } from "../src/home/api.ts";
import { workspaceEnv } from "./kit/home-workspace.ts";
import { tempHome } from "./kit/temp-home.ts";
import { calls, startFakeLlm, text } from "./servers/fake-llm.ts";

it("returns the text of a file again after it left the window", async () => {
  const home = tempHome();
  const path = join(home.path, "notes.txt");
  writeFileSync(path, "the first line\nthe secret word is marzipan\n");
  let asked = 0;
  const llm = await startFakeLlm({
    script: (request) => {
      if (request.tools.length === 0) return text("A summary of what was said so far.");
      const { messages } = request.body as { messages: { role: string; content: unknown }[] };
      if (messages.at(-1)?.role === "tool") return text("Read.");
      const last = JSON.stringify(messages.at(-1)?.content ?? "");
      if (!last.includes("READ")) return text(`Fine. ${"More words about it. ".repeat(300)}`);
      asked += 1;
      return calls([{ name: "read_file", args: { path } }]);
    },
  });
  home.useModel(llm);
  const env = { ...workspaceEnv(home.path, home.path), PATH: process.env.PATH ?? "", HERMES_HOME: home.path };
  const opened = openHome([], { env, cwd: home.path, platform: process.platform, homedir: home.path });
  const app = await openApp(opened.home);
  try {
    const { conversation } = await app.openConversation({ human: absentHuman });
    const results: string[] = [];
    const say = async (words: string) => {
      for await (const event of conversation.send(words, { signal: new AbortController().signal }))
        if (event.type === "message" && event.message.role === "tool") results.push(String(event.message.content));
    };
    await say("READ it");
    await say("READ it again");
    for (let turn = 0; turn < 30; turn++) await say(`Tell me more. ${"A long question with many words. ".repeat(100)}`);
    expect((await conversation.compact()).shrunk).toBe(true);
    await say("READ it once more");
    expect(asked).toBe(3);
    expect(results[0]).toContain("marzipan");
    expect(results[1]).not.toContain("marzipan");
    expect(results[2]).toContain("marzipan");
    await conversation.close();
  } finally {
    await app.close();
    await llm.close();
    home.remove();
  }
}, 60_000);
