import { afterEach, describe, expect, test } from "vitest";
import { calls, type FakeLlm, hang, startFakeLlm, status, text } from "./fake-llm.ts";

let llm: FakeLlm | undefined;
afterEach(async () => {
  await llm?.close();
  llm = undefined;
});

async function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(`${llm?.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer k1", "anthropic-version": "2023-06-01" },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
}

const chat = { model: "m", messages: [{ role: "user", content: "hi" }] };

describe("fake model server", () => {
  test("answers from its script, then reports that the script has ended", async () => {
    llm = await startFakeLlm({ script: [text("Hello."), calls([{ name: "read_file", args: { path: "a" } }])] });
    const first = await (await post("/v1/chat/completions", chat)).json();
    expect(first).toMatchObject({ choices: [{ message: { content: "Hello." }, finish_reason: "stop" }] });
    const second = await (await post("/v1/messages", { ...chat, max_tokens: 10 })).json();
    expect(second).toMatchObject({ stop_reason: "tool_use", content: [{ name: "read_file", input: { path: "a" } }] });
    expect((await post("/v1/responses", { model: "m", input: "hi" })).status).toBe(400);
    expect(llm.requests.map((request) => request.dialect)).toEqual(["chat", "anthropic", "responses"]);
    expect(llm.requests[0]).toMatchObject({ apiKey: "k1", messages: [{ role: "user", text: "hi" }] });
  });

  test("streams the same answer in three dialects", async () => {
    llm = await startFakeLlm({ script: () => text("One two three.") });
    for (const [path, body] of [
      ["/v1/chat/completions", { ...chat, stream: true }],
      ["/v1/messages", { ...chat, max_tokens: 10, stream: true }],
      ["/v1/responses", { model: "m", input: "hi", stream: true }],
    ] as const) {
      const frames = await (await post(path, body)).text();
      expect(frames.match(/^data: /gm)?.length).toBeGreaterThan(4);
    }
    expect(llm.billed().output).toBeGreaterThan(0);
  });

  test("refuses what the services refuse", async () => {
    llm = await startFakeLlm();
    const orphan = { ...chat, messages: [...chat.messages, { role: "tool", tool_call_id: "x", content: "y" }] };
    const refused = await post("/v1/chat/completions", orphan);
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("does not answer a call");
    const twice = { ...chat, max_tokens: 9, messages: [...chat.messages, ...chat.messages] };
    expect(await (await post("/v1/messages", twice)).text()).toContain("roles must alternate");
  });

  test("gives scripted statuses and sees the client go away", async () => {
    llm = await startFakeLlm({ script: [status(429, { retryAfter: 3 }), hang()] });
    const limited = await post("/v1/chat/completions", chat);
    expect([limited.status, limited.headers.get("retry-after")]).toEqual([429, "3"]);
    const controller = new AbortController();
    const pending = post("/v1/chat/completions", chat, controller.signal).catch((error: Error) => error.name);
    await llm.arrived(2);
    controller.abort();
    expect(await pending).toBe("AbortError");
    while (llm.requests[1]?.closedAt === null) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(llm.requests[1]?.aborted).toBe(true);
  });

  test("lists models as cloud and local servers do", async () => {
    llm = await startFakeLlm({ models: [{ id: "tiny", contextLength: 4096 }] });
    const list = await (await fetch(`${llm.url}/v1/models`)).json();
    expect(list).toMatchObject({ data: [{ id: "tiny", context_length: 4096 }] });
    expect(await (await fetch(`${llm.url}/api/tags`)).json()).toMatchObject({ models: [{ name: "tiny" }] });
    expect(await (await post("/api/show", { model: "tiny" })).json()).toMatchObject({
      model_info: { "fake.context_length": 4096 },
    });
  });
});
