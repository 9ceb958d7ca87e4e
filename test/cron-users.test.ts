// Jobs of several users in one home: who may see, change and receive which.
import { afterEach, beforeEach, expect, it } from "vitest";
import { absentHuman } from "../src/core/human.ts";
import type { JobOrigin } from "../src/core/job.ts";
import { CronFixture } from "./kit/cron-fixture.ts";
import { calls, text } from "./servers/fake-llm.ts";

let host: CronFixture;
beforeEach(async () => {
  host = await CronFixture.start();
  await host.open("platform_toolsets:\n  telegram: [web, session_search, cronjob]\n");
});
afterEach(() => host.close());

type Args = { [name: string]: unknown };
const GUEST = { userId: "telegram-user-5", origin: { platform: "telegram", chat_id: "5" } };
const OWNER = { origin: { platform: "telegram", chat_id: "1" } };

/** The tool's answers to the calls, in a conversation of that user, without the lines with hints for the model. */
async function asked(who: { userId?: string; origin: JobOrigin; platform?: string }, ...toolArguments: Args[]) {
  const replies = toolArguments.map((args) => calls([{ name: "cronjob", args }]));
  host.llm.enqueue(...replies, text("Done."), text("Title"));
  const { conversation } = await host.app.openConversation({ human: absentHuman, ...who });
  const results: { success: boolean; [field: string]: unknown }[] = [];
  for await (const event of conversation.send("Please.", { signal: AbortSignal.timeout(20_000) })) {
    if (event.type === "message" && event.message.role === "tool")
      results.push(JSON.parse(String(event.message.content).split("\n")[0] ?? ""));
  }
  await conversation.close();
  return results;
}

it("shows and changes only the user's own jobs; the owner sees all", async () => {
  const cron = await host.app.cron();
  const secret = await cron.actions.create({ schedule: "every 1h", prompt: "Read the ledger", name: "Ledger" });
  const results = await asked(
    GUEST,
    { action: "create", schedule: "every 2h", prompt: "Water the plants", name: "Plants" },
    { action: "list" },
    { action: "update", job_id: "Ledger", prompt: "Something else" },
    { action: "remove", job_id: secret.id },
    { action: "create", schedule: "every 2h", prompt: "Repeat it", context_from: [secret.id] },
    { action: "pause", job_id: "plants" },
  );
  expect(results.map((result) => result.success)).toEqual([true, true, false, false, false, true]);
  expect(results[1]).toMatchObject({ count: 1, jobs: [{ name: "Plants" }] });
  expect(await cron.actions.find("Ledger")).toMatchObject({ prompt: "Read the ledger", enabled: true });
  const [listed] = await asked(OWNER, { action: "list" });
  expect(listed).toMatchObject({ count: 2 });
});

it("lets others deliver to their own chat and to home channels only", async () => {
  const targets = ["telegram:42", "telegram:5", "telegram", "origin", "local", "all"];
  const toolArguments = targets.map((deliver, at) => ({
    action: "create",
    schedule: "1d",
    prompt: `Report ${at}`,
    deliver,
  }));
  const results = await asked(GUEST, ...toolArguments);
  expect(results.map((result) => result.success)).toEqual([false, true, true, true, true, true]);
  expect(String(results[0]?.error)).toContain("owner");
  const [moved] = await asked(GUEST, { action: "update", job_id: "Report 1", deliver: "origin,telegram:42" });
  expect(moved?.success).toBe(false);
  const [owned] = await asked(OWNER, { action: "create", schedule: "1d", prompt: "Tell them", deliver: "telegram:42" });
  expect(owned?.success).toBe(true);
});

it("runs no script of the home for a user without the terminal tool", async () => {
  host.script("balance.sh", "echo 1000\n");
  const options = { action: "create", schedule: "1d", script: "balance.sh", no_agent: true };
  const guest = { ...GUEST, platform: "telegram" };
  const [refused] = await asked(guest, options);
  expect(refused?.success).toBe(false);
  expect(String(refused?.error)).toContain("terminal");
  const [cli] = await asked({ ...GUEST, platform: "cli" }, options);
  expect(cli?.success).toBe(true);
  const [owned] = await asked({ ...OWNER, platform: "telegram" }, { ...options, name: "Mine" });
  expect(owned?.success).toBe(true);
});

it("runs a job with the access and the tools of the user who created it", async () => {
  const cron = await host.app.cron();
  const enabled_toolsets = ["terminal", "session_search"];
  await asked(GUEST, { action: "create", schedule: "1d", prompt: "Look for it", name: "Look", enabled_toolsets });
  const job = await cron.actions.find("Look");
  host.llm.enqueue(text("Nothing found."));
  const run = await cron.scheduler.runNow(job.id);
  expect(host.llm.requests.at(-1)?.tools).toContain("session_search");
  expect(host.llm.requests.at(-1)?.tools).not.toContain("terminal");
  expect(await host.app.store.getSession(run.sessionId ?? "")).toMatchObject({ user_id: "telegram-user-5" });
});

it("assigns a job of an older home to the user who changes it in its chat", async () => {
  const cron = await host.app.cron();
  await cron.actions.create({ schedule: "1d", prompt: "Old task", name: "Old" }, GUEST.origin);
  const [changed] = await asked(GUEST, { action: "update", job_id: "Old", prompt: "New task" });
  expect(changed?.success).toBe(true);
  expect((await cron.actions.find("Old")).origin).toMatchObject({ chat_id: "5", tenant: "telegram-user-5" });
});
