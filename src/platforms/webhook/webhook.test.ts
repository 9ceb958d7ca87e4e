// Webhooks over real HTTP: authentication, the created events, and the responses to the sender.
import { createHmac } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { platformContext, type TestPlatformContext } from "../../../test/kit/platform-context.ts";
import { tempDir } from "../../../test/kit/temp-dir.ts";
import type { PlatformConnection } from "../../core/chat/platform.ts";
import { render } from "./template.ts";
import { webhookPlatform } from "./webhook.ts";

const SECRET = "s3cret-of-the-route";
let dir: string;
let memory: Map<string, string>;
let context: TestPlatformContext;
let connection: PlatformConnection;

const routes = {
  push: { secret: SECRET, events: ["push", "issues.opened"], prompt: "Summarise: {head_commit.message} ({missing})" },
  note: {
    secret: SECRET,
    deliver: "telegram",
    deliver_extra: { chat_id: "{chat}" },
    deliver_only: true,
    prompt: "{text}",
  },
  raw: { secret: SECRET, deliver: "telegram:42:7", skills: ["triage"] },
};

async function connect(section: { [key: string]: unknown } = { routes }): Promise<void> {
  context = platformContext(webhookPlatform, { homePath: dir, env: { WEBHOOK_PORT: "0" }, section, memory });
  connection = await webhookPlatform.connect(context);
}

beforeEach(async () => {
  memory = new Map();
  dir = tempDir("hermes-webhook-");
  await connect();
});

afterEach(async () => {
  await connection.close();
  rmSync(dir, { recursive: true, force: true });
});

function hmac(text: string, secret = SECRET): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}

async function post(route: string, body: unknown, headers?: { [name: string]: string }) {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const answer = await fetch(`${connection.accountName}/webhooks/${route}`, {
    method: "POST",
    headers: headers ?? { "x-webhook-signature": hmac(text), "content-type": "application/json" },
    body: text,
  });
  return { status: answer.status, body: (await answer.json()) as { [key: string]: unknown } };
}

it("passes a GitHub event on once, with its rendered prompt", async () => {
  const body = JSON.stringify({ head_commit: { message: "fix the door" } });
  const headers = {
    "x-hub-signature-256": `sha256=${hmac(body)}`,
    "x-github-event": "push",
    "x-github-delivery": "d-1",
  };
  expect(await post("push", body, headers)).toMatchObject({ status: 202, body: { delivery_id: "d-1" } });
  expect(await post("push", body, headers)).toMatchObject({ status: 200, body: { status: "duplicate" } });
  expect(context.events).toHaveLength(1);
  expect(context.events[0]).toMatchObject({
    messageId: "d-1",
    text: "Summarise: fix the door ({missing})",
    authenticated: true,
    deliverTo: null,
    source: { chatId: "webhook:push:d-1", chatKind: "webhook", userId: "webhook:push" },
  });
});

it("accepts every valid kind of signature and no invalid one", async () => {
  const body = JSON.stringify({ type: "push" });
  const time = Math.floor(Date.now() / 1000);
  const old = time - 3600;
  const right = [
    (text: string) => ({ "x-hub-signature-256": `sha256=${hmac(text)}` }),
    () => ({ "x-gitlab-token": SECRET }),
    (text: string) => ({ "x-webhook-signature": hmac(text) }),
    (text: string) => ({ "x-webhook-signature": `sha256=${hmac(text)}` }),
    (text: string) => ({ "stripe-signature": `t=${time},v1=${hmac(`${time}.${text}`)}` }),
    (text: string) => ({ "x-webhook-signature": `t=${time},v1=${hmac(`${time}.${text}`)}` }),
  ];
  for (const [index, headers] of right.entries()) {
    const text = JSON.stringify({ type: "push", index });
    expect((await post("raw", text, { ...headers(text), "x-request-id": `r${index}` })).status).toBe(202);
  }
  const wrong = [
    {},
    { "x-hub-signature-256": `sha256=${hmac(body, "other")}` },
    { "x-hub-signature-256": "" },
    { "x-gitlab-token": "guess" },
    { "x-webhook-signature": hmac(`${body} `) },
    { "stripe-signature": `t=${old},v1=${hmac(`${old}.${body}`)}` },
    { "stripe-signature": `t=${time},v1=${hmac(body)}` },
    { "stripe-signature": "t=,v1=" },
  ];
  for (const headers of wrong)
    expect((await post("raw", body, headers as { [name: string]: string })).status).toBe(401);
  expect(context.events).toHaveLength(right.length);
});

it("recognises a captured delivery under another id, also after a restart; routes may allow repetitions", async () => {
  const body = JSON.stringify({ type: "push", door: "open" });
  const time = Math.floor(Date.now() / 1000);
  const stripe = `t=${time},v1=${hmac(`${time}.${body}`)}`;
  const send = (headers: { [name: string]: string }) => post("raw", body, headers);
  const signed = { "x-hub-signature-256": `sha256=${hmac(body)}` };
  expect((await send({ ...signed, "x-github-delivery": "a" })).status).toBe(202);
  expect(await send({ ...signed, "x-github-delivery": "b" })).toMatchObject({
    status: 200,
    body: { status: "duplicate" },
  });
  expect(await send(signed)).toMatchObject({ body: { status: "duplicate" } });
  expect((await send({ "stripe-signature": stripe })).status).toBe(202);
  expect(await send({ "stripe-signature": stripe })).toMatchObject({ body: { status: "duplicate" } });
  await connection.close();
  await connect({ routes: { ...routes, bell: { ...routes.raw, repeats: true } } });
  expect(await send({ ...signed, "x-github-delivery": "c" })).toMatchObject({ body: { status: "duplicate" } });
  const bell = { "x-webhook-signature": hmac(body) };
  expect([(await post("bell", body, bell)).status, (await post("bell", body, bell)).status]).toEqual([202, 202]);
});

it("parses JSON with any content type, and forms", async () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const send = (body: string) => post("raw", body, { ...form, "x-webhook-signature": hmac(body) });
  expect((await send('{"from":"curl -d"}')).status).toBe(202);
  expect(context.events[0]?.text).toContain('"from": "curl -d"');
  expect((await send(`payload=${encodeURIComponent('{"from":"GitHub"}')}`)).status).toBe(202);
  expect(context.events[1]?.text).toContain('"from": "GitHub"');
  expect((await send("a=1&b=2")).status).toBe(202);
  expect(context.events[2]?.text).toContain('"a": "1"');
  expect((await send("")).status).toBe(400);
});

it("rejects requests of web pages to a route without a secret", async () => {
  await connection.close();
  await connect({ routes: { open: { secret: "INSECURE_NO_AUTH", prompt: "{x}" } } });
  expect((await post("open", { x: 1 }, {})).status).toBe(202);
  expect((await post("open", { x: 1 }, { origin: "https://evil.example" })).status).toBe(403);
  // fetch does not allow another Host header.
  const rebound = new Promise<number | undefined>((resolve, reject) => {
    const options = { method: "POST", headers: { host: "evil.example" } };
    const sent = request(`${connection.accountName}/webhooks/open`, options, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on("error", reject).end("{}");
  });
  expect(await rebound).toBe(403);
  expect(context.events).toHaveLength(1);
});

it("ignores events that the route does not list", async () => {
  expect(await post("push", { event_type: "ping" })).toMatchObject({ status: 200, body: { status: "ignored" } });
  expect((await post("push", { event_type: "issues", action: "opened" })).status).toBe(202);
  expect((await post("push", { event_type: "issues", action: "closed" })).status).toBe(200);
  expect(context.events).toHaveLength(1);
});

it("delivers a notice without the agent", async () => {
  const body = JSON.stringify({ chat: 99, text: "Backup done" });
  const headers = { "x-webhook-signature": hmac(body), "x-request-id": "n1" };
  expect((await post("note", body, headers)).status).toBe(200);
  expect(context.delivered).toEqual([{ target: "telegram:99", text: "Backup done", key: "webhook:note:n1" }]);
  expect(context.events).toHaveLength(0);
});

it("refuses a delivery whose answer has no target before any work starts", async () => {
  context.unreachable.add("telegram:42:7");
  expect((await post("raw", { n: 1 })).status).toBe(503);
  context.unreachable.clear();
  expect((await post("raw", { n: 1 })).status).toBe(202);
  expect(context.events).toHaveLength(1);
});

it("passes skills and a target with a thread on", async () => {
  await post("raw", { type: "anything", n: 1 });
  expect(context.events[0]).toMatchObject({ deliverTo: "telegram:42:7", autoSkills: ["triage"] });
  expect(context.events[0]?.text).toContain('"n": 1');
});

it("asks the sender to retry when the event could not be stored, and accepts the retry", async () => {
  const body = JSON.stringify({ type: "x" });
  const headers = { "x-webhook-signature": hmac(body), "x-request-id": "again" };
  context.failNext(1);
  expect((await post("raw", body, headers)).status).toBe(503);
  expect((await post("raw", body, headers)).status).toBe(202);
  expect(context.events).toHaveLength(1);
  context.failNext(1);
  const other = JSON.stringify({ type: "y" });
  const twice = { "x-webhook-signature": hmac(other), "x-request-id": "at-once" };
  const both = await Promise.all([post("raw", other, twice), post("raw", other, twice)]);
  expect(both.map(({ status }) => status)).not.toContain(200);
});

it("refuses unknown routes, large bodies, broken bodies and floods", async () => {
  expect((await post("nothing", {})).status).toBe(404);
  expect((await post("raw", "x".repeat(1_100_000))).status).toBe(413);
  expect((await post("raw", "{")).status).toBe(400);
  await connection.close();
  await connect({ routes, rate_limit: 2 });
  expect((await post("raw", { a: 1 })).status).toBe(202);
  expect((await post("raw", { a: 2 })).status).toBe(202);
  expect((await post("raw", { a: 3 })).status).toBe(429);
});

it("serves routes added while it runs; configured routes take precedence", async () => {
  const file = join(dir, "webhook_subscriptions.json");
  const entry = { secret: "other-secret", prompt: "New: {x}" };
  writeFileSync(file, JSON.stringify({ fresh: entry, raw: entry, open: { prompt: "x" } }));
  const body = JSON.stringify({ x: 1 });
  expect((await post("fresh", body, { "x-webhook-signature": hmac(body, "other-secret") })).status).toBe(202);
  expect(context.events[0]?.text).toBe("New: 1");
  expect((await post("raw", body, { "x-webhook-signature": hmac(body, "other-secret") })).status).toBe(401);
  expect((await post("open", body, {})).status).toBe(404);
});

it("does not start with a route without authentication", async () => {
  const start = (env: { [name: string]: string }, route: object) =>
    webhookPlatform.connect(
      platformContext(webhookPlatform, {
        homePath: dir,
        env: { WEBHOOK_PORT: "0", ...env },
        section: { routes: { route } },
      }),
    );
  await expect(start({}, {})).rejects.toThrow("no secret");
  await expect(start({ WEBHOOK_HOST: "0.0.0.0" }, { secret: "INSECURE_NO_AUTH" })).rejects.toThrow("loopback");
  await expect(start({}, { secret: "x", deliver_only: true })).rejects.toThrow("deliver_only");
  await expect(start({ WEBHOOK_PORT: "99999" }, { secret: "x" })).rejects.toThrow("WEBHOOK_PORT");
});

it("renders any template over any payload without throwing", () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (template, payload) => {
      expect(typeof render(`${template}{a.b}{__raw__}`, payload)).toBe("string");
    }),
  );
  expect(render("{a.b} {payload.a.b} {a.constructor} {c}", { a: { b: 1 }, c: { d: [1] } })).toBe(
    '1 1 {a.constructor} {"d":[1]}',
  );
});

it("checks that it is reachable with regular requests, and reports when it is not", async () => {
  await connection.close();
  let now = 1_000_000;
  context = platformContext(webhookPlatform, {
    homePath: dir,
    env: { WEBHOOK_PORT: "0" },
    section: { routes, probe_seconds: 0.05 },
    now: () => now,
  });
  connection = await webhookPlatform.connect(context);
  expect(connection.health()).toEqual({ state: "ok", provenAt: 1_000_000 });
  now = 2_000_000;
  expect(connection.health().state).toBe("red");
  await expect.poll(() => connection.health()).toEqual({ state: "ok", provenAt: 2_000_000 });
  context.stop();
  await expect
    .poll(async () => (await fetch(`${connection.accountName}/health`).catch(() => null))?.status)
    .toBe(undefined);
  now = 3_000_000;
  expect(connection.health().state).toBe("red");
});
