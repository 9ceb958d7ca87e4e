// The e-mail platform against local IMAP and SMTP servers.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTransport } from "nodemailer";
import PostalMime from "postal-mime";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { platformContext, type TestPlatformContext } from "../../../test/kit/platform-context.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import { type MailServers, mailServersMissing, startMailServers } from "../../../test/servers/mail-servers.ts";
import type { PlatformConnection } from "../../core/chat/platform.ts";
import { emailPlatform } from "./email.ts";

const missing = mailServersMissing();
if (missing) process.stderr.write(`e-mail tests are skipped: ${missing}\n`);
const never = new AbortController().signal;

describe.skipIf(missing !== undefined)("with real servers", () => {
  let servers: MailServers;
  let dir: string;
  let memory: Map<string, string>;
  let context: TestPlatformContext;
  let connection: PlatformConnection | undefined;

  beforeAll(async () => {
    servers = await startMailServers(["bot", "ada", "eve", "mute"]);
  });

  afterAll(() => servers.close());

  beforeEach(() => {
    dir = tempDir("hermes-email-");
    memory = new Map();
  });

  afterEach(async () => {
    await connection?.close();
    connection = undefined;
    rmSync(dir, { recursive: true, force: true });
  });

  async function connect(env: { [name: string]: string } = {}): Promise<void> {
    context = platformContext(emailPlatform, {
      homePath: dir,
      env: {
        EMAIL_ADDRESS: "bot@mail.test",
        EMAIL_PASSWORD: servers.password,
        EMAIL_IMAP_HOST: "127.0.0.1",
        EMAIL_IMAP_PORT: String(servers.imapPort),
        EMAIL_SMTP_HOST: "127.0.0.1",
        EMAIL_SMTP_PORT: String(servers.smtpPort),
        EMAIL_ALLOWED_USERS: "ada@mail.test",
        EMAIL_POLL_INTERVAL: "60",
        ...env,
      },
      memory,
    });
    connection = await emailPlatform.connect(context);
  }

  async function write(mail: { [field: string]: unknown }): Promise<string> {
    const transport = createTransport({ host: "127.0.0.1", port: servers.smtpPort, ignoreTLS: true });
    const sent = await transport.sendMail({ from: "Ada <ada@mail.test>", to: "bot@mail.test", ...mail });
    transport.close();
    return sent.messageId;
  }

  const arrived = (count: number) => expect.poll(() => context.events.length, { timeout: 15_000 }).toBe(count);
  const newest = async (name: string) => PostalMime.parse(servers.inboxOf(name).at(-1) ?? "");

  it("receives an e-mail by IDLE, answers in its thread, and recognises the reply", async () => {
    await write({ subject: "Before the start", text: "old" });
    await connect();
    const first = await write({ subject: "Plans", text: "What is next?" });
    await arrived(1);
    const [event] = context.events;
    expect(event).toMatchObject({
      account: "bot@mail.test",
      messageId: first,
      text: "Subject: Plans\n\nWhat is next?",
      source: { chatId: "ada@mail.test", chatKind: "dm", userId: "ada@mail.test", userName: "Ada" },
    });
    const threadId = event?.source.threadId ?? "";
    const to = { chatId: "ada@mail.test", threadId };
    const result = await connection?.send(to, { text: "**Rest.** See `x`.", idempotencyKey: "k1" }, never);
    expect(result).toMatchObject({ ok: true });
    await expect.poll(() => servers.inboxOf("ada").length).toBe(1);
    const answer = await newest("ada");
    expect(answer).toMatchObject({ subject: "Re: Plans", inReplyTo: first });
    expect(answer.text).toContain("**Rest.**");
    expect(answer.html).toContain("<b>Rest.</b>");
    expect(answer.headers.find(({ key }) => key === "auto-submitted")?.value).toBe("auto-replied");
    const id = answer.messageId ?? "";
    await write({
      subject: "Re: Plans",
      text: "Good.\n\nOn Monday, Bot wrote:\n> **Rest.**",
      inReplyTo: id,
      references: id,
    });
    await arrived(2);
    expect(context.events[1]).toMatchObject({ text: "Good.", source: { threadId } });
    await write({ subject: "Another matter", text: "Hello" });
    await arrived(3);
    expect(context.events[2]?.source.threadId).not.toBe(threadId);
  });

  it("ignores unknown senders and automatic e-mails", async () => {
    await connect();
    await write({ from: "eve@mail.test", subject: "Hi", text: "Let me in" });
    await write({ subject: "Out of office", text: "x", headers: { "Auto-Submitted": "auto-replied" } });
    await write({ from: "bot@mail.test", subject: "Me", text: "x" });
    await write({ subject: "Real", text: "Me at last" });
    await arrived(1);
    expect(context.events[0]?.text).toContain("Me at last");
    expect(context.lines.filter((line) => line.includes("was ignored"))).toHaveLength(3);
  });

  it("does not let an unknown sender join a thread by its Message-IDs", async () => {
    await connect({ EMAIL_ALLOWED_USERS: "@mail.test" });
    const first = await write({ subject: "Secret plans", text: "a" });
    await arrived(1);
    await write({ from: "eve@mail.test", subject: "Re: Secret plans", text: "b", inReplyTo: first, references: first });
    await arrived(2);
    expect(context.events[1]?.source.threadId).not.toBe(context.events[0]?.source.threadId);
  });

  it("accepts files and HTML, and sends files", async () => {
    await connect();
    await write({
      subject: "Report",
      html: "<p>Please <b>read</b></p>",
      attachments: [{ filename: "numbers.csv", content: "a,b\n1,2\n", contentType: "text/csv" }],
    });
    await arrived(1);
    const [event] = context.events;
    expect(event?.text).toBe("Subject: Report\n\nPlease read");
    const [file] = event?.attachments ?? [];
    expect(file).toMatchObject({ kind: "document", name: "numbers.csv", mime: "text/csv" });
    const bytes = await connection?.download?.(file ?? { kind: "document", ref: "" }, never);
    expect(Buffer.from(bytes ?? []).toString()).toBe("a,b\n1,2\n");
    writeFileSync(join(dir, "answer.txt"), "the answer");
    const before = servers.inboxOf("ada").length;
    const out = { kind: "document" as const, path: join(dir, "answer.txt"), name: "answer.txt", idempotencyKey: "f1" };
    const to = { chatId: "ada@mail.test", threadId: event?.source.threadId ?? "" };
    expect(await connection?.sendFile?.(to, { ...out, caption: "Here it is" }, never)).toMatchObject({ ok: true });
    await expect.poll(() => servers.inboxOf("ada").length).toBe(before + 1);
    const answer = await newest("ada");
    expect(answer.attachments[0]?.filename).toBe("answer.txt");
    expect(answer.text?.trim()).toBe("Here it is");
  });

  it("resumes at its position, and fetches e-mails again that could not be stored", async () => {
    await connect();
    await connection?.close();
    await write({ subject: "While away", text: "1" });
    await connect();
    await arrived(1);
    context.failNext(1);
    await write({ subject: "Not kept", text: "2" });
    await expect.poll(() => context.losses.length, { timeout: 15_000 }).toBe(1);
    expect(connection?.health().state).toBe("red");
    await connection?.close();
    await connect();
    await arrived(1);
    expect(context.events[0]?.text).toContain("Not kept");
  });

  it("sends without receiving, and checks that receiving would work", async () => {
    const env = {
      EMAIL_ADDRESS: "bot@mail.test",
      EMAIL_PASSWORD: servers.password,
      EMAIL_IMAP_HOST: "127.0.0.1",
      EMAIL_IMAP_PORT: "1",
      EMAIL_SMTP_HOST: "127.0.0.1",
      EMAIL_SMTP_PORT: String(servers.smtpPort),
    };
    context = platformContext(emailPlatform, { homePath: dir, env, memory });
    connection = await emailPlatform.openSender?.(context);
    const email = { text: "From the terminal", idempotencyKey: "alone" };
    expect(await connection?.send({ chatId: "eve@mail.test" }, email, never)).toMatchObject({ ok: true });
    await expect.poll(() => servers.inboxOf("eve").length).toBeGreaterThan(0);
    expect((await newest("eve")).text).toContain("From the terminal");
    await expect(emailPlatform.prove?.(context)).rejects.toThrow("the IMAP server cannot be used");
    const readable = { ...env, EMAIL_IMAP_PORT: String(servers.imapPort) };
    await emailPlatform.prove?.(platformContext(emailPlatform, { homePath: dir, env: readable, memory }));
    const wrong = platformContext(emailPlatform, { homePath: dir, env: { ...readable, EMAIL_PASSWORD: "no" }, memory });
    await expect(emailPlatform.prove?.(wrong)).rejects.toThrow("does not accept the name or the password");
  });

  it("finds an e-mail by its Message-ID when the connection failed after the transfer", async () => {
    await connect();
    const to = { chatId: "mute@mail.test" };
    const email = (name: string) => ({ text: `email ${name}`, idempotencyKey: name });
    const lost = (name: string) => ({ to, message: email(name), mark: null, known: new Set<string>() });
    expect(await connection?.send(to, email("first"), never)).toMatchObject({ kind: "unknown" });
    // Without stored copies the outcome is unknown.
    expect(await connection?.findSent?.(lost("first"), never)).toEqual({ sent: "unknown" });
    await servers.keepSent("bot");
    expect(await connection?.findSent?.(lost("first"), never)).toEqual({ sent: "unknown" });
    expect(await connection?.send(to, email("second"), never)).toMatchObject({ kind: "unknown" });
    const second = await newest("mute");
    expect(await connection?.findSent?.(lost("second"), never)).toEqual({ sent: true, messageId: second.messageId });
    expect(await connection?.findSent?.(lost("third"), never)).toEqual({ sent: false });
    expect(servers.inboxOf("mute")).toHaveLength(2);
    await servers.stopImap();
    await expect(connection?.findSent?.(lost("second"), never)).rejects.toThrow();
    await servers.startImap();
  });

  it("refuses an e-mail whose file is missing, and signs out when the folder does not exist", async () => {
    await connect();
    const file = { kind: "document" as const, path: join(dir, "none.txt"), name: "none.txt", idempotencyKey: "gone" };
    expect(await connection?.sendFile?.({ chatId: "ada@mail.test" }, file, never)).toMatchObject({ kind: "refused" });
    await connection?.close();
    const before = servers.signedIn();
    await expect(connect({ EMAIL_FOLDER: "Nowhere" })).rejects.toThrow("Nowhere cannot be opened");
    await expect.poll(() => servers.signedIn()).toBeLessThanOrEqual(before);
  });

  it("reports a lost connection and the outcome of an e-mail", async () => {
    await connect({ EMAIL_POLL_INTERVAL: "1" });
    expect(connection?.health().state).toBe("ok");
    const say = (address: string) =>
      connection?.send({ chatId: address }, { text: "# News\nHello", idempotencyKey: address }, never);
    expect(await say("blocked@mail.test")).toMatchObject({ kind: "refused" });
    expect(await say("busy@mail.test")).toMatchObject({ kind: "retry" });
    const before = servers.inboxOf("ada").length;
    expect(await say("ada@mail.test")).toMatchObject({ ok: true });
    await expect.poll(() => servers.inboxOf("ada").length).toBe(before + 1);
    expect((await newest("ada")).subject).toBe("News");
    await servers.stopImap();
    await expect.poll(() => context.losses.length, { timeout: 15_000 }).toBe(1);
    await servers.startImap();
    await expect(connect({ EMAIL_PASSWORD: "wrong" })).rejects.toThrow("does not accept");
  });
});

it("names the missing settings", () => {
  const bare = platformContext(emailPlatform, { homePath: "/nowhere", env: { EMAIL_ADDRESS: "a@b.c" } });
  expect(emailPlatform.enabled(bare)).toEqual({
    ok: false,
    reason: "EMAIL_PASSWORD, EMAIL_IMAP_HOST, EMAIL_SMTP_HOST not set",
  });
});
