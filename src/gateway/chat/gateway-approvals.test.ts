// What an approval question shows: everything that decides, however long or strange the command is.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { closeGateways, type GatewayFixture, texts } from "../../../test/kit/gateway-fixture.ts";
import {
  call,
  findButton,
  GUEST,
  OWNER,
  openUsersFixture,
  questionIn,
  removePlaces,
  resultIn,
  run,
} from "../../../test/kit/users-fixture.ts";
import { approvalText } from "./approval-text.ts";

afterEach(async () => {
  await closeGateways();
  removePlaces();
});

const sentFile = (w: GatewayFixture, chat: number) => {
  const document = w.telegram.fromBot(chat).find(({ kind }) => kind === "document");
  const bytes = w.telegram.files.get(`sent-${document?.id ?? 0}`);
  return Buffer.isBuffer(bytes) ? bytes.toString("utf8") : "";
};

describe("an approval question", () => {
  const long = `echo start; ls ${"a".repeat(4_000)}; rm -rf data; ls ${"b".repeat(4_000)}`;

  it.each([OWNER, GUEST])(
    "of %i with a long command quotes the flagged part and comes with the whole as a file",
    async (user) => {
      const w = await openUsersFixture();
      w.telegram.say(user, run(long));
      const question = await questionIn(w, OWNER);
      expect(question.text).toContain("rm -rf data");
      expect(question.text.length).toBeLessThan(4_096);
      expect(sentFile(w, OWNER)).toBe(`${long}\n`);
      expect(findButton(question, "once")).not.toBe("");
      w.telegram.press(OWNER, question, findButton(question, "deny"));
      await resultIn(w, user);
    },
  );

  it("with a long command comes with the whole as messages where the platform refuses the file", async () => {
    const w = await openUsersFixture();
    w.telegram.refuse = (method) => (method === "sendDocument" ? [400, "Bad Request: no files here"] : null);
    w.telegram.say(OWNER, run(long));
    const question = await questionIn(w, OWNER);
    const before = w.telegram.fromBot(OWNER).filter(({ id }) => id < question.id);
    const shown = before.map(({ text }) => text.replaceAll(/\s|\(\d\/\d\)/g, "")).join("");
    expect(shown).toContain(long.replaceAll(/\s/g, ""));
    w.telegram.press(OWNER, question, findButton(question, "deny"));
    await resultIn(w, OWNER);
  });

  it("shows control and direction characters as escapes, and no second code block", () => {
    const action = "rm -rf data \u202e# \u001b[2J\r\u200b ``` \n```\nls";
    const { text: shown } = approvalText({ action, reason: "deletes", flagged: [action] }, 4_096, "Ada");
    expect(shown).toContain("\\u202e");
    expect(shown).toContain("\\x1b[2J\\r\\u200b");
    expect(shown).not.toContain("\u202e");
    expect(shown.match(/```/g)?.length ?? 0).toBeLessThanOrEqual(2);
  });

  it("keeps every character within a message of each platform, and says so when it does not fit", () => {
    const request = { action: "x".repeat(10_000), reason: "deletes", flagged: ["rm -rf data", "y".repeat(5_000)] };
    for (const max of [2_000, 4_096]) {
      const { text, whole } = approvalText(request, max, "Ada (telegram 7) in a private chat");
      expect(whole).toBe(request.action);
      expect(text.length).toBeLessThan(max - 100);
      expect(text).toContain("rm -rf data");
    }
    expect(approvalText(request, 0).text).toContain(request.action);
  });
});

describe("files of a guest's answer", () => {
  it("are not those of the home, while the owner's are sent", async () => {
    const w = await openUsersFixture({ files: { "notes/secret.txt": "PEACH" } });
    const words = `here MEDIA:${join(w.home.path, "notes/secret.txt")}`;
    w.telegram.say(GUEST, words);
    await w.telegram.until(() => texts(w, GUEST).some((shown) => shown.includes("protected file was not sent")));
    expect(sentFile(w, GUEST)).toBe("");
    w.telegram.say(OWNER, words);
    await w.telegram.until(() => sentFile(w, OWNER) === "PEACH");
    writeFileSync(join(w.folder, "mine.txt"), "mine");
    w.telegram.say(GUEST, `MEDIA:${join(w.folder, "mine.txt")}`);
    await w.telegram.until(() => sentFile(w, GUEST) === "mine");
  });
});

describe("jobs that a guest makes", () => {
  it("reach no more than the guest: the home is closed to them, and scripts are the owner's", async () => {
    const w = await openUsersFixture({
      files: { "memories/USER.md": "PEACH is the owner's", "scripts/x.sh": "echo hi" },
    });
    w.telegram.say(GUEST, call("cronjob", { action: "create", schedule: "every 1h", prompt: "x", script: "x.sh" }));
    expect(await resultIn(w, GUEST)).toContain("Only the owner can use scripts");
    const prompt = call("read_file", { path: join(w.home.path, "memories/USER.md") });
    const cron = await w.opened.app.cron();
    const origin = { platform: "telegram", chat_id: String(GUEST), tenant: `telegram-user-${GUEST}` };
    const job = await cron.actions.create({ schedule: "every 1h", prompt, deliver: "origin" }, origin);
    await cron.scheduler.startNow(job.id);
    await w.telegram.until(() => texts(w, GUEST).some((shown) => shown.includes("in the home of Hermes")));
    expect(JSON.stringify(texts(w, GUEST))).not.toContain("PEACH is");
  });
});

describe("Telegram", () => {
  it("takes fields that are null for absent ones: a message is no edit", async () => {
    const w = await openUsersFixture();
    const chat = { id: OWNER, type: "private", title: null, is_forum: null };
    const from = { id: OWNER, is_bot: false, first_name: "Ada", last_name: null };
    const absent = { photo: null, voice: null, message_thread_id: null, reply_to_message: null, media_group_id: null };
    const message = { message_id: 900, date: 1, chat, from, text: "hello", ...absent };
    w.telegram.update({ message, edited_message: null, callback_query: null, channel_post: null });
    await w.telegram.until(() => texts(w, OWNER).includes("You said: hello"));
  });

  it("gives a reason when a file is refused in a form that is not Telegram's", async () => {
    const w = await openUsersFixture();
    const path = join(w.folder, "out.csv");
    writeFileSync(path, "a,b\n");
    w.telegram.foreign = (method) => (method === "sendDocument" ? { detail: "Not Found" } : null);
    w.telegram.say(OWNER, `MEDIA:${path}`);
    await w.telegram.until(() => texts(w, OWNER).some((shown) => shown.includes("out.csv could not be sent")));
    const told = texts(w, OWNER).find((shown) => shown.includes("out.csv could not be sent"));
    expect(told).not.toContain("undefined");
    expect(told).toContain("unknown format");
  });

  it("with a token that is none is logged and in the status", async () => {
    const w = await openUsersFixture({ env: { TELEGRAM_ALLOWED_USERS: "1", TELEGRAM_BOT_TOKEN: "not a token" } });
    expect(w.log.join("\n")).toContain("Telegram is not used: TELEGRAM_BOT_TOKEN does not look like a bot token");
    const { platforms, state } = await w.gateway.status();
    expect(platforms).toMatchObject([
      { name: "telegram", state: "fatal", reason: expect.stringContaining("bot token") },
    ]);
    expect(state).toBe("degraded");
  });
});
