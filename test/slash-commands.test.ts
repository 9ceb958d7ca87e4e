// Every slash command, run against a real program with a scripted model.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listSlashCommands } from "../src/app/commands/list-slash.ts";
import type { CommandAnswer, Hermes, Human } from "../src/index.ts";
import { createHermes } from "../src/index.ts";
import { displayWidth } from "../src/lib/text/text-width.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, status, text } from "./servers/fake-llm.ts";
import type { Reply } from "./servers/fake-llm-replies.ts";

type Talk = Awaited<ReturnType<Hermes["conversation"]>>;

let home: string;
let llm: FakeLlm;
let hermes: Hermes;
let talk: Talk;
const asked: string[] = [];
let choice: "once" | "always" | "deny" = "once";

const human: Human = {
  present: true,
  approve: async (request) => {
    asked.push(request.action);
    return { choice };
  },
  clarify: async () => null,
  secret: async () => null,
};

const MODELS = [
  { id: "test-model", contextLength: 128_000 },
  { id: "test-model-large", contextLength: 1_000_000, pricing: { prompt: "0.000003", completion: "0.000015" } },
];

function open(): Promise<Hermes> {
  return createHermes({
    home,
    env: { PATH: process.env.PATH, HOME: home },
    cwd: join(home, "project"),
    config: {
      model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1` },
      agent: { personalities: { butler: { description: "Polite", system_prompt: "You are a butler." } } },
    },
  });
}

beforeAll(async () => {
  home = tempDir("hermes-slash-");
  mkdirSync(join(home, "project"));
  llm = await startFakeLlm({
    script: (request) =>
      MODELS.some(({ id }) => id === request.model)
        ? reply(JSON.stringify(request.body))
        : status(404, { message: "model not found" }),
    models: MODELS,
  });
  hermes = await open();
  talk = await hermes.conversation();
});

/** Answers that come before the usual one. */
const planned: Reply[] = [];

/** Titles, test calls and verdicts get their own answers; every other answer repeats the last question. */
function reply(body: string) {
  if (body.includes("Name this conversation")) return text("");
  if (body.includes("Reply with OK")) return text("OK");
  if (body.includes("You check whether an agent")) return text('{"done": true, "reason": "the answer says so"}');
  return planned.shift() ?? text("An answer with several words in it.");
}

afterAll(async () => {
  await talk.close();
  await hermes.close();
  await llm.close();
  rmSync(home, { recursive: true, force: true });
});

async function say(words: string): Promise<void> {
  for await (const _ of talk.send(words));
}

/** Without a width the answer is that of a chat: no plots. */
const run = (line: string, width: number | "none" = 80) =>
  hermes.command(talk, line, { human, width: width === "none" ? undefined : width });

/** The text of an answer that must be text. */
function textOf(answer: CommandAnswer): string {
  if (answer.type === "text") return answer.text;
  if (answer.type === "terminal" && answer.request.kind === "display") return answer.request.text;
  throw new Error(`not text: ${JSON.stringify(answer)}`);
}

const said = async (line: string, width?: number | "none") => textOf(await run(line, width));
const config = () => readFileSync(join(home, "config.yaml"), "utf8");

describe("what was said", () => {
  it("is empty at first, and every command says so", async () => {
    expect(await said("/undo")).toMatch(/nothing to take back/);
    expect(await said("/retry")).toMatch(/no message/);
    expect(await said("/branch")).toMatch(/nothing to branch/);
    expect(await said("/save")).toMatch(/nothing to save/);
    expect(await said("/copy")).toMatch(/no answer/);
    expect(await said("/history")).toMatch(/no messages/);
    expect(await said("/compress")).toMatch(/nothing to compact/);
    expect(await said("/stop")).toMatch(/Nothing is running/);
    expect(await said("/agents")).toMatch(/Nothing is running/);
    expect(await said("/goal")).toMatch(/no goal/);
    expect(await said("/usage")).toMatch(/no model call yet/);
    expect(asked).toEqual([]);
  });

  it("gets a title before the first message, and is taken back, sent again, copied and saved", async () => {
    expect(await said("/title Plans for May")).toContain("Plans for May");
    await say("first question");
    expect(await said("/title")).toBe("Plans for May");
    await say("second question");
    expect(await said("/undo")).toContain("second question");
    expect(asked).toEqual(["/undo: takes back your last message and the answer to it; both stay searchable"]);
    expect(await said("/history")).not.toContain("second question");
    expect(await run("/retry")).toMatchObject({ type: "send", text: "first question", prepared: { untrusted: false } });
    await say("first question");
    expect(await run("/copy")).toMatchObject({
      type: "terminal",
      request: { kind: "copy", text: expect.stringContaining("An answer") },
    });
    expect(await said("/copy 9")).toMatch(/only 1 answers/);
    const saved = (await said("/save")).split(" to ")[1] ?? "";
    expect(saved).toContain(join(home, "sessions", "saved"));
    expect(JSON.parse(readFileSync(saved, "utf8")).messages).toHaveLength(6);
  });

  it("asks before it takes something away, until the user says always", async () => {
    choice = "deny";
    expect(await said("/undo")).toMatch(/Nothing was taken back/);
    expect(await said("/new")).toMatch(/continues/);
    expect(await said("/clear")).toMatch(/continues/);
    choice = "always";
    expect(await run("/new A title")).toEqual({ type: "switch", sessionId: null, title: "A title" });
    expect(config()).toMatch(/destructive_slash_confirm: false/);
    const before = asked.length;
    expect(await run("/clear")).toMatchObject({ type: "switch", clear: true });
    expect(asked).toHaveLength(before);
  });

  it("branches, and both sessions can be resumed", async () => {
    const old = talk.sessionId;
    const branched = await run("/fork Another way");
    expect(branched).toMatchObject({ type: "switch", title: "Another way" });
    await talk.close();
    talk = await hermes.conversation({ resume: branched.type === "switch" ? (branched.sessionId ?? "") : "" });
    expect(await hermes.sessions.getSession(old)).toMatchObject({ end_reason: "branched" });
    const list = await run("/sessions");
    expect(list).toMatchObject({ type: "choose", choices: [{ value: old, label: "Plans for May" }] });
    if (list.type !== "choose" || typeof list.choices[0]?.detail !== "function") throw new Error("no preview");
    expect(await list.choices[0].detail()).toContain("❯ first question");
    expect(await run("/resume Plans for May")).toEqual({ type: "switch", sessionId: old });
    expect(await said("/resume nowhere")).toMatch(/No session matches/);
  });
});

describe("the model", () => {
  it("is chosen from a list with windows and prices", async () => {
    const answer = await run("/model");
    expect(answer).toMatchObject({
      type: "choose",
      choices: [
        { label: "test-model", current: true, description: expect.stringContaining("128k window") },
        { label: "test-model-large", description: expect.stringContaining("1M window, $3 in, $15 out") },
      ],
    });
  });

  it("is tested before it is used, and a wrong name is refused with similar ones", async () => {
    const before = llm.requests.length;
    expect(await run("/model test-model-large")).toMatchObject({
      type: "model",
      model: "test-model-large",
      note: expect.stringContaining("answered"),
    });
    expect(llm.requests.length).toBe(before + 1);
    expect(await said("/model test-modl-large")).toMatch(/not found.*Similar: test-model-large/);
    expect(await said("/model x --provider nowhere")).toMatch(/nowhere/);
    expect(await run("/provider test-model-large --global")).toMatchObject({ note: expect.stringContaining("saved") });
    expect(config()).toContain("test-model-large");
  });

  it("thinks and speaks as it is told, from the next call on", async () => {
    expect(await said("/reasoning high")).toContain("high");
    expect(await said("/personality butler")).toContain("Polite");
    await say("a question for a butler");
    const body = JSON.stringify(llm.requests.findLast(({ tools }) => tools.length > 0)?.body);
    expect(body).toContain("You are a butler.");
    expect(config()).toContain("reasoning_effort: high");
    expect(await said("/personality pirat")).toMatch(/did you mean pirate/);
    expect(await run("/personality")).toMatchObject({ type: "choose", title: "Personality: butler" });
    await run("/personality none");
    await run("/reasoning none");
    await say("a question for nobody");
    expect(JSON.stringify(llm.requests.findLast(({ tools }) => tools.length > 0)?.body)).not.toContain("butler.");
    expect(await said("/reasoning sideways")).toMatch(/Use one of/);
    expect(await said("/fast")).toMatch(/no priority processing/);
  });
});

describe("a goal", () => {
  it("is set, judged and reached", async () => {
    const answer = await run("/goal write a poem");
    expect(answer).toMatchObject({ type: "send", text: expect.stringContaining("Goal: write a poem") });
    expect(await said("/subgoal it rhymes")).toContain("1. it rhymes");
    expect(await said("/subgoal remove 7")).toMatch(/no criterion 7/);
    expect(await said("/goal pause")).toContain("paused");
    expect(await run("/goal resume")).toMatchObject({ type: "send" });
    await say("go");
    const step = await talk.goal.afterTurn({ end: "done", text: "done" }, new AbortController().signal);
    expect(step).toEqual({ notice: "Goal reached: the answer says so" });
    expect(await said("/status")).toContain("write a poem (done");
    expect(await said("/goal clear")).toMatch(/removed/);
  });
});

describe("display and program", () => {
  const SAVED: readonly (readonly [line: string, saved: RegExp])[] = [
    ["/skin mono", /skin: mono/],
    ["/busy queue", /busy_input_mode: queue/],
    ["/indicator ascii", /tui_status_indicator: ascii/],
    ["/details expanded", /details_mode: expanded/],
    ["/statusbar off", /tui_statusbar: (?:false|["']?off)/],
    ["/timestamps on", /timestamps: true/],
    ["/verbose off", /tool_progress: ["']?off/],
    ["/footer on", /enabled: true/],
    ["/reasoning show", /show_reasoning: true/],
  ];
  it.each(SAVED)("%s is applied and saved", async (line, saved) => {
    expect((await said(line)).length).toBeGreaterThan(5);
    expect(config()).toMatch(saved);
  });

  it("refuses unknown values and offers the known ones", async () => {
    expect(await said("/busy never")).toMatch(/interrupt, queue, steer/);
    expect(await run("/busy")).toMatchObject({ type: "choose", choices: [{}, { value: "queue", current: true }, {}] });
    expect(await run("/redraw")).toEqual({ type: "terminal", request: { kind: "redraw" } });
    expect(await run("/image cat.png")).toMatchObject({ request: { kind: "attach", path: "cat.png" } });
    expect(await run("/paste")).toMatchObject({ request: { kind: "attach" } });
    expect(await run("/bg count files")).toMatchObject({ request: { kind: "background", task: "count files" } });
    for (const line of ["/quit", "/exit", "exit", "Quit"]) expect(await run(line)).toEqual({ type: "quit" });
    await expect(run("/nonsense")).rejects.toThrow(/no command \/nonsense/);
  });

  it("shows what fills the window, with its price", async () => {
    const window = await said("/context");
    expect(window).toMatch(/Context of test-model: about [\d,]+ tokens, \d+% of 128,000/);
    for (const part of ["your messages", "answers", "tool schemas"]) expect(window).toContain(part);
    expect(window).toMatch(/█/);
    expect(window).toMatch(/The next call reads/);
    expect(await said("/context", "none")).not.toMatch(/█/);
  });

  it("reports usage with plots in a terminal and without them elsewhere", async () => {
    const usage = await said("/usage");
    expect(usage).toMatch(/This session: \d+ calls?/);
    expect(usage).toMatch(/Last 7 days: .*[▁█]/);
    expect(await said("/usage", "none")).not.toMatch(/[▁█]/);
    const insights = await said("/insights 7");
    expect(insights).toMatch(/Last 7 days: 2 sessions/);
    expect(insights).toMatch(/By day {6}/);
    expect(insights).toContain("Most expensive sessions");
    expect(await said("/insights soon")).toMatch(/How many days/);
  });

  it("shows settings, tools, plugins and the profile", async () => {
    expect(await said("/config")).toContain("display.skin");
    expect(await said("/config max_turns")).toContain("goals.max_turns");
    expect(await said("/profile")).toContain(home);
    expect(await said("/debug")).toContain("test-model");
    expect(await said("/toolsets")).toContain("read_file");
    expect(await run("/tools")).toMatchObject({ type: "choose", multiple: {} });
    expect(await said("/tools disable web")).toContain("Off: web");
    expect(await said("/tools disable wbe")).toMatch(/did you mean/);
    expect(await said("/plugins list")).toBeTruthy();
    expect(await said("/reload-mcp")).toMatch(/No MCP server is configured/);
    expect(await said("/platforms")).toMatch(/does not run/);
    expect(await said("/skills list")).toContain("/arxiv");
    expect(await run("/skills")).toMatchObject({ type: "choose", title: expect.stringContaining("Skills") });
    expect(await run("/skills use arxiv")).toMatchObject({ request: { kind: "draft", text: "/arxiv " } });
    expect(await said("/cron")).toMatch(/No scheduled jobs/);
    expect(await said('/cron add "every 2h" look at the tides')).toMatch(/Scheduled/);
    const jobs = await run("/cron");
    if (jobs.type !== "choose") throw new Error("no list of jobs");
    const [job] = jobs.choices;
    expect(await said(`/cron ${job?.value}`)).toContain("look at the tides");
    expect(await said(`/cron edit ${job?.value} "every 3h" look at the moon`)).toContain("(every 3h)");
    expect(jobs.actions?.map((action) => action.args(job?.value ?? ""))).toEqual([
      `run ${job?.value}`,
      `pause ${job?.value}`,
      `remove ${job?.value}`,
    ]);
    expect(await said(`/cron remove ${job?.value}`)).toMatch(/Removed/);
    writeFileSync(join(home, ".env"), "SOME_NEW_KEY=abc\n");
    expect(await said("/reload")).toMatch(/read again/);
    expect(await said("/reload")).toMatch(/Nothing has changed/);
    expect(await said("/reload-skills")).toMatch(/skills/);
    expect(await said("/yolo")).toMatch(/without approval/);
    expect(await run("/queue later")).toMatchObject({ type: "send", when: "after" });
    expect(await run("/steer now")).toMatchObject({ type: "send", when: "now" });
    expect(existsSync(join(home, "config.yaml"))).toBe(true);
  });

  it("makes, lists and removes snapshots of the home", async () => {
    expect(await said("/snapshot")).toMatch(/no snapshots/);
    expect(await said("/snap create before")).toMatch(/state-snapshots.*verified/);
    const list = await run("/snapshot");
    if (list.type !== "choose") throw new Error("no list of snapshots");
    expect(await said(`/snapshot ${list.choices[0]?.value}`)).toMatch(/hermes import .*\.zip/);
    expect(await said("/snapshot prune 0")).toBe("Removed 1 snapshot.");
  });

  it("restores the project's files from a checkpoint, and takes back the exchange", async () => {
    expect(await said("/rollback")).toMatch(/Checkpoints are off/);
    const file = join(home, "project", "poem.txt");
    writeFileSync(file, "roses are red\n");
    await talk.close();
    talk = await hermes.conversation({ checkpoints: true, human });
    planned.push(calls([{ name: "write_file", args: { path: file, content: "violets are blue\n" } }]));
    await say("make it blue");
    expect(readFileSync(file, "utf8")).toContain("violets");
    const list = await run("/rollback");
    if (list.type !== "choose") throw new Error("no list of checkpoints");
    expect(await said("/rollback diff 1")).toMatch(/-roses are red[\s\S]*\+violets are blue/);
    expect(await said("/rollback 99")).toMatch(/no checkpoint/i);
    const restored = await said(`/rollback ${list.choices[0]?.value}`);
    expect(restored).toContain("poem.txt");
    expect(restored).toContain("make it blue");
    expect(readFileSync(file, "utf8")).toBe("roses are red\n");
    expect(talk.messages).toHaveLength(0);
  });
});

describe("/help", () => {
  it.each([40, 60, 80, 120])("fits %i columns", async (width) => {
    const help = await said("/help", width);
    for (const line of help.split("\n")) expect(displayWidth(line)).toBeLessThanOrEqual(width);
    for (const heading of ["Conversation", "Sessions", "Model", "Display", "Tools and skills", "Program"])
      expect(help).toContain(`${heading}\n`);
  });

  it("explains one command", async () => {
    expect(await said("/help model")).toContain("/model [name]");
    expect(await said("/help bg")).toContain("/background");
    expect(await said("/help wrong")).toMatch(/no command/);
  });

  it("names every command with a summary on both surfaces, and the terminal's commands all run", async () => {
    for (const surface of ["terminal", "chat"] as const)
      for (const command of listSlashCommands(surface)) {
        expect(command.summary, command.name).toMatch(/^[A-Z].*[^.]$/);
        expect(command.group, command.name).toBeDefined();
      }
    const chat = listSlashCommands("chat").map((command) => command.name);
    expect(chat).not.toContain("verbose");
    for (const name of [
      "undo",
      "retry",
      "branch",
      "goal",
      "model",
      "usage",
      "insights",
      "context",
      "commands",
      "footer",
    ])
      expect(chat).toContain(name);
    for (const name of ["quit", "clear", "config", "tools", "save", "skin", "copy"]) expect(chat).not.toContain(name);
  });
});
