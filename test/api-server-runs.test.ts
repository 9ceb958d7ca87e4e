// Stored responses and runs of the API server, with the official client against a real server.
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ApiFixture, apiFixture } from "./kit/api-fixture.ts";
import { calls, hang, text } from "./servers/fake-llm.ts";

let api: ApiFixture;

beforeEach(async () => {
  api = await apiFixture();
});

afterEach(() => api.close());

async function frames(answer: Response): Promise<{ event: string | null; data: string }[]> {
  const blocks = (await answer.text()).split("\n\n").filter((block) => block !== "" && !block.startsWith(":"));
  return blocks.map((block) => ({
    event: /^event: (.*)$/m.exec(block)?.[1] ?? null,
    data: /^data: (.*)$/m.exec(block)?.[1] ?? "",
  }));
}

describe("responses with the official client", () => {
  it("stores responses, continues from them, branches, retrieves and deletes", async () => {
    api.reply(text("Paris."), text("Two million."), text("Berlin is another story."));
    const first = await api.client.responses.create({
      model: "m",
      input: "Capital of France?",
      instructions: "Be terse.",
    });
    expect(first.output_text).toBe("Paris.");
    const second = await api.client.responses.create({ model: "m", input: "People?", previous_response_id: first.id });
    expect(second.output_text).toBe("Two million.");
    expect(api.turns()[1]?.messages.map((message) => message.text)).toEqual([
      "Capital of France?",
      "Paris.",
      "People?",
    ]);
    expect(api.turns()[1]?.system).toBe(api.turns()[0]?.system);
    await api.client.responses.create({ model: "m", input: "And Berlin?", previous_response_id: first.id });
    expect(api.turns()[2]?.messages.map((message) => message.text)).toEqual([
      "Capital of France?",
      "Paris.",
      "And Berlin?",
    ]);
    expect((await api.client.responses.retrieve(first.id)).output_text).toBe("Paris.");
    await api.client.responses.delete(first.id);
    await expect(api.client.responses.retrieve(first.id)).rejects.toMatchObject({ status: 404 });
    const orphan = api.client.responses.create({ model: "m", input: "x", previous_response_id: first.id });
    await expect(orphan).rejects.toMatchObject({ status: 404 });
  });

  it("streams items, calls and text in order", async () => {
    writeFileSync(join(api.home.path, "notes.txt"), "Friday\n");
    api.reply(calls([{ name: "read_file", args: { path: "notes.txt" } }]), text("It is Friday."));
    const types: string[] = [];
    const stream = api.client.responses.stream({ model: "m", input: "When?" });
    for await (const event of stream) types.push(event.type);
    const final = await stream.finalResponse();
    expect(final.output_text).toBe("It is Friday.");
    expect(final.output.map((item) => item.type)).toEqual(["function_call", "function_call_output", "message"]);
    expect(types[0]).toBe("response.created");
    expect(types).toContain("response.output_text.delta");
    expect(types.at(-1)).toBe("response.completed");
    expect((await api.client.responses.retrieve(final.id)).status).toBe("completed");
  });

  it("continues a named conversation, and does not store responses with store: false", async () => {
    api.reply(text("One."), text("Two."), text("Three."));
    const conversation = "counting";
    await api.client.responses.create({ model: "m", input: "Count", conversation });
    await api.client.responses.create({ model: "m", input: "Next", conversation });
    expect(api.turns()[1]?.messages).toHaveLength(3);
    const loose = await api.client.responses.create({ model: "m", input: "Next", store: false });
    await expect(api.client.responses.retrieve(loose.id)).rejects.toMatchObject({ status: 404 });
  });
});

it("stores the incomplete answer when the client disconnects", async () => {
  api.reply(hang("after_text", "Half an ans"));
  const leaving = new AbortController();
  const stream = await api.client.responses.create(
    { model: "m", input: "Tell me", stream: true },
    { signal: leaving.signal },
  );
  let id = "";
  for await (const event of stream) {
    if (event.type === "response.created") id = event.response.id;
    if (event.type === "response.output_text.delta") break;
  }
  leaving.abort();
  await expect.poll(async () => (await api.get(`/v1/responses/${id}`)).status, { timeout: 10_000 }).toBe(200);
  expect((await api.client.responses.retrieve(id)).status).toBe("incomplete");
});

it("separates the users of one client, and refuses a second request while a session answers", async () => {
  const body = { messages: [{ role: "user", content: "Hi" }] };
  api.reply(text("Hello."), hang());
  const headers = { "x-hermes-session-id": "desk-1", "x-hermes-session-key": "ada" };
  expect((await api.post("/v1/chat/completions", body, headers)).status).toBe(200);
  expect((await api.app.store.getSession("desk-1"))?.user_id).toBe("ada");
  expect((await api.post("/v1/chat/completions", body, { "x-hermes-session-id": "../etc" })).status).toBe(400);
  await api.post("/v1/runs", { input: "Think", session_id: "desk-1" });
  await expect.poll(() => api.turns().length, { timeout: 10_000 }).toBe(2);
  expect((await api.post("/v1/chat/completions", body, headers)).status).toBe(409);
});

it("does not open a session of another session key", async () => {
  const body = { messages: [{ role: "user", content: "My secret is PEACH" }] };
  api.reply(text("Noted."), text("No."), text("No."));
  const of = (key: string) => ({ "x-hermes-session-id": "alice-1", "x-hermes-session-key": key });
  expect((await api.post("/v1/chat/completions", body, of("alice"))).status).toBe(200);
  const before = api.turns().length;
  const asked = { messages: [{ role: "user", content: "What is the secret?" }] };
  const answer = await api.post("/v1/chat/completions", asked, of("bob"));
  expect(answer.status).toBe(403);
  expect(JSON.stringify(await answer.json())).toContain("session_of_another_key");
  expect(api.turns().length).toBe(before);
});

describe("runs", () => {
  const started = async (body: unknown) =>
    ((await (await api.post("/v1/runs", body)).json()) as { run_id: string }).run_id;

  it("waits for an approval, runs the command, and replays its events", async () => {
    mkdirSync(join(api.home.path, "old"));
    writeFileSync(join(api.home.path, "old", "file"), "x");
    api.reply(calls([{ name: "terminal", args: { command: "rm -rf old" } }]), text("Removed."));
    const id = await started({ input: "Remove the folder old" });
    await expect
      .poll(async () => ((await (await api.get(`/v1/runs/${id}`)).json()) as { status: string }).status, {
        timeout: 10_000,
      })
      .toBe("waiting_for_approval");
    expect((await api.post(`/v1/runs/${id}/approval`, { choice: "maybe" })).status).toBe(400);
    expect((await api.post(`/v1/runs/${id}/approval`, { choice: "once" })).status).toBe(200);
    const events = (await frames(await api.get(`/v1/runs/${id}/events`))).map(
      (frame) => (JSON.parse(frame.data) as { event: string }).event,
    );
    expect(events).toContain("approval.request");
    expect(events.indexOf("approval.responded")).toBeLessThan(events.indexOf("tool.completed"));
    expect(events.at(-1)).toBe("run.completed");
    expect(() => statSync(join(api.home.path, "old"))).toThrow();
    expect((await api.post(`/v1/runs/${id}/approval`, { choice: "once" })).status).toBe(409);
    const done = (await (await api.get(`/v1/runs/${id}`)).json()) as { output: string; status: string };
    expect(done).toMatchObject({ status: "completed", output: "Removed." });
  });

  it("denies by POST, and nothing is removed", async () => {
    mkdirSync(join(api.home.path, "old"));
    api.reply(calls([{ name: "terminal", args: { command: "rm -rf old" } }]), text("I was not allowed to."));
    const id = await started({ input: "Remove the folder old" });
    const wait = () => api.post(`/v1/runs/${id}/approval`, { choice: "deny" }).then((answer) => answer.status);
    await expect.poll(wait, { timeout: 10_000 }).toBe(200);
    await frames(await api.get(`/v1/runs/${id}/events`));
    expect(statSync(join(api.home.path, "old")).isDirectory()).toBe(true);
  });

  it("stops on request", async () => {
    api.reply(hang("after_text", "Working"));
    const id = await started({ input: "Think" });
    await api.llm.arrived(1);
    const stopped = (await (await api.post(`/v1/runs/${id}/stop`, {})).json()) as { status: string };
    expect(stopped.status).toBe("cancelled");
    await expect.poll(() => api.turns()[0]?.aborted, { timeout: 10_000 }).toBe(true);
    expect((await api.get("/v1/runs/run_nothing")).status).toBe(404);
  });

  it("limits the number of active runs", async () => {
    for (let count = 0; count < 10; count++) {
      api.reply(hang());
      await started({ input: `Task ${count}` });
    }
    expect((await api.post("/v1/runs", { input: "One more" })).status).toBe(429);
  });
});
