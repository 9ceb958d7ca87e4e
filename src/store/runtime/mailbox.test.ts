// The gateway's mailbox: one row per key, answers stored together with the end of their event, nothing lost in a crash.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { InboundEvent } from "../../core/chat/platform.ts";
import type { Mailbox } from "../../core/store/mailbox.ts";
import { openRuntimeDb } from "../runtime-db.ts";
import { takeKernelLock } from "./leases.ts";
import { createMailbox } from "./mailbox.ts";

let folder: string;
let mailbox: Mailbox;

function event(messageId: string, chatId = "c1", account = "bot"): InboundEvent {
  return {
    account,
    messageId,
    text: `text ${messageId}`,
    source: { platform: "telegram", chatId, chatKind: "dm", userId: "u1" },
    at: 1,
  };
}

const answer = (key: string, ephemeral = false) => ({
  key,
  platform: "telegram",
  to: { chatId: "c1" },
  payload: { type: "text" as const, text: key },
  ephemeral,
});

const reopen = async (): Promise<void> => {
  await mailbox.close();
  mailbox = createMailbox(openRuntimeDb(join(folder, "runtime.db")));
};

beforeEach(() => {
  folder = tempDir("mailbox-");
  mailbox = createMailbox(openRuntimeDb(join(folder, "runtime.db")));
});

afterEach(async () => {
  await mailbox.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the mailbox", () => {
  it("syncs messages and answers to disk, but not values that can be reconstructed", async () => {
    const db = openRuntimeDb(join(folder, "levels.db"));
    const own = createMailbox(db);
    const level = () => ({ 1: "normal", 2: "full" })[Number(db.pragma("synchronous"))];
    const [row] = await own.accept("telegram", [event("1")]);
    expect(level()).toBe("full");
    await own.begin([row?.id ?? 0], { sessionId: "s", logAfter: 0 });
    expect(level()).toBe("normal");
    const [sending] = await own.finish([row?.id ?? 0], "answered", [answer("a")], { mark: "1" });
    expect(level()).toBe("full");
    await Promise.all([own.sent(sending?.id ?? 0, "2"), own.accept("telegram", [event("2")])]);
    expect(level()).toBe("full");
    await own.close();
  });

  it("stores an answer that is sent at once as `sending`, also for recovery after a crash", async () => {
    const [row] = await mailbox.accept("telegram", [event("1")]);
    const sending = { mark: "41" };
    const rows = await mailbox.finish([row?.id ?? 0], "answered", [answer("a"), answer("b")], sending);
    expect(rows.map(({ state, mark, attempts }) => [state, mark, attempts])).toEqual([
      ["sending", "41", 1],
      ["queued", null, 0],
    ]);
    expect(await mailbox.finish([row?.id ?? 0], "answered", [answer("c")], sending)).toEqual([]);
    await reopen();
    const { outbox } = await mailbox.pending();
    expect(outbox.map(({ key, state, mark }) => [key, state, mark])).toEqual([
      ["a", "sending", "41"],
      ["b", "queued", null],
    ]);
  });

  it("keeps one row per account, chat and message, in order", async () => {
    const first = await mailbox.accept("telegram", [event("1"), event("2"), event("1")]);
    expect(first.map((row) => row.event.messageId)).toEqual(["1", "2"]);
    const again = await mailbox.accept("telegram", [
      event("2"),
      event("3"),
      event("1", "c2"),
      event("1", "c1", "bot2"),
    ]);
    expect(again.map((row) => [row.event.account, row.event.source.chatId, row.event.messageId])).toEqual([
      ["bot", "c1", "3"],
      ["bot", "c2", "1"],
      ["bot2", "c1", "1"],
    ]);
    await reopen();
    expect((await mailbox.pending()).inbox).toHaveLength(5);
  });

  it("stores the answers together with the end of the event, once", async () => {
    const [row] = await mailbox.accept("telegram", [event("1")]);
    const id = row?.id ?? 0;
    await mailbox.begin([id], { sessionId: "s", logAfter: 7 });
    await reopen();
    const [open] = (await mailbox.pending()).inbox;
    expect(open).toMatchObject({ state: "running", sessionId: "s", logAfter: 7, attempts: 1 });
    expect(await mailbox.finish([id], "answered", [answer("a")])).toHaveLength(1);
    expect(await mailbox.finish([id], "answered", [answer("b")])).toEqual([]);
    expect(await mailbox.enqueue([answer("a")])).toEqual([]);
    const { inbox, outbox } = await mailbox.pending();
    expect(inbox).toEqual([]);
    expect(outbox.map((entry) => entry.key)).toEqual(["a"]);
  });

  it("returns messages with an unknown outcome after a crash and drops ephemeral ones", async () => {
    const rows = await mailbox.enqueue([answer("a"), answer("b"), answer("note", true), answer("c")]);
    await mailbox.sending(rows[0]?.id ?? 0, "41");
    await mailbox.sending(rows[2]?.id ?? 0, "42");
    await mailbox.sending(rows[3]?.id ?? 0, "43");
    await mailbox.sent(rows[3]?.id ?? 0, "44");
    await reopen();
    const { outbox } = await mailbox.pending();
    expect(outbox.map(({ key, state, mark }) => ({ key, state, mark }))).toEqual([
      { key: "a", state: "sending", mark: "41" },
      { key: "b", state: "queued", mark: null },
    ]);
    expect(await mailbox.knownMessages("telegram", 0)).toEqual(["44"]);
    expect(await mailbox.counts()).toMatchObject({ inbox: 0, outbox: 2, failed: 0 });
  });

  it("deletes expired memory only", async () => {
    await mailbox.setMemory("email", "letter:1", "x", Date.now() - 1);
    await mailbox.setMemory("email", "letter:2", "x", Date.now() + 60_000);
    await mailbox.setMemory("email", "cursor", "7");
    await mailbox.prune(0);
    await reopen();
    const kept = await Promise.all(["letter:1", "letter:2", "cursor"].map((key) => mailbox.getMemory("email", key)));
    expect(kept).toEqual([null, "x", "7"]);
  });

  it("rejects a failing call and completes the others of its batch", async () => {
    const bad = mailbox.setMemory("telegram", "k", undefined as unknown as string);
    const good = mailbox.setMemory("telegram", "offset", "9");
    await expect(bad).rejects.toThrow();
    await good;
    expect(await mailbox.getMemory("telegram", "offset")).toBe("9");
  });
});

describe("the kernel lock", () => {
  it("is exclusive between processes and released after kill -9", async () => {
    const path = join(folder, "gateway.lock");
    const script = `const { DatabaseSync } = require("@photostructure/sqlite"); const d = new DatabaseSync(${JSON.stringify(`${path}.db`)}); d.exec("BEGIN EXCLUSIVE"); console.log("held"); setInterval(() => {}, 1000);`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(takeKernelLock(path)).toBeNull();
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
    const lock = takeKernelLock(path);
    expect(lock).not.toBeNull();
    lock?.release();
  });

  it("ignores the file that Hermes Agent v0.14 left under its name", () => {
    const path = join(folder, "gateway.lock");
    const left = '{"pid": 1, "kind": "hermes-gateway"}';
    writeFileSync(path, left);
    const lock = takeKernelLock(path);
    expect(lock).not.toBeNull();
    lock?.release();
    expect(readFileSync(path, "utf8")).toBe(left);
  });
});
