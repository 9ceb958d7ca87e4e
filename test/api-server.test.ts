// Authentication and chat completions of the API server, with the official client and curl against a real server.
import { execFile } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openServer } from "../src/app/open-server.ts";
import { API_KEY, type ApiFixture, apiFixture } from "./kit/api-fixture.ts";
import { calls, hang, status, text } from "./servers/fake-llm.ts";

const run = promisify(execFile);

let api: ApiFixture;

beforeEach(async () => {
  api = await apiFixture();
});

afterEach(() => api.close());

/** fetch does not let a program choose Host. */
function probe(path: string, headers: { [name: string]: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(api.server.url);
    const call = request({ hostname, port, path, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    });
    call.on("error", reject);
    call.end();
  });
}

describe("authentication", () => {
  const bearer = { authorization: `Bearer ${API_KEY}` };

  it("requires the key on every route except /health", async () => {
    expect(await probe("/health", {})).toBe(200);
    for (const path of ["/v1/models", "/v1/capabilities", "/health/detailed", "/v1/runs/run_1", "/nothing"]) {
      expect(await probe(path, {})).toBe(401);
      expect(await probe(path, { authorization: "Bearer wrong" })).toBe(401);
      expect(await probe(path, { authorization: `Basic ${API_KEY}` })).toBe(401);
    }
    expect(await probe("/v1/models", bearer)).toBe(200);
    expect(await probe("/nothing", bearer)).toBe(404);
    const answer = await api.post("/v1/chat/completions", { messages: [] }, { authorization: "Bearer no" });
    expect(await answer.json()).toMatchObject({ error: { code: "invalid_api_key" } });
    expect(api.turns()).toHaveLength(0);
  });

  it("rejects foreign origins and rebound host names, even with the key", async () => {
    expect(await probe("/v1/models", { ...bearer, origin: "https://evil.example" })).toBe(403);
    expect(await probe("/health", { origin: "https://evil.example" })).toBe(403);
    expect(await probe("/v1/models", { ...bearer, origin: "null" })).toBe(403);
    expect(await probe("/v1/models", { ...bearer, host: "evil.example:8642" })).toBe(403);
    expect(await probe("/v1/models", { ...bearer, host: "localhost.evil.example" })).toBe(403);
    expect(await probe("/v1/models", { ...bearer, host: "localhost:1234" })).toBe(200);
  });

  it("allows the configured origins, and answers their preflight", async () => {
    await api.restart({ API_SERVER_KEY: API_KEY, API_SERVER_CORS_ORIGINS: "https://chat.example" });
    const origin = "https://chat.example";
    const asked = await fetch(`${api.server.url}/v1/chat/completions`, { method: "OPTIONS", headers: { origin } });
    expect(asked.status).toBe(204);
    expect(asked.headers.get("access-control-allow-origin")).toBe(origin);
    expect(await probe("/v1/models", { ...bearer, origin })).toBe(200);
    expect(await probe("/v1/models", { ...bearer, origin: "https://other.example" })).toBe(403);
  });

  it("creates a key when there is none, readable by its owner only", async () => {
    await api.restart({});
    const path = join(api.home.path, ".env");
    const key = /^API_SERVER_KEY="?([\w-]+)/m.exec(readFileSync(path, "utf8"))?.[1] ?? "";
    expect(key.length).toBeGreaterThanOrEqual(40);
    expect(statSync(path).mode & 0o077).toBe(0);
    expect(await probe("/v1/models", { authorization: `Bearer ${key}` })).toBe(200);
    expect(await probe("/v1/models", bearer)).toBe(401);
  });

  it("refuses to listen on all interfaces with a weak key", async () => {
    await expect(
      openServer({ ...api.app, home: { ...api.app.home, env: { API_SERVER_KEY: "short" } } }, { host: "0.0.0.0" }),
    ).rejects.toThrow("fewer than 8");
    await expect(
      openServer({ ...api.app, home: { ...api.app.home, env: { API_SERVER_KEY: "change_me" } } }, { host: "0.0.0.0" }),
    ).rejects.toThrow("placeholder");
  });

  it("lists the model under the name of the profile", async () => {
    const named = await openServer({ ...api.app, home: { ...api.app.home, profile: "work" } }, { port: 0 });
    expect([named.modelName, api.server.modelName]).toEqual(["work", "hermes-agent"]);
    await named.close();
  });

  it("reports a port that is in use", async () => {
    const port = Number(new URL(api.server.url).port);
    await expect(openServer(api.app, { port })).rejects.toThrow("in use");
  });

  it("rejects bad requests with the reason", async () => {
    const code = async (body: unknown) => {
      const answer = await api.post("/v1/chat/completions", body);
      return [answer.status, ((await answer.json()) as { error: { code: string } }).error.code];
    };
    expect(await code("{")).toEqual([400, "invalid_json"]);
    expect(await code({})).toEqual([400, "missing_messages"]);
    expect(await code({ messages: [{ role: "assistant", content: "x" }] })).toEqual([400, "missing_user_message"]);
    expect(await code({ messages: [{ role: "user", content: [{ type: "input_audio" }] }] })).toEqual([
      400,
      "unsupported_content_type",
    ]);
    const image = { type: "image_url", image_url: { url: "file:///etc/passwd" } };
    expect(await code({ messages: [{ role: "user", content: [image] }] })).toEqual([400, "invalid_image_url"]);
    expect(await code(`{"messages":"${"x".repeat(11 * 1024 * 1024)}"}`)).toEqual([413, "body_too_large"]);
  });
});

describe("chat completions with the official client", () => {
  it("lists one model and answers", async () => {
    expect(await api.client.models.retrieve("hermes-agent")).toMatchObject({ object: "model" });
    await expect(api.client.models.retrieve("gpt")).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    expect((await api.client.models.list()).data.map((model) => model.id)).toEqual(["hermes-agent", "test-model"]);
    api.reply(text("Hello there.", { usage: { input: 100, output: 7 } }));
    const answer = await api.client.chat.completions.create({
      model: "hermes-agent",
      messages: [
        { role: "system", content: "Speak like a sailor." },
        { role: "user", content: "Hello" },
      ],
    });
    expect(answer.choices[0]?.message.content).toBe("Hello there.");
    expect(answer.choices[0]?.finish_reason).toBe("stop");
    expect(answer.usage).toMatchObject({ prompt_tokens: 100, completion_tokens: 7, total_tokens: 107 });
    expect(api.turns()[0]?.system).toContain("Speak like a sailor.");
  });

  it("streams text and the progress of tools", async () => {
    writeFileSync(join(api.home.path, "notes.txt"), "the launch is on Friday\n");
    api.reply(
      calls([{ name: "read_file", args: { path: "notes.txt" } }], { text: "Let me look." }),
      text("It is on Friday."),
    );
    const stream = await api.client.chat.completions.create({
      model: "hermes-agent",
      messages: [{ role: "user", content: "When is the launch?" }],
      stream: true,
    });
    let said = "";
    const progress: unknown[] = [];
    let usage: unknown;
    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? "";
      const extra = chunk as unknown as { tool?: string; status?: string };
      if (extra.tool) progress.push(`${extra.tool} ${extra.status}`);
      usage = chunk.usage ?? usage;
    }
    expect(said).toBe("Let me look.\n\nIt is on Friday.");
    expect(progress).toEqual(["read_file running", "read_file completed"]);
    expect(usage).toMatchObject({ total_tokens: expect.any(Number) });
    expect(JSON.stringify(api.turns()[1]?.messages)).toContain("the launch is on Friday");
  });

  it("recognises a conversation by its history, with the tool calls in between", async () => {
    writeFileSync(join(api.home.path, "notes.txt"), "marmalade\n");
    api.reply(calls([{ name: "read_file", args: { path: "notes.txt" } }]), text("I read it."), text("Marmalade."));
    const first = [{ role: "user" as const, content: "Read notes.txt" }];
    await api.client.chat.completions.create({ model: "m", messages: first });
    await api.client.chat.completions.create({
      model: "m",
      messages: [...first, { role: "assistant", content: "I read it." }, { role: "user", content: "What was in it?" }],
    });
    const roles = api.turns()[2]?.messages.map((message) => message.role);
    expect(roles).toEqual(["user", "assistant", "tool", "assistant", "user"]);
    expect(await api.app.store.sessionCount("api_server")).toBe(1);
  });

  it("uses an unknown or changed history as it was sent", async () => {
    api.reply(text("Two."), text("Three."));
    const history = [
      { role: "user" as const, content: "Count." },
      { role: "assistant" as const, content: "One." },
      { role: "user" as const, content: "Go on." },
    ];
    await api.client.chat.completions.create({ model: "m", messages: history });
    expect(api.turns()[0]?.messages.map((message) => message.text)).toEqual(["Count.", "One.", "Go on."]);
    await api.client.chat.completions.create({
      model: "m",
      messages: [...history, { role: "assistant", content: "TWO, I said" }, { role: "user", content: "And?" }],
    });
    expect(api.turns()[1]?.messages.map((message) => message.text)).toEqual([
      "Count.",
      "One.",
      "Go on.",
      "TWO, I said",
      "And?",
    ]);
  });

  it("resumes a named session", async () => {
    api.reply(text("Noted."), text("Marmalade."));
    const headers = { "X-Hermes-Session-Id": "kitchen-1" };
    const say = (content: string) =>
      api.client.chat.completions
        .create({ model: "m", messages: [{ role: "user", content }] }, { headers })
        .withResponse();
    const first = await say("The word is marmalade.");
    expect(first.response.headers.get("x-hermes-session-id")).toBe("kitchen-1");
    await say("What was it?");
    expect(api.turns()[1]?.messages).toHaveLength(3);
    expect((await api.app.store.getSession("kitchen-1"))?.source).toBe("api_server");
  });

  it("reports a model that fails as 502 with its reason", async () => {
    api.reply(status(401, { message: "bad key" }));
    const failing = api.client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Hi" }] });
    await expect(failing).rejects.toMatchObject({ status: 502, code: "agent_incomplete" });
  });

  it("stops the turn when the client hangs up", async () => {
    api.reply(hang("after_text", "Thinking "));
    const leaving = new AbortController();
    const stream = await api.client.chat.completions.create(
      { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true },
      { signal: leaving.signal },
    );
    await api.llm.arrived(1);
    leaving.abort();
    for await (const _chunk of stream) if (leaving.signal.aborted) break;
    await expect.poll(() => api.turns()[0]?.closedAt, { timeout: 10_000 }).not.toBeNull();
    expect(api.turns()[0]?.aborted).toBe(true);
  });

  it("answers equal concurrent requests, each in a separate session", async () => {
    api.reply(...[1, 2, 3].map(() => text("Same.")));
    const first = { messages: [{ role: "user", content: "Say it" }] };
    const ask = async (body: object) => {
      const answer = await api.post("/v1/chat/completions", body);
      await answer.text();
      return [answer.status, answer.headers.get("x-hermes-session-id")] as const;
    };
    const opened = await Promise.all([1, 2, 3].map(() => ask(first)));
    expect(opened.map(([code]) => code)).toEqual([200, 200, 200]);
    expect(new Set(opened.map(([, session]) => session)).size).toBe(3);
    api.reply(...[1, 2].map(() => text("On.")));
    const second = { messages: [...first.messages, { role: "assistant", content: "Same." }, ...first.messages] };
    const gone = await Promise.all([1, 2].map(() => ask(second)));
    expect(gone.map(([code]) => code)).toEqual([200, 200]);
    expect(new Set(gone.map(([, session]) => session)).size).toBe(2);
  });

  it("does not repeat an answer that was cut off because its client left", async () => {
    api.reply(hang("after_text", "Only the beg"), text("The whole answer."));
    const body = { messages: [{ role: "user", content: "Tell me" }] };
    const leaving = new AbortController();
    const sent = fetch(`${api.server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${API_KEY}`, "idempotency-key": "k2" },
      body: JSON.stringify(body),
      signal: leaving.signal,
    });
    await api.llm.arrived(1);
    leaving.abort();
    await expect(sent).rejects.toThrow();
    await expect.poll(() => api.turns()[0]?.closedAt, { timeout: 10_000 }).not.toBeNull();
    const again = await api.post("/v1/chat/completions", body, { "idempotency-key": "k2" });
    expect(await again.json()).toMatchObject({ choices: [{ message: { content: "The whole answer." } }] });
  });

  it("runs a repeated request once", async () => {
    api.reply(text("Once."), text("Twice."));
    const body = { messages: [{ role: "user", content: "Do it" }] };
    const both = await Promise.all(
      [1, 2].map(() => api.post("/v1/chat/completions", body, { "idempotency-key": "k1" })),
    );
    const ids = await Promise.all(both.map(async (answer) => ((await answer.json()) as { id: string }).id));
    expect(ids[0]).toBe(ids[1]);
    expect(api.turns()).toHaveLength(1);
    const other = { messages: [{ role: "user", content: "Other" }] };
    expect((await api.post("/v1/chat/completions", other, { "idempotency-key": "k1" })).status).toBe(409);
  });
});

it("uses a key that was changed in .env from the next request on", async () => {
  const config = join(api.home.path, "config.yaml");
  const keyed = readFileSync(config, "utf8").replace("provider: custom\n", "provider: custom\n  key_env: MODEL_KEY\n");
  writeFileSync(config, keyed);
  writeFileSync(join(api.home.path, ".env"), "MODEL_KEY=first-key-12345678\n");
  await api.restart({ API_SERVER_KEY: API_KEY });
  api.reply(text("a"), text("b"));
  await (await api.post("/v1/chat/completions", { messages: [{ role: "user", content: "One" }] })).text();
  writeFileSync(join(api.home.path, ".env"), "MODEL_KEY=another-key-12345678\n");
  await (await api.post("/v1/chat/completions", { messages: [{ role: "user", content: "Two" }] })).text();
  expect(api.turns().map(({ headers }) => headers.authorization)).toEqual([
    "Bearer first-key-12345678",
    "Bearer another-key-12345678",
  ]);
});

it("works with curl", async () => {
  api.reply(text("From curl."));
  const body = JSON.stringify({ messages: [{ role: "user", content: "Hi" }], stream: true });
  const auth = ["-H", `Authorization: Bearer ${API_KEY}`, "-H", "Content-Type: application/json"];
  const { stdout } = await run("curl", ["-sN", `${api.server.url}/v1/chat/completions`, ...auth, "-d", body]);
  expect(stdout).toContain('"role":"assistant"');
  expect(stdout.trimEnd().endsWith("data: [DONE]")).toBe(true);
  const { stdout: codes } = await run("curl", [
    "-s",
    "-o",
    "/dev/null",
    "-w",
    "%{http_code}",
    `${api.server.url}/v1/models`,
  ]);
  expect(codes).toBe("401");
});
