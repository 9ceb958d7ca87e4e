// A run of a job: folder, tools, model, failover, and exactly one end.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { upcomingRuns } from "../src/cron/api.ts";
import { CronFixture } from "./kit/cron-fixture.ts";
import { calls, type FakeLlm, startFakeLlm, status, text } from "./servers/fake-llm.ts";

let host: CronFixture;
let spare: FakeLlm;
beforeEach(async () => {
  host = await CronFixture.start();
  spare = await startFakeLlm();
});
afterEach(async () => {
  await host.close();
  await spare.close();
});

it("works in its folder, with the project's files and only its own toolsets", async () => {
  await host.open();
  const project = join(host.home.path, "project");
  mkdirSync(project);
  writeFileSync(join(project, "AGENTS.md"), "The colour of this project is teal.\n");
  const { actions, scheduler } = await host.app.cron();
  const job = await actions.create({
    schedule: "1h",
    prompt: "Where?",
    workdir: project,
    enabled_toolsets: ["terminal"],
  });
  const plain = await actions.create({ schedule: "1h", prompt: "Elsewhere?" });
  host.llm.enqueue(calls([{ name: "terminal", args: { command: "pwd" } }]), text("Here."), text("There."));
  await scheduler.runNow(job.id);
  await scheduler.runNow(plain.id);
  const [first, second, third] = host.llm.requests;
  expect(first?.system).toContain("teal");
  expect(first?.tools).toContain("terminal");
  expect(first?.tools).not.toContain("read_file");
  expect(second?.messages.at(-1)?.text).toContain(project);
  expect(third?.system).not.toContain("teal");
  expect(third?.tools).toContain("read_file");
});

it("fails over to the next model, and uses the model that the job names", async () => {
  await host.open(
    `agent:\n  api_max_retries: 1\nproviders:\n  spare:\n    base_url: ${spare.url}/v1\n    default_model: spare-model\nfallback_providers:\n  - provider: spare\n    model: spare-model\n`,
  );
  const { actions, scheduler } = await host.app.cron();
  const job = await actions.create({ schedule: "1h", prompt: "Look.", deliver: "telegram" });
  host.llm.enqueue(status(500, { message: "down" }), status(500, { message: "down" }));
  spare.enqueue(text("From the spare one."));
  expect((await scheduler.runNow(job.id)).state).toBe("ran");
  expect(host.sent[0]?.message.text).toContain("From the spare one.");
  const other = await actions.create({ schedule: "1h", prompt: "Look.", provider: "spare", model: "small-model" });
  spare.enqueue(text("Small."));
  expect((await scheduler.runNow(other.id)).state).toBe("ran");
  expect(spare.requests.at(-1)?.model).toBe("small-model");
});

it("keeps nothing of the chat or of an earlier run", async () => {
  await host.open();
  const { actions, scheduler } = await host.app.cron();
  const job = await actions.create({ schedule: "every 1h", prompt: "Look." });
  host.llm.enqueue(text("The first secret."), text("The second."));
  const [one, two] = [await scheduler.runNow(job.id), await scheduler.runNow(job.id)];
  expect(one.sessionId).not.toBe(two.sessionId);
  expect(JSON.stringify(host.llm.requests[1]?.messages)).not.toContain("secret");
  expect(readdirSync(join(host.home.path, "cron", "output", job.id))).toHaveLength(2);
});

it("reaches a topic by its name or number, each target once", async () => {
  await host.open();
  host.script("say.sh", "echo hello\n");
  const { actions, scheduler } = await host.app.cron();
  const deliver = "telegram:#topic, telegram:99:8,,telegram:99,telegram:#topic:4";
  const job = await actions.create({ schedule: "1h", script: "say.sh", no_agent: true, deliver });
  expect(job.deliver).toBe("telegram:#topic,telegram:99:8,telegram:99,telegram:#topic:4");
  await scheduler.runNow(job.id);
  expect(host.sent.map(({ target }) => `${target.chatId}:${target.threadId ?? ""}`)).toEqual(["99:8", "99:", "99:4"]);
});

it("succeeds also when the outbox fails, and the other chats get the result", async () => {
  await host.open();
  host.script("say.sh", "echo hello\n");
  const { actions, scheduler } = await host.app.cron();
  const deliver = "telegram:throws,telegram:5";
  const job = await actions.create({ schedule: "1h", script: "say.sh", no_agent: true, deliver });
  const run = await scheduler.runNow(job.id);
  expect(run).toMatchObject({ state: "ran", deliveryError: "telegram: the outbox is locked" });
  expect(host.sent.map(({ target }) => target.chatId)).toEqual(["5"]);
});

it("delivers its result also when the document cannot be saved, and says so", async () => {
  await host.open();
  host.script("say.sh", "echo hello\n");
  const { actions, scheduler, output } = await host.app.cron();
  const job = await actions.create({ schedule: "1h", script: "say.sh", no_agent: true, deliver: "telegram" });
  writeFileSync(output, "a file where a folder should be");
  expect(await scheduler.runNow(job.id)).toMatchObject({ state: "ran", document: null });
  expect(host.sent[0]?.message.text).toContain("hello");
  expect(host.notices.join()).toContain("could not be saved");
});

it("runs dangerous commands only when the owner configured it", async () => {
  await host.open("approvals:\n  cron_mode: approve\n");
  const old = join(host.home.path, "old");
  mkdirSync(old);
  const { actions, scheduler } = await host.app.cron();
  const job = await actions.create({ schedule: "1h", prompt: "Clean up." });
  host.llm.enqueue(calls([{ name: "terminal", args: { command: `rm -rf ${old}` } }]), text("Done."));
  expect((await scheduler.runNow(job.id)).state).toBe("ran");
  expect(existsSync(old)).toBe(false);
});

it("uses values written to .env in the meantime", async () => {
  await host.open();
  host.script("show.sh", 'echo "key: $FRESH_SETTING"\n');
  const { actions, scheduler } = await host.app.cron();
  const job = await actions.create({ schedule: "1h", script: "show.sh", no_agent: true, deliver: "telegram" });
  await scheduler.runNow(job.id);
  writeFileSync(join(host.home.path, ".env"), "FRESH_SETTING=blue\n");
  await scheduler.runNow(job.id);
  expect(host.sent.map(({ message }) => /key: ?(\w*)/.exec(message.text)?.[1])).toEqual(["", "blue"]);
});

it("is not announced by a ticker that cannot read the jobs", async () => {
  await host.open();
  const { ledger, owners, tickerProblem } = await host.app.cron();
  const beat = (failure: string) =>
    ledger.recordHeartbeat({ owner: owners.self, startedAt: Date.now(), tickedAt: Date.now(), failure });
  await beat("");
  expect(await tickerProblem()).toBeUndefined();
  await beat("jobs.json is damaged");
  expect(await tickerProblem()).toContain("jobs.json is damaged");
});

it("restarts its count when its schedule changes kind, or when it gets fewer repetitions than it has had", async () => {
  await host.open();
  host.script("say.sh", "echo hello\n");
  const cron = await host.app.cron();
  const job = await cron.actions.create({ schedule: "every 1h", script: "say.sh", no_agent: true });
  await cron.file.edit(job.id, (found) => ({ ...found, repeat: { times: null, completed: 42 } }));
  const limited = await cron.actions.update(job.id, { repeat: 5 });
  expect(limited.repeat).toEqual({ times: 5, completed: 0 });
  await cron.file.edit(job.id, (found) => ({ ...found, repeat: { times: 5, completed: 4 } }));
  expect((await cron.actions.update(job.id, { repeat: 6 })).repeat).toEqual({ times: 6, completed: 4 });
  const once = await cron.actions.update(job.id, { schedule: "1d" });
  expect(once).toMatchObject({ repeat: { times: 1, completed: 0 }, state: "scheduled" });
  expect(await upcomingRuns(cron, { count: 5 })).toHaveLength(1);
});
