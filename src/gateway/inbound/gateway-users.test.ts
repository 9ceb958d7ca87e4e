// An owner, two guests and an unknown user: who may change the agent, who answers questions, and what guests can access.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { answered, closeGateways, texts } from "../../../test/kit/gateway-fixture.ts";
import {
  call,
  findButton,
  GROUP,
  GUEST,
  IN_TOPIC,
  OTHER,
  OWNER,
  openUsersFixture,
  questionIn,
  removePlaces,
  resultIn,
  run,
  STRANGER,
  TOPIC,
  type UsersFixture,
} from "../../../test/kit/users-fixture.ts";

afterEach(async () => {
  await closeGateways();
  removePlaces();
});

const configOf = (w: UsersFixture) => readFileSync(join(w.home.path, "config.yaml"), "utf8");

/** The folder in which a guest's commands run. */
const workspaceOf = (w: UsersFixture, user: number) => join(w.home.path, "workspaces", `telegram-user-${user}`);

function withData(w: UsersFixture, folder = w.folder): string {
  const data = join(folder, "data");
  mkdirSync(data, { recursive: true });
  writeFileSync(join(data, "keep.txt"), "keep");
  return data;
}

describe("commands that change the agent for all users", () => {
  it("are allowed for the owner only: /yolo, /restart, /sethome, /platform pause", async () => {
    const w = await openUsersFixture();
    const orders = ["/yolo", "/restart", "/sethome", "/platform pause telegram", "/yo", "/SETHOME"];
    for (const order of orders) w.telegram.say(GUEST, order);
    await answered(w, GUEST, orders.length);
    for (const shown of texts(w, GUEST)) expect(shown).toContain("Only the owner of this agent");
    w.telegram.say(OWNER, "/yolo");
    await answered(w, OWNER);
    expect(texts(w, OWNER)[0]).toContain("run without approval");
  });

  it("are allowed for the only allowed user when no owner is configured", async () => {
    const w = await openUsersFixture({ owners: false, env: { TELEGRAM_ALLOWED_USERS: String(GUEST) } });
    w.telegram.say(GUEST, "/yolo");
    await answered(w, GUEST);
    expect(texts(w, GUEST)[0]).toContain("run without approval");
  });

  it("are denied to all when several users are allowed and no owner is configured; the reply explains how to set one", async () => {
    const w = await openUsersFixture({ owners: false });
    for (const order of ["/yolo", "/restart", "/sethome"]) w.telegram.say(GUEST, order);
    await answered(w, GUEST, 3);
    for (const shown of texts(w, GUEST)) {
      expect(shown).toContain("no owner");
      expect(shown).toContain(`hermes config set gateway.owners telegram:${GUEST}`);
    }
  });

  it("are allowed for the first paired user, also after a restart, and not for the second", async () => {
    const w = await openUsersFixture({ owners: false, env: {} });
    for (const user of [OWNER, GUEST]) {
      w.telegram.say(user, "hello");
      await answered(w, user);
      const code = /approve telegram (\w+)/.exec(texts(w, user)[0] ?? "")?.[1] ?? "";
      await w.opened.pairing.approve("telegram", code);
    }
    await w.restart();
    w.telegram.say(GUEST, "/sethome");
    w.telegram.say(OWNER, "/sethome");
    await answered(w, GUEST, 2);
    await answered(w, OWNER, 2);
    expect(texts(w, GUEST)[1]).toContain("Only the owner of this agent");
    expect(texts(w, OWNER)[1]).toContain("now the home channel");
  });
});

describe("a guest's command that needs approval", () => {
  it("is shown to the owner with sender, chat and the whole command; the owner's answer decides", async () => {
    const w = await openUsersFixture();
    const data = withData(w, workspaceOf(w, GUEST));
    w.telegram.say(GUEST, run(`rm -rf ${data}`));
    const question = await questionIn(w, OWNER);
    expect(question.text).toContain(`rm -rf ${data}`);
    expect(question.text).toContain("User 502");
    expect(question.text).toContain("502");
    expect(w.telegram.fromBot(GUEST).some(({ markup }) => markup.includes("ea:"))).toBe(false);
    await w.telegram.until(() => texts(w, GUEST).some((shown) => shown.includes("owner was asked")));
    expect(existsSync(data)).toBe(true);
    w.telegram.press(OWNER, question, findButton(question, "once"));
    await resultIn(w, GUEST);
    expect(existsSync(data)).toBe(false);
  });

  it("is not run when the owner denies it, and the guest is notified", async () => {
    const w = await openUsersFixture();
    const data = withData(w, workspaceOf(w, GUEST));
    w.telegram.say(GUEST, run(`rm -rf ${data}`));
    const question = await questionIn(w, OWNER);
    w.telegram.press(OWNER, question, findButton(question, "deny"));
    expect(await resultIn(w, GUEST)).toContain("denied it");
    expect(existsSync(data)).toBe(true);
  });

  it("is approved by /approve in the owner's chat, not by /approve of the guest", async () => {
    const w = await openUsersFixture();
    const data = withData(w, workspaceOf(w, GUEST));
    w.telegram.say(GUEST, run(`rm -rf ${data}`));
    await questionIn(w, OWNER);
    w.telegram.say(GUEST, "/approve");
    w.telegram.say(GUEST, "/approve always");
    await w.telegram.until(() => texts(w, GUEST).filter((shown) => shown.includes("Only the owner")).length === 2);
    expect(existsSync(data)).toBe(true);
    w.telegram.say(OWNER, "/approve");
    await resultIn(w, GUEST);
    expect(existsSync(data)).toBe(false);
    expect(configOf(w)).not.toContain("rm -rf");
  });

  it("is denied after the time-out", async () => {
    const w = await openUsersFixture({ config: "approvals:\n  gateway_timeout: 1\n" });
    const data = withData(w, workspaceOf(w, GUEST));
    w.telegram.say(GUEST, run(`rm -rf ${data}`));
    await questionIn(w, OWNER);
    expect(await resultIn(w, GUEST)).toContain("did not answer in time");
    expect(existsSync(data)).toBe(true);
  });

  it("is denied with a reason when there is no owner or none can be reached", async () => {
    const without = await openUsersFixture({ owners: false });
    without.telegram.say(GUEST, run(`rm -rf ${withData(without, workspaceOf(without, GUEST))}`));
    expect(await resultIn(without, GUEST)).toContain("no owner");
    expect(existsSync(join(workspaceOf(without, GUEST), "data"))).toBe(true);
    const w = await openUsersFixture();
    w.telegram.refuse = (_, chatId) =>
      chatId === String(OWNER) ? [403, "Forbidden: bot can't initiate conversation with a user"] : null;
    w.telegram.say(GUEST, run(`rm -rf ${withData(w, workspaceOf(w, GUEST))}`));
    expect(await resultIn(w, GUEST)).toContain("owner could not be reached");
    expect(existsSync(join(workspaceOf(w, GUEST), "data"))).toBe(true);
  });

  it("cannot be answered by other users, who get an explanation", async () => {
    const w = await openUsersFixture();
    const data = withData(w, workspaceOf(w, GUEST));
    w.telegram.say(GUEST, run(`rm -rf ${data}`));
    const question = await questionIn(w, OWNER);
    for (const user of [GUEST, OTHER]) w.telegram.press(user, question, findButton(question, "always"));
    w.telegram.press(STRANGER, question, findButton(question, "once"));
    await w.telegram.until(() => w.telegram.answers.length === 3);
    expect(w.telegram.answers.filter((told) => told === "This question is not yours to answer.")).toHaveLength(2);
    expect(existsSync(data)).toBe(true);
    expect(configOf(w)).not.toContain("rm -rf");
  });

  it("is shown to the owner in a shared group and in a shared topic", async () => {
    const w = await openUsersFixture();
    const data = withData(w);
    w.telegram.say(OWNER, `@hermes_bot ${run(`rm -rf ${data}`)}`, IN_TOPIC);
    const question = await questionIn(w, TOPIC.chat.id);
    w.telegram.press(GUEST, question, findButton(question, "once"));
    await w.telegram.until(() => w.telegram.answers.length === 1);
    expect(w.telegram.answers[0]).toBe("This question is not yours to answer.");
    w.telegram.say(GUEST, "/approve", IN_TOPIC);
    await w.telegram.until(() => texts(w, TOPIC.chat.id).some((shown) => shown.includes("Only the owner")));
    expect(existsSync(data)).toBe(true);
    w.telegram.press(OWNER, question, findButton(question, "deny"));
    await resultIn(w, TOPIC.chat.id);
    // The guest's message continues the same conversation as a guest's turn.
    w.telegram.say(GUEST, `@hermes_bot ${run(`rm -rf ${data}`)}`, IN_TOPIC);
    const asked = await questionIn(w, OWNER);
    expect(asked.text).toContain("User 502");
    expect(existsSync(data)).toBe(true);
    w.telegram.press(OWNER, asked, findButton(asked, "deny"));
    await w.telegram.until(() => texts(w, TOPIC.chat.id).filter((shown) => shown.startsWith("Result:")).length === 2);
    expect(existsSync(data)).toBe(true);
  });

  it("needs approval although the owner disabled approvals in the shared topic", async () => {
    const w = await openUsersFixture();
    const data = withData(w);
    w.telegram.say(OWNER, "/yolo", IN_TOPIC);
    await answered(w, TOPIC.chat.id);
    w.telegram.say(GUEST, `@hermes_bot ${run(`rm -rf ${data}`)}`, IN_TOPIC);
    const question = await questionIn(w, OWNER);
    w.telegram.press(OWNER, question, findButton(question, "deny"));
    await resultIn(w, TOPIC.chat.id);
    expect(existsSync(data)).toBe(true);
  });

  it("is shown to the owner for background tasks as well", async () => {
    const w = await openUsersFixture();
    const data = withData(w, workspaceOf(w, GUEST));
    w.telegram.say(GUEST, `/background ${run(`rm -rf ${data}`)}`);
    const question = await questionIn(w, OWNER);
    w.telegram.press(GUEST, question, findButton(question, "once"));
    await w.telegram.until(() => w.telegram.answers.length === 1);
    expect(w.telegram.answers[0]).toBe("This question is not yours to answer.");
    w.telegram.press(OWNER, question, findButton(question, "once"));
    await w.telegram.until(() => !existsSync(data));
  });
});

describe("a question in a group", () => {
  it("to the owner cannot be answered by guests, who get an explanation", async () => {
    const w = await openUsersFixture();
    const data = withData(w);
    w.telegram.say(OWNER, run(`rm -rf ${data}`), { chat: GROUP });
    const question = await questionIn(w, GROUP.id);
    w.telegram.press(GUEST, question, findButton(question, "once"));
    await w.telegram.until(() => w.telegram.answers.length === 1);
    expect(w.telegram.answers).toEqual(["This question is not yours to answer."]);
    w.telegram.press(OWNER, question, findButton(question, "once"));
    await resultIn(w, GROUP.id);
    expect(existsSync(data)).toBe(false);
  });
});

describe("a guest cannot become the owner", () => {
  const ways = [
    run("hermes config set gateway.owners telegram:502"),
    run("hermes pairing approve telegram ABCDEFGH"),
    call("execute_code", { language: "python", code: "import os\nos.system('hermes config set gateway.owners x')" }),
  ];
  it.each(ways)("by %s: the owner's approval is needed", async (words) => {
    const w = await openUsersFixture();
    const before = configOf(w);
    w.telegram.say(GUEST, words);
    const question = await questionIn(w, OWNER);
    w.telegram.press(GUEST, question, findButton(question, "once"));
    w.telegram.press(OWNER, question, findButton(question, "deny"));
    expect(await resultIn(w, GUEST)).toContain("denied it");
    expect(configOf(w)).toBe(before);
  });

  it("by editing the configuration", async () => {
    const w = await openUsersFixture();
    const before = configOf(w);
    const path = join(w.home.path, "config.yaml");
    w.telegram.say(GUEST, call("write_file", { path, content: "gateway:\n  owners: telegram:502\n" }));
    expect(await resultIn(w, GUEST)).toContain("Blocked");
    w.telegram.say(OTHER, run(`echo 'gateway: {owners: telegram:502}' >> ${path}`));
    expect(await resultIn(w, OTHER)).toContain("Blocked");
    expect(configOf(w)).toBe(before);
  });

  it("by disabling approvals globally: the configuration stays out of reach", async () => {
    const w = await openUsersFixture({ config: "approvals:\n  mode: off\n" });
    const before = configOf(w);
    w.telegram.say(GUEST, run("hermes config set gateway.owners telegram:502"));
    const asked = () => w.telegram.fromBot(OWNER).find((message) => message.markup.includes("ea:"));
    await w.telegram.until(() => asked() !== undefined || texts(w, GUEST).some((shown) => shown.startsWith("Result:")));
    const question = asked();
    if (question) w.telegram.press(OWNER, question, findButton(question, "deny"));
    await resultIn(w, GUEST);
    expect(configOf(w)).toBe(before);
  });
});

describe("the owner's data", () => {
  const files = {
    "memories/USER.md": "PEACH is the owner's secret",
    "memories/users/telegram-user-503/USER.md": "PEACH of the other guest",
  };
  const home = (w: UsersFixture, path: string) => join(w.home.path, path);
  const attempts: readonly [string, (w: UsersFixture) => string][] = [
    ["read_file of the notes", (w) => call("read_file", { path: home(w, "memories/USER.md") })],
    [
      "read_file of another guest's notes",
      (w) => call("read_file", { path: home(w, "memories/users/telegram-user-503/USER.md") }),
    ],
    ["read_file of state.db", (w) => call("read_file", { path: home(w, "state.db") })],
    ["read_file of config.yaml", (w) => call("read_file", { path: home(w, "config.yaml") })],
    ["search in the home", (w) => call("search_files", { pattern: "PEACH", path: w.home.path })],
    ["search above the home", (w) => call("search_files", { pattern: "PEACH", path: join(w.home.path, "..") })],
    ["sqlite3", (w) => run(`sqlite3 ${home(w, "state.db")} "select content from messages"`)],
    ["cat", (w) => run(`cat ${home(w, "memories/USER.md")}`)],
    ["a relative path", (w) => run(`cd ${w.home.path}/memories; cat USER.md`)],
    ["a variable", (w) => run(`x=${w.home.path}; cat "$x/memories/USER.md"`)],
    ["HERMES_HOME", () => run("cat $HERMES_HOME/memories/USER.md")],
    ["the start folder", (w) => call("terminal", { command: "cat USER.md", workdir: home(w, "memories") })],
    [
      "code",
      (w) => call("execute_code", { language: "python", code: `print(open("${home(w, "state.db")}","rb").read())` }),
    ],
    ["a subagent", (w) => call("delegate_task", { goal: call("read_file", { path: home(w, "memories/USER.md") }) })],
    ["MEDIA", (w) => `say MEDIA:${home(w, "memories/USER.md")}`],
  ];

  it.each(attempts)("cannot be read by a guest by %s", async (_, words) => {
    const w = await openUsersFixture({ files });
    w.telegram.say(OWNER, "my secret is PEACH");
    await answered(w, OWNER);
    w.telegram.say(GUEST, words(w));
    await w.telegram.until(() => texts(w, GUEST).some((shown) => /^(Result|You said):/.test(shown)));
    const results = w.llm.requests.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool"));
    expect(JSON.stringify(results)).not.toContain("PEACH is");
    expect(JSON.stringify(results)).not.toContain("PEACH of");
    expect(JSON.stringify(results)).not.toContain("my secret");
    expect(w.telegram.fromBot(GUEST).filter(({ kind }) => kind === "document")).toEqual([]);
    // It is denied without an approval question.
    expect(w.telegram.fromBot(OWNER).some(({ markup }) => markup.includes("ea:"))).toBe(false);
  });

  // The container hides the home from file tools; without it only the role decides.
  it("can be read by the owner", async () => {
    const w = await openUsersFixture({ files, config: "terminal:\n  container: host\n" });
    w.telegram.say(OWNER, call("read_file", { path: home(w, "memories/USER.md") }));
    expect(await resultIn(w, OWNER)).toContain("PEACH is");
  });

  const hidden: readonly [string, (w: UsersFixture) => string][] = [
    ["a glob above the home", (w) => run(`cat ${join(w.home.path, "..")}/*/memories/USER.md`)],
    ["a recursive search above the home", (w) => run(`grep -r PEACH ${join(w.home.path, "..")}`)],
    ["an interpreter", () => run("python3 -c 'import os; print(1)'")],
    ["a command name built at run time", () => run("$(echo ca)t x")],
    ["execute_code", () => call("execute_code", { language: "python", code: "print(1)" })],
    ["a command in an arithmetic expression", () => run("x='a[$(id)]'; echo $((x))")],
  ];
  it.each(hidden)("needs the owner's approval when the accessed path is unknown: %s", async (_, words) => {
    const w = await openUsersFixture({ files });
    w.telegram.say(GUEST, words(w));
    const question = await questionIn(w, OWNER);
    w.telegram.press(OWNER, question, findButton(question, "deny"));
    expect(await resultIn(w, GUEST)).not.toContain("PEACH is");
  });

  it("does not affect ordinary commands of guests", async () => {
    const w = await openUsersFixture();
    mkdirSync(workspaceOf(w, GUEST), { recursive: true });
    writeFileSync(join(workspaceOf(w, GUEST), "list.txt"), "b\na\n");
    w.telegram.say(GUEST, run("sort list.txt | head -1 && ls -l && pwd"));
    expect(await resultIn(w, GUEST)).toContain("list.txt");
    expect(w.telegram.fromBot(OWNER)).toEqual([]);
  });
});

describe("/usage", () => {
  it("shows a guest the guest's own usage, and the owner all usage", async () => {
    const w = await openUsersFixture();
    for (const words of ["one", "two", "three"]) w.telegram.say(OWNER, words);
    await answered(w, OWNER, 3);
    w.telegram.say(GUEST, "hello");
    await answered(w, GUEST);
    w.telegram.say(GUEST, "/usage");
    await answered(w, GUEST, 2);
    w.telegram.say(OTHER, "/usage");
    await answered(w, OTHER);
    w.telegram.say(OWNER, "/usage");
    await answered(w, OWNER, 4);
    const count = (shown: string | undefined) => Number(/Today: (\d+) calls/.exec(shown ?? "")?.[1] ?? 0);
    expect(count(texts(w, GUEST)[1])).toBeLessThan(count(texts(w, OWNER)[3]));
    expect(count(texts(w, GUEST)[1])).toBeGreaterThan(0);
    expect(texts(w, OTHER)[0]).toContain("No model call");
  });
});

describe("the command table", () => {
  it("states for every built-in command whether it is for the owner only", async () => {
    const w = await openUsersFixture();
    const commands = await w.opened.app.commands("chat");
    expect(commands.filter(({ ownerOnly }) => ownerOnly === undefined).map(({ name }) => name)).toEqual([]);
    const forOwner = commands.filter(({ ownerOnly }) => ownerOnly !== false).map(({ name }) => name);
    expect(forOwner).toEqual(
      expect.arrayContaining(["debug", "model", "platform", "restart", "review", "rollback", "sethome", "yolo"]),
    );
  });
});
