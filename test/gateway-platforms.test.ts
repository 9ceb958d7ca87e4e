// One gateway with several platforms: a question and its answer over the protocol of each.
import { createHmac } from "node:crypto";
import { createTransport } from "nodemailer";
import OpenAI from "openai";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type OpenedGateway, openGateway } from "../src/app/open-gateway.ts";
import { Gateway } from "../src/gateway/control/gateway.ts";
import { openHome } from "../src/home/api.ts";
import { freePort } from "./kit/free-port.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import { type FakeDiscord, startFakeDiscord } from "./servers/fake-discord.ts";
import { type FakeLlm, startFakeLlm, text } from "./servers/fake-llm.ts";
import { type MailServers, mailServersMissing, startMailServers } from "./servers/mail-servers.ts";

const KEY = "a-key-for-clients";
const SECRET = "a-secret-for-senders";

let home: TempHome;
let llm: FakeLlm;
let discord: FakeDiscord;
let mail: MailServers | undefined;
let opened: OpenedGateway;
let gateway: Gateway;
let log: string[];
let ports: { api: number; webhook: number };

function mailSettings(servers: MailServers | undefined): { [name: string]: string } {
  if (!servers) return {};
  return {
    EMAIL_ADDRESS: "bot@mail.test",
    EMAIL_PASSWORD: servers.password,
    EMAIL_IMAP_HOST: "127.0.0.1",
    EMAIL_IMAP_PORT: String(servers.imapPort),
    EMAIL_SMTP_HOST: "127.0.0.1",
    EMAIL_SMTP_PORT: String(servers.smtpPort),
    EMAIL_ALLOWED_USERS: "ada@mail.test",
  };
}

beforeEach(async () => {
  home = tempHome();
  log = [];
  llm = await startFakeLlm({
    script: (request) => text(request.tools.length > 0 ? `You said: ${request.messages.at(-1)?.text}` : "A title"),
  });
  discord = await startFakeDiscord();
  mail = mailServersMissing() === undefined ? await startMailServers(["bot", "ada"]) : undefined;
  ports = { api: await freePort(), webhook: await freePort() };
  const routes = `platforms:
  webhook:
    enabled: true
    extra:
      routes:
        push: { secret: ${SECRET}, prompt: "Pushed: {title}", deliver: discord, deliver_extra: { chat_id: "601" } }
        note: { secret: ${SECRET}, prompt: "Note: {title}", deliver: "discord:601", deliver_only: true }
`;
  home.useModel(llm, routes);
  const host = {
    env: {
      PATH: process.env.PATH ?? "",
      HERMES_HOME: home.path,
      DISCORD_BOT_TOKEN: discord.token,
      DISCORD_API_ROOT: discord.url,
      DISCORD_ALLOWED_USERS: "500",
      WEBHOOK_PORT: String(ports.webhook),
      API_SERVER_KEY: KEY,
      API_SERVER_PORT: String(ports.api),
      ...mailSettings(mail),
    },
    cwd: home.path,
    platform: "linux",
    homedir: home.path,
  };
  opened = await openGateway(openHome([], host).home, { host: "in-process" });
  gateway = new Gateway(opened, { log: (level, line) => log.push(`${level}: ${line}`) });
  await gateway.start();
});

afterEach(async () => {
  await gateway.stop(1_000);
  await opened.close();
  await Promise.all([discord.close(), llm.close(), mail?.close()]);
  home.remove();
});

const saidByBot = () =>
  [...discord.messages.values()]
    .filter((message) => (message.author as { id: string }).id === discord.botId)
    .map((message) => String(message.content));
const shown = (words: string) => expect.poll(() => saidByBot().join("\n"), { timeout: 15_000 }).toContain(words);

it("answers on Discord, by e-mail, over the API, and delivers the notices of webhooks", async () => {
  const connected = async () => (await gateway.status()).platforms.filter(({ state }) => state === "ok").length;
  await expect.poll(connected, { timeout: 20_000 }).toBe(mail ? 4 : 3);
  discord.say("601", "hello there");
  await shown("You said: hello there");

  const post = (route: string, body: string) =>
    fetch(`http://127.0.0.1:${ports.webhook}/webhooks/${route}`, {
      method: "POST",
      headers: {
        "x-webhook-signature": createHmac("sha256", SECRET).update(body).digest("hex"),
        "x-request-id": route,
      },
      body,
    });
  expect((await post("push", JSON.stringify({ title: "a new door" }))).status).toBe(202);
  await shown("You said: Pushed: a new door");
  expect((await post("note", JSON.stringify({ title: "tea is ready" }))).status).toBe(200);
  await shown("Note: tea is ready");
  expect(saidByBot()).toContain("Note: tea is ready");

  const baseURL = `http://127.0.0.1:${ports.api}/v1`;
  const client = new OpenAI({ baseURL, apiKey: KEY, maxRetries: 0 });
  const answer = await client.chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "over HTTP" }],
  });
  expect(answer.choices[0]?.message.content).toBe("You said: over HTTP");
  const detailed = await fetch(`http://127.0.0.1:${ports.api}/health/detailed`, {
    headers: { authorization: `Bearer ${KEY}` },
  });
  expect(JSON.stringify(await detailed.json())).toContain("discord");

  if (!mail) return;
  const mailClient = createTransport({ host: "127.0.0.1", port: mail.smtpPort, ignoreTLS: true });
  await mailClient.sendMail({ from: "ada@mail.test", to: "bot@mail.test", subject: "A question", text: "dear agent" });
  mailClient.close();
  const inbox = mail;
  await expect.poll(() => inbox.inboxOf("ada").join("\n"), { timeout: 20_000 }).toContain("dear agent");
  expect(inbox.inboxOf("ada").join("\n")).toContain("Subject: Re: A question");
  expect(log.filter((line) => line.startsWith("error"))).toEqual([]);
});
