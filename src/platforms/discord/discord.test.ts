// The Discord platform against a local server: receiving, sending, reconnecting.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { platformContext, type TestPlatformContext } from "../../../test/kit/platform-context.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { type FakeDiscord, startFakeDiscord } from "../../../test/servers/fake-discord.ts";
import type { PlatformConnection } from "../../core/chat/platform.ts";
import { discordPlatform } from "./discord.ts";

const GUILD = "700";
const CHANNEL = "710";
const never = new AbortController().signal;
const platform = discordPlatform([{ name: "new", summary: "Start a new session", args: "[title]" }]);

let dir: string;
let discord: FakeDiscord;
let memory: Map<string, string>;
let context: TestPlatformContext;
let connection: PlatformConnection | undefined;

async function connect(env: { [name: string]: string } = {}, section: { [key: string]: unknown } = {}): Promise<void> {
  context = platformContext(platform, {
    homePath: dir,
    env: { DISCORD_BOT_TOKEN: discord.token, DISCORD_API_ROOT: discord.url, ...env },
    section,
    memory,
  });
  connection = await platform.connect(context);
}

beforeEach(async () => {
  dir = tempDir("hermes-discord-");
  memory = new Map();
  discord = await startFakeDiscord();
  discord.addChannel({ id: CHANNEL, type: 0, guild_id: GUILD, name: "general" });
});

afterEach(async () => {
  await connection?.close();
  connection = undefined;
  await discord.close();
  rmSync(dir, { recursive: true, force: true });
});

const arrived = (count: number) => expect.poll(() => context.events.length, { timeout: 10_000 }).toBe(count);
const me = () => `<@${discord.botId}>`;
const inGuild = { guild_id: GUILD, member: { roles: ["r1"], nick: null } };

describe("receiving", () => {
  it("accepts private messages with files", async () => {
    await connect();
    const url = `${discord.url}/files/photo.png`;
    discord.say("601", "Hello", {
      attachments: [{ id: "1", filename: "photo.png", size: 10, url, content_type: "image/png" }],
    });
    await arrived(1);
    const [event] = context.events;
    expect(event).toMatchObject({
      account: discord.botId,
      text: "Hello",
      source: { platform: "discord", chatId: "601", chatKind: "dm", userId: "500", userName: "Ada" },
      attachments: [{ kind: "image", name: "photo.png" }],
    });
    const bytes = await connection?.download?.(event?.attachments?.[0] ?? { kind: "image", ref: "" }, never);
    expect(Buffer.from(bytes ?? []).toString()).toBe("bytes of /files/photo.png");
    const foreign = { kind: "document" as const, ref: "http://169.254.169.254/secret" };
    await expect(connection?.download?.(foreign, never)).rejects.toThrow("not a file server");
  });

  it("starts a thread for a mention, with the channel's history, and needs no mention in it", async () => {
    await connect();
    discord.say(CHANNEL, "the build is red", inGuild);
    const id = discord.say(CHANNEL, `${me()} why?\nsecond line`, inGuild);
    await arrived(1);
    expect(context.events[0]).toMatchObject({
      text: "why?\nsecond line",
      backfill: "Ada: the build is red",
      source: { chatId: id, threadId: id, chatKind: "thread", parentChatId: CHANNEL, chatName: "why?" },
    });
    discord.say(id, "and now?", inGuild);
    await arrived(2);
    expect(context.events[1]?.source.threadId).toBe(id);
  });

  it("ignores messages that are not for the bot", async () => {
    await connect({ DISCORD_IGNORED_CHANNELS: "720", DISCORD_FREE_RESPONSE_CHANNELS: "730" });
    for (const channel of ["720", "730"]) discord.addChannel({ id: channel, type: 0, guild_id: GUILD, name: channel });
    const bot = { id: "44", username: "other", discriminator: "0", avatar: null, bot: true };
    discord.say(CHANNEL, "no mention", inGuild);
    discord.say(CHANNEL, `${me()} from a bot`, { ...inGuild, author: bot });
    discord.say(CHANNEL, "somebody joined", { ...inGuild, type: 7 });
    discord.say("720", `${me()} in an ignored channel`, inGuild);
    discord.say("730", "<@555> between people", { ...inGuild, mentions: [{ ...bot, id: "555" }] });
    discord.say(CHANNEL, "by webhook", { ...inGuild, webhook_id: "1" });
    discord.say("730", "free to answer", inGuild);
    await arrived(1);
    expect(context.events[0]?.text).toBe("free to answer");
    expect(context.events[0]?.source.chatKind).toBe("channel");
  });

  it("checks roles, also in private messages by the configured server", async () => {
    await connect({ DISCORD_ALLOWED_ROLES: "boss", DISCORD_ALLOWED_USERS: "9" }, { dm_role_auth_guild: GUILD });
    discord.addMember("77", ["boss"]);
    const user = (id: string) => ({
      author: { id, username: id, discriminator: "0", avatar: null, global_name: id },
    });
    discord.say(CHANNEL, `${me()} stranger`, inGuild);
    discord.say(CHANNEL, `${me()} member`, { guild_id: GUILD, member: { roles: ["boss"] }, ...user("8") });
    discord.say(CHANNEL, `${me()} listed`, { ...inGuild, ...user("9") });
    discord.say("602", "dm stranger", user("5"));
    discord.say("603", "dm member", user("77"));
    await arrived(3);
    expect(context.events.map((event) => event.text)).toEqual(["member", "listed", "dm member"]);
  });

  it("accepts edits, button presses and slash commands", async () => {
    await connect();
    const author = { id: "500", username: "ada", discriminator: "0", avatar: null, global_name: "Ada" };
    const changed = { id: "5", channel_id: "601", type: 0, content: "better", author, mentions: [], attachments: [] };
    discord.dispatch("MESSAGE_UPDATE", { ...changed, timestamp: "2026-01-01", edited_timestamp: null });
    discord.dispatch("MESSAGE_UPDATE", {
      ...changed,
      timestamp: "2026-01-01",
      edited_timestamp: "2026-01-02T00:00:00Z",
    });
    const base = { token: "tok", application_id: "8", channel: { id: "601", type: 1 }, user: author };
    discord.dispatch("INTERACTION_CREATE", {
      ...base,
      id: "i1",
      type: 3,
      data: { custom_id: "ea:once:1" },
      message: { id: "m1" },
    });
    const options = [{ type: 3, name: "args", value: "Plans" }];
    discord.dispatch("INTERACTION_CREATE", { ...base, id: "i2", type: 2, data: { name: "new", options } });
    await arrived(3);
    expect(context.events[0]).toMatchObject({ edited: true, text: "better" });
    expect(context.events[1]).toMatchObject({
      press: { data: "ea:once:1", messageId: "m1" },
      source: { userId: "500" },
    });
    expect(context.events[2]?.text).toBe("/new Plans");
    await expect.poll(() => discord.calls.filter(({ path }) => path.endsWith("/callback")).length).toBe(2);
    await connection?.answerPress?.(context.events[1]?.press ?? { data: "", messageId: "" }, "Allowed once");
    expect(discord.calls.at(-1)).toMatchObject({ path: "/webhooks/800000000000000001/tok", body: { flags: 64 } });
  });

  it("registers its commands once", async () => {
    await connect();
    await connection?.close();
    await connect();
    const puts = discord.calls.filter(({ path }) => path.endsWith("/commands"));
    expect(puts).toHaveLength(1);
    expect(JSON.stringify(puts[0]?.body)).toContain("Start a new session");
  });
});

describe("without the gateway socket", () => {
  it("sends and lists channels by REST only, and reports a wrong token", async () => {
    discord.addChannel({ id: "702", type: 15, guild_id: GUILD, name: "ideas" });
    discord.addChannel({ id: "703", type: 2, guild_id: GUILD, name: "Voice" });
    const env = { DISCORD_BOT_TOKEN: discord.token, DISCORD_API_ROOT: discord.url };
    context = platformContext(platform, { homePath: dir, env, memory });
    connection = await platform.openSender?.(context);
    const sent = await connection?.send({ chatId: CHANNEL }, { text: "News", idempotencyKey: "k" }, never);
    expect(sent).toMatchObject({ ok: true });
    const guild = `Server ${GUILD}`;
    expect(await connection?.channels?.()).toEqual([
      { id: CHANNEL, name: "general", kind: "channel", guild },
      { id: "702", name: "ideas", kind: "forum", guild },
    ]);
    expect(discord.logins).toEqual([]);
    const wrong = { ...env, DISCORD_BOT_TOKEN: "AAAA.BBBB.CCCC" };
    const refused = platform.openSender?.(platformContext(platform, { homePath: dir, env: wrong, memory }));
    await expect(refused).rejects.toThrow("rejected the bot token");
  });
});

describe("sending", () => {
  const to = { chatId: CHANNEL };
  const said = (text: string, key = text) => ({ text, idempotencyKey: key });

  it("sends with buttons, edits, deletes, reacts, and sends files", async () => {
    await connect();
    const buttons = [
      [
        { label: "Once", data: "ea:once:1" },
        { label: "Deny", data: "ea:deny:1" },
      ],
    ];
    const sent = await connection?.send(to, { ...said("May I?"), buttons, replyTo: "123" }, never);
    if (!sent?.ok) throw new Error("not sent");
    expect(discord.messages.get(sent.messageId)).toMatchObject({
      content: "May I?",
      components: [{ components: [{ custom_id: "ea:once:1" }, { custom_id: "ea:deny:1" }] }],
      message_reference: { message_id: "123" },
      allowed_mentions: { parse: ["users"] },
    });
    await connection?.edit?.(to, sent.messageId, { text: "Allowed." }, never);
    expect(discord.messages.get(sent.messageId)).toMatchObject({ content: "Allowed.", components: [] });
    await connection?.react?.(to, "123", "seen");
    expect(discord.calls.at(-1)?.method).toBe("PUT");
    writeFileSync(join(dir, "report.txt"), "x");
    const file = {
      kind: "document" as const,
      path: join(dir, "report.txt"),
      name: "report.txt",
      caption: "Here",
      idempotencyKey: "f",
    };
    expect(await connection?.sendFile?.(to, file, never)).toMatchObject({ ok: true });
    expect(discord.calls.at(-1)).toMatchObject({ files: ["report.txt"], body: { content: "Here" } });
    expect(await connection?.delete?.(to, sent.messageId, never)).toMatchObject({ ok: true });
    expect(await connection?.delete?.(to, sent.messageId, never)).toMatchObject({ ok: true });
  });

  it("classifies the result of a send, and a repeated send is shown once", async () => {
    await connect();
    discord.failNext(
      /POST .*messages/,
      429,
      { message: "slow down", retry_after: 2, global: false },
      { "retry-after": "2" },
    );
    expect(await connection?.send(to, said("a"), never)).toMatchObject({
      kind: "retry",
      retryAfterMs: expect.any(Number),
    });
    await connection?.close();
    await connect();
    discord.failNext(/POST .*messages/, 403, { message: "Missing Access", code: 50_001 });
    expect(await connection?.send(to, said("b"), never)).toMatchObject({ kind: "refused", reason: "Missing Access" });
    discord.failNext(/POST .*messages/, 502);
    expect(await connection?.send(to, said("c"), never)).toMatchObject({ kind: "unknown" });
    const first = await connection?.send(to, said("d"), never);
    expect(await connection?.send(to, said("d"), never)).toEqual(first);
    const mark = connection?.mark?.(to) ?? null;
    expect(await connection?.findSent?.({ to, message: said("d"), mark, known: new Set() }, never)).toMatchObject({
      sent: true,
    });
    expect(await connection?.findSent?.({ to, message: said("never"), mark, known: new Set() }, never)).toEqual({
      sent: false,
    });
  });

  it("finds a lost message in a busy channel, and retries when Discord does not answer", async () => {
    await connect();
    const mark = connection?.mark?.(to) ?? null;
    for (let n = 0; n < 150; n++) discord.say("602", `noise ${n}`, { ...inGuild, channel_id: CHANNEL });
    await connection?.send(to, said("the answer"), never);
    const lost = { to, message: said("the answer"), mark, known: new Set<string>() };
    expect(await connection?.findSent?.(lost, never)).toMatchObject({ sent: true });
    discord.failNext(/GET .*messages/, 502);
    await expect(connection?.findSent?.(lost, never)).rejects.toThrow();
    discord.failNext(/GET .*messages/, 403, { message: "Missing Access", code: 50_001 });
    expect(await connection?.findSent?.(lost, never)).toEqual({ sent: "unknown" });
    const alone = await platform.openSender?.(context);
    expect(alone?.mark?.(to)).not.toBeNull();
    expect(await alone?.findSent?.(lost, never)).toMatchObject({ sent: true });
  });

  it("shows long lists of choices as five rows of five", async () => {
    await connect();
    const buttons = Array.from({ length: 12 }, (_, n) => [{ label: `choice ${n}`, data: `pk:${n}` }]);
    await connection?.send(to, { ...said("Which?"), buttons }, never);
    const rows = discord.calls.at(-1)?.body.components as { components: unknown[] }[] | undefined;
    expect(rows?.map((row) => row.components.length)).toEqual([5, 5, 2]);
  });

  it("creates a post in a forum", async () => {
    discord.addChannel({ id: "740", type: 15, guild_id: GUILD, name: "ideas" });
    await connect();
    await connection?.send({ chatId: "740" }, said("Title line\nBody"), never);
    expect(discord.calls.at(-1)).toMatchObject({ path: "/channels/740/threads", body: { name: "Title line" } });
  });
});

describe("the connection", () => {
  it("resumes after a disconnect without losing or repeating messages", async () => {
    await connect();
    discord.say("601", "one");
    await arrived(1);
    discord.cut();
    discord.say("601", "two");
    await arrived(2);
    discord.askReconnect();
    discord.say("601", "three");
    await arrived(3);
    expect(context.events.map((event) => event.text)).toEqual(["one", "two", "three"]);
    expect(discord.logins.filter((login) => login === "identify")).toHaveLength(1);
  });

  it("resumes after a restart where the inbox ended", async () => {
    await connect();
    discord.say("601", "one");
    await arrived(1);
    await connection?.close();
    discord.say("601", "while away");
    await connect();
    await arrived(1);
    expect(context.events[0]?.text).toBe("while away");
    expect(discord.logins.at(-1)).toMatch(/^resume:/);
    await connection?.close();
    discord.say("601", "after the session ended");
    discord.say("699", "in a place it does not know");
    discord.forgetSessions();
    await connect();
    expect(discord.logins.at(-1)).toBe("identify");
    await arrived(1);
    expect(context.events[0]?.text).toBe("after the session ended");
  });

  it("fetches all messages missed without a session, in their current text", async () => {
    await connect();
    discord.say("601", "one");
    await arrived(1);
    await connection?.close();
    for (let n = 0; n < 120; n++) discord.say("601", `missed ${n}`, n === 7 ? { edited_timestamp: "2026-01-01" } : {});
    discord.forgetSessions();
    discord.failNext(/GET .*messages/, 502);
    await connect();
    // The first fetch fails, so a new session requests everything again.
    await expect.poll(() => context.losses.length, { timeout: 10_000 }).toBe(1);
    await connection?.close();
    await connect();
    await arrived(120);
    expect(context.events.map((event) => event.text)).toEqual(Array.from({ length: 120 }, (_, n) => `missed ${n}`));
    expect(context.events[7]?.edited).toBeUndefined();
  });

  it("still receives after an event that cannot be parsed", async () => {
    await connect();
    discord.say("601", "odd", { mentions: null, ...inGuild });
    discord.say("601", "plain");
    await arrived(1);
    expect(context.events[0]?.text).toBe("plain");
    expect(context.losses).toEqual([]);
  });

  it("requests events again that could not be stored", async () => {
    await connect();
    context.failNext(1);
    discord.say("601", "kept in the end");
    await expect.poll(() => context.losses.length, { timeout: 10_000 }).toBe(1);
    expect(connection?.health().state).toBe("red");
    await connection?.close();
    await connect();
    await arrived(1);
    expect(context.events[0]?.text).toBe("kept in the end");
  });

  it("detects a half-open connection", async () => {
    await discord.close();
    discord = await startFakeDiscord({ heartbeatMs: 150 });
    await connect();
    await expect.poll(() => discord.heartbeats, { timeout: 10_000 }).toBeGreaterThan(1);
    expect(connection?.health().state).toBe("ok");
    discord.answerHeartbeats = false;
    await expect.poll(() => discord.logins.at(-1), { timeout: 15_000 }).toMatch(/^resume:/);
    discord.answerHeartbeats = true;
    discord.say("601", "still here");
    await arrived(1);
  });

  it("is red and closed after a minute without proof of receiving", async () => {
    let ahead = 0;
    context = platformContext(platform, {
      homePath: dir,
      env: { DISCORD_BOT_TOKEN: discord.token, DISCORD_API_ROOT: discord.url },
      now: () => Date.now() + ahead,
    });
    connection = await platform.connect(context);
    expect(connection.health().state).toBe("ok");
    ahead = 55_000;
    expect(connection.health().state).toBe("degraded");
    ahead = 70_000;
    expect(connection.health()).toMatchObject({ state: "red", reason: "no heartbeat was answered" });
    await expect.poll(() => context.losses, { timeout: 10_000 }).toEqual(["no heartbeat was answered"]);
  });

  it("reports a wrong token", async () => {
    await expect(connect({ DISCORD_BOT_TOKEN: "a.b.c" })).rejects.toThrow("rejected the bot token");
    const bare = platformContext(platform, { homePath: dir });
    expect(platform.enabled(bare)).toMatchObject({ ok: false });
  });
});
