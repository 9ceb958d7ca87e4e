import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type AgentEvent, createHermes, type Hermes, type Human } from "../src/index.ts";
import { openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { workspaceEnv } from "./kit/home-workspace.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { calls, type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";

let home: string;
let llm: FakeLlm;
let hermes: Hermes;

beforeEach(async () => {
  home = tempDir("hermes-library-");
  llm = await startFakeLlm();
  hermes = await createHermes({
    home,
    env: { ...workspaceEnv(home, home), PATH: process.env.PATH, HOME: home },
    cwd: home,
    config: {
      model: { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 },
    },
  });
});

afterEach(async () => {
  await hermes.close();
  await llm.close();
  rmSync(home, { recursive: true, force: true });
});

it("holds a conversation that uses a tool, and keeps every message", async () => {
  writeFileSync(join(home, "notes.txt"), "the launch is on Friday\n");
  llm.enqueue(
    calls([{ name: "read_file", args: { path: "notes.txt" } }]),
    text("It is on Friday."),
    text("Launch date"),
  );
  const talk = await hermes.conversation();
  const events: AgentEvent[] = [];
  for await (const event of talk.send("When is the launch?", { signal: AbortSignal.timeout(20_000) }))
    events.push(event);
  await talk.close();
  expect(events.at(-1)).toMatchObject({ type: "ended", end: "done", text: "It is on Friday." });
  expect(events.filter((event) => event.type === "ended")).toHaveLength(1);
  const stored = await hermes.sessions.getMessages(talk.sessionId);
  expect(stored.map((row) => row.role)).toEqual(["user", "assistant", "tool", "assistant"]);
  expect(stored[2]?.content).toContain("the launch is on Friday");
});

it("resumes a session and finds it by search", async () => {
  llm.enqueue(text("Noted: the code word is marmalade."), text("Code word"), text("It was marmalade."));
  const first = await hermes.ask("The code word is marmalade.");
  const second = await hermes.ask("What was the code word?", { resume: first.sessionId });
  expect(second.text).toBe("It was marmalade.");
  expect(second.sessionId).toBe(first.sessionId);
  const { hits } = await hermes.sessions.searchMessages("marmalade");
  expect(hits.length).toBeGreaterThanOrEqual(2);
});

it("asks the given human, and runs nothing that they refuse", async () => {
  const asked: string[] = [];
  const human: Human = {
    present: true,
    approve: async (request) => {
      asked.push(request.action);
      return { choice: "deny" };
    },
    clarify: async () => null,
    secret: async () => null,
  };
  writeFileSync(join(home, "keep.txt"), "x");
  llm.enqueue(
    calls([{ name: "terminal", args: { command: "rm -rf ./build && rm -rf keep.txt" } }]),
    text("I was not allowed to."),
    text("Refused"),
  );
  const answer = await hermes.ask("clean up", { human });
  expect(asked).toHaveLength(1);
  expect(answer.text).toBe("I was not allowed to.");
});

it("manages scheduled jobs, runs them, and reports their results", async () => {
  const { jobs } = hermes;
  await expect(jobs.create({ schedule: "sometimes", prompt: "Report." })).rejects.toThrow("not a schedule");
  const job = await jobs.create({ schedule: "every 2h", prompt: "Report.", name: "Report" });
  expect((await jobs.update(job.id, { schedule: "0 9 * * *", timezone: "Asia/Tokyo" })).next_run_at).toContain(
    "T09:00",
  );
  await jobs.pause("report", "holiday");
  expect((await jobs.list()).map(({ state }) => state)).toEqual(["paused"]);
  await jobs.resume(job.id);
  expect(await jobs.tickerProblem()).toContain("No process runs jobs");
  llm.enqueue(text("All is well."), text("Still well."));
  expect(await jobs.run("Report")).toMatchObject({ state: "ran", trigger: "manual", reason: null });
  await jobs.trigger(job.id);
  expect(await jobs.tick()).toEqual({ started: 1, missed: 0, abandoned: 0 });
  expect((await jobs.history({ jobId: job.id })).map(({ trigger }) => trigger)).toEqual(["schedule", "manual"]);
  await jobs.remove(job.id);
  expect(await jobs.list()).toEqual([]);
});

it("stores the model settings and the estimated tokens of each message, and ends the session", async () => {
  llm.enqueue(text("Done."));
  const { sessionId } = await hermes.ask("Say done.");
  const row = await hermes.sessions.getSession(sessionId);
  expect(row).toMatchObject({ end_reason: "library_close", ended_at: expect.any(Number) });
  expect(JSON.parse(row?.model_config ?? "")).toMatchObject({ max_iterations: 90, max_tokens: null });
  const stored = await hermes.sessions.getMessages(sessionId);
  expect(stored.map((message) => (message.token_count ?? 0) > 0)).toEqual([true, true]);
  expect(await hermes.sessions.pruneSessions({ olderThanDays: 0 })).toBe(1);
});

it("says in the row that a session ran out of model calls", async () => {
  llm.enqueue(calls([{ name: "todo", args: {} }]), text("Stopped."));
  const { sessionId } = await hermes.ask("Plan.", { maxTurns: 1 });
  expect((await hermes.sessions.getSession(sessionId))?.end_reason).toBe("max_iterations");
});

it("keeps its sessions in the given database, and prunes old ones of that database on its own", async () => {
  const database = join(home, "elsewhere", "talks.db");
  const options = { home, env: { PATH: process.env.PATH, HOME: home }, cwd: home, database };
  const model = { default: "test-model", provider: "custom", base_url: `${llm.url}/v1`, context_length: 128_000 };
  llm.enqueue(text("Here."), text("Here again."));
  const first = await createHermes({ ...options, config: { model } });
  const { sessionId } = await first.ask("Where?");
  expect(await hermes.sessions.getSession(sessionId)).toBeNull();
  await first.close();

  const db = openDatabase(database);
  db.exec("UPDATE sessions SET started_at = started_at - 200 * 86400, ended_at = ended_at - 200 * 86400");
  db.close();
  const second = await createHermes({ ...options, config: { model, sessions: { auto_prune: true } } });
  await second.close();
  const third = await createHermes({ ...options, config: { model } });
  expect(await third.sessions.getSession(sessionId)).toBeNull();
  await third.close();
});
