// Cases of the tests of Hermes Agent v0.14 on which this program once differed.
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { coerceArguments } from "../src/agent/tools/coerce-arguments.ts";
import { expandReferences } from "../src/context/prompt/references.ts";
import { takeMarkers } from "../src/core/chat/outgoing-media.ts";
import type { Deliverer } from "../src/core/job.ts";
import { resolveTargets } from "../src/cron/delivery-target.ts";
import { describeCalendar } from "../src/platforms/email/calendar.ts";
import { isSigned } from "../src/platforms/webhook/signature.ts";
import { applyHunks } from "../src/tools/files/apply-hunks.ts";
import { findPassage } from "../src/tools/files/fuzzy-match.ts";
import { exitMeaning } from "../src/tools/terminal/exit-meaning.ts";
import { createTodoLists, todoTool } from "../src/tools/todo.ts";
import { tempDir } from "./kit/temp-dir.ts";
import { toolContext } from "./kit/tool-context.ts";

describe("references", () => {
  let dir: string;
  beforeAll(() => {
    dir = tempDir("hermes-references-");
    mkdirSync(join(dir, "docs and specs"));
    writeFileSync(join(dir, "docs and specs", "release notes.txt"), "one\ntwo\nthree\nfour\n");
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  it.each([
    'Review @file:"docs and specs/release notes.txt":2-3 please',
    "Review @file:'docs and specs/release notes.txt':2-3.",
    "Review @file:`docs and specs/release notes.txt`:2-3",
  ])("attaches lines of %s", async (text) => {
    const options = { cwd: dir, userHome: dir, hermesHome: join(dir, "h"), contextLength: 100_000 };
    const found = await expandReferences(text, options);
    expect(found.warnings).toEqual([]);
    expect(found.text).toContain("lines 2-3");
    expect(found.text).toContain("two\nthree");
    expect(found.text).not.toContain("four");
  });
});

describe("markers of files", () => {
  const files = ["/tmp/Jane Doe/speech.flac", "/tmp/a.png", "/tmp/v1.2 final.pdf"];
  const resolve = (path: string) => (files.includes(path) ? path : null);
  it.each([
    ["MEDIA:/tmp/Jane Doe/speech.flac", "", ["/tmp/Jane Doe/speech.flac"]],
    ["Here: MEDIA:/tmp/a.png and MEDIA:/tmp/v1.2 final.pdf.", "Here:  and .", ["/tmp/a.png", "/tmp/v1.2 final.pdf"]],
    ['MEDIA:"/tmp/Jane Doe/speech.flac" done', "done", ["/tmp/Jane Doe/speech.flac"]],
    ["MEDIA:/tmp/none here.png", "MEDIA:/tmp/none here.png", []],
  ])("%s", (text, rest, paths) => {
    expect(takeMarkers(text, resolve)).toMatchObject({ text: rest, paths });
  });
});

describe("the todo tool", () => {
  const lists = createTodoLists();
  const run = async (args: object) => {
    const result = await todoTool(lists).run(args as never, toolContext("."));
    return { failed: result.failed ?? false, ...JSON.parse(String(result.content)) };
  };
  it("updates a part of an item, takes the last of two with one id, and wants a text for a new one", async () => {
    await run({ todos: [{ id: "1", content: "Read", status: "pending" }] });
    const merged = await run({ todos: [{ id: "1", status: "completed" }], merge: true });
    expect(merged.todos).toEqual([{ id: "1", content: "Read", status: "completed" }]);
    const twice = [
      { id: "2", content: "Old", status: "pending" },
      { id: "2", content: "New", status: "pending" },
    ];
    expect((await run({ todos: twice })).todos).toEqual([{ id: "2", content: "New", status: "pending" }]);
    expect((await run({ todos: [{ id: "9", status: "pending" }], merge: true })).failed).toBe(true);
  });
});

it("a patch that only adds lines needs a hint that occurs once", () => {
  const hunk = (hint: string) => ({ hint, oldLines: [], newLines: ["x"] });
  const text = "a\nfoo\nb\nfoo\nc\n";
  expect(applyHunks(text, [hunk("foo")])).toMatchObject({ ok: false, error: expect.stringContaining("not unique") });
  expect(applyHunks(text, [hunk("gone")])).toMatchObject({ ok: false });
  expect(applyHunks(text, [hunk("b")])).toEqual({ ok: true, text: "a\nfoo\nb\nx\nfoo\nc\n" });
  expect(applyHunks(text, [hunk("")])).toEqual({ ok: true, text: `${text}x\n` });
});

it("two hyphens stand for a long dash, and a decrement stays one", () => {
  expect(findPassage("return value—fallback", "return value--fallback")?.matches).toHaveLength(1);
  expect(findPassage("i-\n", "i--", { careful: true })).toBeNull();
});

it("small cases", () => {
  expect(coerceArguments({ a: "null" }, { properties: { a: { type: "integer", nullable: true } } })).toEqual({
    a: null,
  });
  expect(exitMeaning("ack TODO src", 1)).toBe("no match");
});

it("`origin,all` sends to the other platforms' homes only", async () => {
  const home = (platform: string) => ({ platform, chatId: `${platform}-home` });
  const deliverer = {
    known: () => ["discord", "telegram"],
    problem: () => undefined,
    home,
    resolve: async () => undefined,
  } as unknown as Deliverer;
  const origin = { platform: "discord", chat_id: "888" };
  const { targets } = await resolveTargets({ deliver: "origin,all", origin }, deliverer);
  expect(targets.map((target) => target.chatId)).toEqual(["888", "telegram-home"]);
});

describe("signatures", () => {
  // Values of the senders' own documentation.
  it("of Slack", () => {
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers: { [name: string]: string } = {
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const check = (now: number) =>
      isSigned((name) => headers[name], "8f742231b10e8888abcd99yyyzzz85a5", Buffer.from(body), now);
    expect(check(1_531_420_618_000)).toBe(true);
    expect(check(1_531_421_618_000)).toBe(false);
  });

  it.each(["webhook", "svix"])("of Standard Webhooks (%s)", (prefix) => {
    const headers: { [name: string]: string } = {
      [`${prefix}-id`]: "msg_p5jXN8AQM9LWM0D4loKWxJek",
      [`${prefix}-timestamp`]: "1614265330",
      [`${prefix}-signature`]: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE= v2,xxx",
    };
    const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    const check = (body: string) => isSigned((name) => headers[name], secret, Buffer.from(body), 1_614_265_330_000);
    expect(check('{"test": 2432232314}')).toBe(true);
    expect(check('{"test": 2432232315}')).toBe(false);
  });
});

it("describes a calendar invitation", () => {
  const text = describeCalendar(
    [
      "BEGIN:VCALENDAR",
      "METHOD:REQUEST",
      "BEGIN:VTIMEZONE",
      "TZID:Europe/Berlin",
      "END:VTIMEZONE",
      "BEGIN:VEVENT",
      "SUMMARY:Plan the",
      "  launch",
      "DTSTART;TZID=Europe/Berlin:20270115T090000",
      "DTEND:20270115T090000Z",
      "ORGANIZER;CN=Ann:mailto:ann@example.org",
      "LOCATION:Room 4\\, second floor",
      "BEGIN:VALARM",
      "DESCRIPTION:Reminder",
      "END:VALARM",
      "END:VEVENT",
      "END:VCALENDAR",
    ].join("\r\n"),
  );
  expect(text).toBe(
    "[Calendar invitation]\nEvent: Plan the launch\nStarts: 2027-01-15 09:00 Europe/Berlin\nEnds: 2027-01-15 09:00 UTC\nPlace: Room 4, second floor\nOrganiser: Ann <ann@example.org>",
  );
});
