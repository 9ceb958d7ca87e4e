// A skill's variable and credential file reach commands in a container; the model and the engine's arguments never show them.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createHermes, type Hermes } from "../src/index.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

const SECRET = "gif-value-8812-qwertz";
let home: string;
let llm: FakeLlm;
let hermes: Hermes | undefined;

beforeEach(async () => {
  home = tempDir("hermes-remote-skill-");
  llm = await startFakeLlm();
});
afterEach(async () => {
  await hermes?.close();
  hermes = undefined;
  await llm.close();
  rmSync(home, { recursive: true, force: true });
});

function write(rel: string, content: string, mode = 0o644): void {
  mkdirSync(dirname(join(home, rel)), { recursive: true });
  writeFileSync(join(home, rel), content);
  chmodSync(join(home, rel), mode);
}

it("passes them after the skill was loaded, and removes the file at the end", async () => {
  const inside = join(home, "inside");
  mkdirSync(inside);
  // A fake engine: records its arguments and runs `exec` commands on this machine.
  write(
    "bin/docker",
    `#!/bin/bash
printf '%s\\n' "$*" >> ${home}/arguments
case $1 in exec) shift 3; cd ${inside}; HOME=${inside} exec "$@";; info) echo '{}';; ps) ;; *) echo ok;; esac
`,
    0o755,
  );
  const file = `tokens-${process.pid}-${Date.now()}/gif.json`;
  const there = `/tmp/.hermes/${file}`;
  write(`h/${file}`, `{"refresh":"${SECRET}-file"}`, 0o600);
  write("h/.env", `GIF_KEY=${SECRET}\n`, 0o600);
  write(
    "h/skills/own/gifs/SKILL.md",
    `---\nname: gifs\ndescription: Finds pictures\nrequired_environment_variables: [GIF_KEY]\nrequired_credential_files: [${file}]\n---\n\nFind one.\n`,
  );
  const command = { command: `echo "length \${#GIF_KEY} $GIF_KEY"; stat -c 'mode %a size %s' ${there}; cat ${there}` };
  llm.enqueue(
    calls([{ name: "terminal", args: command }]),
    calls([{ name: "skill_view", args: { name: "gifs" } }]),
    calls([{ name: "terminal", args: command }]),
    text("done"),
    text("A title"),
  );
  hermes = await createHermes({
    home: join(home, "h"),
    env: { PATH: `${join(home, "bin")}:/usr/bin:/bin`, HOME: home },
    cwd: home,
    config: {
      model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 },
      terminal: { backend: "docker", cwd: inside, container_persistent: false, docker_run_as_host_user: true },
    },
  });
  await hermes.ask("find a picture");
  const results = (llm.requests.at(-2)?.messages ?? llm.requests[3]?.messages ?? [])
    .filter((message) => message.role === "tool")
    .map((message) => message.text);
  const all = JSON.stringify(llm.requests);
  expect(results[0]).toContain("length 0");
  expect(results[0]).not.toContain("mode 600");
  expect(results[2]).toContain(`length ${SECRET.length}`);
  expect(results[2]).toContain(`mode 600 size ${SECRET.length + 19}`);
  expect(all).not.toContain(SECRET);
  expect(readFileSync(join(home, "arguments"), "utf8")).not.toContain(SECRET);
  await hermes.close();
  hermes = undefined;
  expect(existsSync(there)).toBe(false);
  rmSync(dirname(there), { recursive: true, force: true });
}, 60_000);
