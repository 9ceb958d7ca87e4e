import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHermes, type Hermes, type Human } from "../src/index.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: string;
let llm: FakeLlm;
let hermes: Hermes | undefined;

const SECRET = "tenor-value-4711-abcdef";

function skill(name: string, fields = "", body = "Do it.\n"): void {
  const file = join(home, "skills", "own", name, "SKILL.md");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `---\nname: ${name}\ndescription: About ${name}\n${fields}---\n\n${body}`);
}

async function open(config: object = {}): Promise<Hermes> {
  hermes = await createHermes({
    home,
    env: { PATH: process.env.PATH, HOME: home },
    cwd: home,
    config: {
      model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 },
      ...config,
    },
  });
  return hermes;
}

beforeEach(async () => {
  home = tempDir("hermes-skills-");
  llm = await startFakeLlm();
});
afterEach(async () => {
  await hermes?.close();
  hermes = undefined;
  await llm.close();
  rmSync(home, { recursive: true, force: true });
});

describe("skills in a conversation", () => {
  it("are listed in the prompt, bundled ones included, and loaded as user messages only", async () => {
    skill("greet", "", "Say hello in Latin.\n");
    llm.enqueue(text("Salve."), text("Title"));
    await (await open()).ask("hello", { skills: ["greet"] });
    const [request] = llm.requests;
    expect(request?.system).toContain("<available_skills>");
    expect(request?.system).toMatch(/software-development: Writing.*\n {4}- code-review: /);
    expect(request?.system).toContain("- greet: About greet");
    expect(request?.system).not.toContain("Say hello in Latin");
    expect(request?.messages[0]).toMatchObject({ role: "user" });
    expect(request?.messages[0]?.text).toMatch(
      /^\[The user loaded the skill "greet"[\s\S]*Say hello in Latin\.[\s\S]*hello$/,
    );
    expect(request?.tools).toEqual(expect.arrayContaining(["search_tools", "skill_view", "skills_list"]));
    expect(JSON.stringify(request?.body.tools)).toContain("skill_manage");
    expect(existsSync(join(home, "skills/research/arxiv/scripts/search_arxiv.py"))).toBe(true);
  });

  it("ask for a secret once, store it in .env, pass it to commands and never to the model", async () => {
    skill("gifs", "required_environment_variables:\n  - name: TENOR_KEY\n    prompt: Key\n");
    const asked: string[] = [];
    const human: Human = {
      present: true,
      approve: async () => ({ choice: "deny" }),
      clarify: async () => null,
      secret: async (prompt) => {
        asked.push(prompt);
        return SECRET;
      },
    };
    const command = { command: 'test -n "$TENOR_KEY" && printf %s "$TENOR_KEY" | wc -c; echo "$TENOR_KEY"' };
    llm.enqueue(
      calls([{ name: "terminal", args: command }]),
      calls([{ name: "skill_view", args: { name: "gifs" } }]),
      calls([{ name: "terminal", args: command }]),
      text("done"),
      text("Title"),
    );
    await (await open()).ask("use gifs", { human });
    expect(asked).toHaveLength(1);
    expect(readFileSync(join(home, ".env"), "utf8")).toContain(`TENOR_KEY=${SECRET}`);
    const results = llm.requests[3]?.messages
      .filter((message) => message.role === "tool")
      .map((message) => message.text);
    expect(results?.[0]).not.toContain(String(SECRET.length));
    expect(results?.[2]).toContain(`${SECRET.length}\\n`);
    for (const request of llm.requests) expect(request.raw.toString()).not.toContain(SECRET);
  });

  it("run inline snippets through the gate when enabled", async () => {
    skill("now", "", "Here: !`pwd`. Never: !`rm -rf /`. Slow: !`sleep 20`. Bad: !`echo no >&2; exit 4`\n");
    llm.enqueue(text("ok"), text("Title"));
    await (await open({ skills: { inline_shell: true, inline_shell_timeout: 1 } })).ask("x", { skills: ["now"] });
    const sent = llm.requests[0]?.messages[0]?.text ?? "";
    expect(sent).toContain(`Here: ${join(home, "skills/own/now")}.`);
    expect(sent).toMatch(/Never: \[inline-shell error: /);
    expect(sent).toContain("[inline-shell timeout after 1s: sleep 20]");
    expect(sent).toContain("[inline-shell error: exit code 4: no]");
  });

  it("written after reading a web page need approval", async () => {
    const content = "---\nname: odd\ndescription: d\n---\n\nText.\n";
    llm.enqueue(
      calls([
        { name: "skill_manage", args: { action: "create", name: "fine", content: content.replace("odd", "fine") } },
      ]),
      text("kept"),
      text("Title"),
      calls([{ name: "skill_manage", args: { action: "create", name: "odd", content } }]),
      text("refused"),
    );
    const opened = await open();
    const talk = await opened.conversation();
    const say = async (tainted: boolean) => {
      for await (const _ of talk.send("go", { signal: AbortSignal.timeout(20_000), tainted }));
    };
    await say(false);
    await say(true);
    await talk.close();
    expect(existsSync(join(home, "skills/fine/SKILL.md"))).toBe(true);
    expect(existsSync(join(home, "skills/odd"))).toBe(false);
  });
});

describe("the program", () => {
  const env = () => ({ HERMES_INFERENCE_PROVIDER: "offline" });

  it("does not sync skills for --version and --help", async () => {
    for (const flag of ["--version", "--help"]) expect((await runHermes([flag], { home })).code).toBe(0);
    expect(existsSync(join(home, "skills"))).toBe(false);
  });

  it("refuses an unknown -s with exit code 1", async () => {
    const run = await runHermes(["chat", "-q", "hi", "-s", "no-such-skill"], { home, env: env() });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain('there is no skill "no-such-skill"');
  });

  it("runs /skill-name in the interactive chat, lists /skills, and prefers its own commands", async () => {
    skill("greet", "", "Say hello. @file:missing.txt stays as it is.\n");
    skill("status", "", "Never reached.\n");
    const run = await runHermes([], {
      home,
      env: env(),
      stdin: "/skills\n/greet politely\n/status\n/nothing-like-this\n/quit\n",
    });
    expect(run.stdout).toMatch(/\/greet +About greet/);
    expect(run.stdout).toContain("Session ");
    expect(run.stderr).toContain("unknown command /nothing-like-this");
    const exported = await runHermes(["sessions", "export", "-"], { home });
    expect(exported.stdout).toContain('[The user called the skill \\"greet\\"');
    expect(exported.stdout).toContain("@file:missing.txt stays as it is");
    expect(exported.stdout).toContain("instruction with the skill: politely");
    expect(exported.stdout).not.toContain("Never reached");
  });
});
