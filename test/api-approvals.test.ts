// Actions that need an approval when no user can be asked: they are denied, and the client gets the reason.
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ApiFixture, apiFixture } from "./kit/api-fixture.ts";
import { calls, text } from "./servers/fake-llm.ts";

let api: ApiFixture;
let folder: string;

beforeEach(async () => {
  api = await apiFixture();
  folder = join(api.home.path, "old");
  mkdirSync(folder);
  api.reply(calls([{ name: "terminal", args: { command: "rm -rf old" } }]), text("I was not allowed to."));
});

afterEach(() => api.close());

const messages = [{ role: "user" as const, content: "Remove the folder old" }];
const denied = [{ tool: "terminal", action: "rm -rf old" }];

function expectNote(words: string): void {
  expect(existsSync(folder)).toBe(true);
  expect(words.startsWith("I was not allowed to.\n\n[Not done")).toBe(true);
  expect(words).toContain("rm -rf old");
  expect(words).toContain("POST /v1/runs");
  expect(words).toContain("approvals.mode");
}

describe("an approval without a user, with the official client", () => {
  it("in a chat completion", async () => {
    const answer = await api.client.chat.completions.create({ model: "m", messages });
    const said = answer.choices[0]?.message.content ?? "";
    expectNote(said);
    expect(answer).toMatchObject({ hermes: { denied } });
    // The model gets the same text, so that it does not try variants.
    expect(api.turns()[1]?.messages.at(-1)?.text).toContain("/v1/runs");
    // The client sends the whole text back, and its session is found by it.
    api.reply(text("Nothing else."));
    const more = [
      ...messages,
      { role: "assistant" as const, content: said },
      { role: "user" as const, content: "And?" },
    ];
    const next = await api.client.chat.completions.create({ model: "m", messages: more });
    expect(next.choices[0]?.message.content).toBe("Nothing else.");
    expect(await api.app.store.sessionCount("api_server")).toBe(1);
  });

  it("in a streamed chat completion", async () => {
    const stream = await api.client.chat.completions.create({ model: "m", messages, stream: true });
    let said = "";
    let last: unknown;
    for await (const chunk of stream) {
      said += chunk.choices[0]?.delta.content ?? "";
      last = chunk;
    }
    expectNote(said);
    expect(last).toMatchObject({ hermes: { denied } });
  });

  it("in a response", async () => {
    const answer = await api.client.responses.create({ model: "m", input: "Remove the folder old" });
    expect(answer.output.map((item) => item.type)).toEqual([
      "function_call",
      "function_call_output",
      "message",
      "message",
    ]);
    expectNote(answer.output_text.replace("to.[", "to.\n\n["));
    expect(answer).toMatchObject({ hermes: { denied } });
    expect((await api.client.responses.retrieve(answer.id)).output_text).toBe(answer.output_text);
  });

  it("in a streamed response", async () => {
    const stream = api.client.responses.stream({ model: "m", input: "Remove the folder old" });
    const final = await stream.finalResponse();
    expectNote(final.output_text.replace("to.[", "to.\n\n["));
    expect(final).toMatchObject({ hermes: { denied } });
  });
});

it("adds no note when nothing was denied", async () => {
  const answer = await api.client.chat.completions.create({ model: "m", messages });
  api.reply(text("Hello."));
  const next = await api.client.chat.completions.create({ model: "m", messages: [{ role: "user", content: "Hi" }] });
  expect(answer).toMatchObject({ hermes: { denied } });
  expect(next.choices[0]?.message.content).toBe("Hello.");
  expect(next).not.toMatchObject({ hermes: { denied } });
});
