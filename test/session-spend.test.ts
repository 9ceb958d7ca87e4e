// The budget of a conversation includes the sessions before a compaction.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openApp } from "../src/app/compose.ts";
import { absentHuman } from "../src/core/human.ts";
import { openHome } from "../src/home/api.ts";
import { collect, findEnd } from "./kit/scripted.ts";
import { tempHome } from "./kit/temp-home.ts";
import { startFakeLlm, text, usage } from "./servers/fake-llm.ts";

it("stops a conversation whose earlier sessions have used up the cap", async () => {
  const home = tempHome();
  // Each turn costs a tenth; summaries and titles cost nothing.
  const llm = await startFakeLlm({
    script: (request) =>
      request.tools.length > 0
        ? usage({ input: 10_000, output: 0 }, text(`A long answer. ${"It says many things. ".repeat(300)}`))
        : usage({ input: 0, output: 0 }, text("Short.")),
  });
  const model = `model:\n  default: m\n  provider: custom:a\n  context_length: 32000\n  pricing: {input: 10, output: 10}\n`;
  const provider = `providers:\n  a: {base_url: "${llm.url}/v1", api_key: k, model: m}\n`;
  writeFileSync(join(home.path, "config.yaml"), `${model}${provider}budget:\n  session_usd: 1.15\n`);
  const env = { PATH: process.env.PATH, HOME: home.path, HERMES_HOME: home.path };
  const opened = openHome([], { env, cwd: home.path, platform: process.platform, homedir: home.path });
  const app = await openApp(opened.home);
  try {
    const { conversation } = await app.openConversation({ human: absentHuman, source: "cli", platform: "cli" });
    const { signal } = new AbortController();
    const say = async () => findEnd(await collect(conversation.send("Tell me more, please.", { signal }))).end;
    const first = conversation.sessionId;
    for (let turn = 0; turn < 10; turn++) expect(await say()).toBe("done");
    expect((await conversation.compact()).shrunk).toBe(true);
    expect(conversation.sessionId).not.toBe(first);
    expect(await say()).toBe("done");
    expect((await conversation.compact()).shrunk).toBe(true);
    expect(await say()).toBe("done");
    const stopped = findEnd(await collect(conversation.send("One more?", { signal })));
    expect(stopped).toMatchObject({ end: "failed", failure: { kind: "budget_exceeded" } });
    // Another conversation has its own.
    const other = await app.openConversation({ human: absentHuman, source: "cli", platform: "cli" });
    expect(findEnd(await collect(other.conversation.send("Hello", { signal }))).end).toBe("done");
  } finally {
    await app.close();
    await llm.close();
    home.remove();
  }
});
