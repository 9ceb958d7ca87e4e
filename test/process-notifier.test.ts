import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { expect, it } from "vitest";
import { hermesProgram } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, startFakeLlm, text } from "./servers/fake-llm.ts";

it("notifies the user and the agent when a background process has ended", async () => {
  const home = tempDir("hermes-isNotice-");
  const isNotice = (sent: string) => sent.includes("[background process proc_");
  const llm = await startFakeLlm({
    script: ({ messages, tools }) => {
      const last = messages.at(-1);
      if (tools.length === 0) return text("A title");
      if (last?.role === "user" && isNotice(last.text)) return text("It has finished, I see.");
      if (last?.role === "tool") return text("It is on its way.");
      const args = { command: "sleep 1.5; echo all-built @url:http://x/", background: true, notify_on_complete: true };
      return calls([{ name: "terminal", args }]);
    },
  });
  writeFileSync(
    join(home, "config.yaml"),
    `model:\n  default: test-model\n  provider: custom\n  base_url: ${llm.url}/v1\n  context_length: 128000\n`,
  );
  const env = { PATH: process.env.PATH ?? "", HOME: home, HERMES_HOME: home, NO_COLOR: "1", TERM: "xterm" };
  const terminal = spawn(process.execPath, [hermesProgram()], { cwd: home, env, cols: 200, rows: 50 });
  let screen = "";
  terminal.onData((data) => (screen += data));
  const gone = new Promise<void>((resolve) => terminal.onExit(() => resolve()));
  try {
    await expect.poll(() => screen, { timeout: 20_000 }).toContain("❯");
    terminal.write("build it\r");
    await expect.poll(() => screen, { timeout: 20_000 }).toContain("It is on its way.");
    await expect.poll(() => screen, { timeout: 20_000 }).toMatch(/background process proc_\w+ ended/);
    await expect.poll(() => screen, { timeout: 20_000 }).toContain("It has finished, I see.");
    const resultMessage = llm.requests.flatMap((request) => request.messages).find((message) => isNotice(message.text));
    expect(resultMessage).toMatchObject({ role: "user", text: expect.stringContaining("all-built @url:http://x/") });
    terminal.write("\u0004");
    await gone;
  } finally {
    terminal.kill("SIGKILL");
    await llm.close();
    rmSync(home, { recursive: true, force: true });
  }
}, 90_000);
