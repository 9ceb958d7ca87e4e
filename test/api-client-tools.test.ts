// Function calling through the API server: the client's own tools, forms of answers, limits and models.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ApiFixture, apiFixture } from "./kit/api-fixture.ts";
import { calls, text } from "./servers/fake-llm.ts";

let api: ApiFixture;

beforeAll(async () => {
  api = await apiFixture({ config: "model_aliases:\n  small:\n    model: tiny-model\n" });
});
afterAll(() => api.close());

const WEATHER = {
  type: "function",
  function: {
    name: "get_weather",
    description: "Weather of a city",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  },
} as const;

it("returns a call of the client's tool, and continues with its result in the same session", async () => {
  api.reply(
    calls([{ name: "todo", args: {} }]),
    calls([{ name: "get_weather", args: { city: "Oslo" } }]),
    text("Sunny."),
    text("You are welcome."),
  );
  const asked = { role: "user", content: "Weather in Oslo?" } as const;
  const first = await api.client.chat.completions.create({ model: "any", messages: [asked], tools: [WEATHER] });
  const [choice] = first.choices;
  expect(choice).toMatchObject({ finish_reason: "tool_calls" });
  const call = choice?.message.tool_calls?.[0];
  expect(call).toMatchObject({ type: "function", function: { name: "get_weather", arguments: '{"city":"Oslo"}' } });

  const messages = [
    asked,
    { role: "assistant", content: null, tool_calls: choice?.message.tool_calls ?? [] },
    { role: "tool", tool_call_id: call?.id ?? "", content: "sunny, 21 degrees" },
  ] as const;
  const second = await api.client.chat.completions.create({ model: "any", messages: [...messages], tools: [WEATHER] });
  expect(second.choices[0]?.message.content).toBe("Sunny.");
  const request = api.turns().at(-1);
  // The agent's own call of the first request is part of the conversation too.
  expect(request?.messages.map((message) => message.role)).toEqual(
    expect.arrayContaining(["user", "assistant", "tool", "assistant", "tool"]),
  );
  expect(JSON.stringify(request?.messages)).toContain("sunny, 21 degrees");
  const sessionOf = (answer: unknown) => (answer as { hermes: { session_id: string } }).hermes.session_id;
  expect(sessionOf(second)).toBe(sessionOf(first));

  const third = await api.client.chat.completions.create({
    model: "any",
    messages: [...messages, { role: "assistant", content: "Sunny." }, { role: "user", content: "Thanks" }],
  });
  expect(sessionOf(third)).toBe(sessionOf(first));
});

it("streams a call of the client's tool, and takes a history that it has never seen", async () => {
  api.reply(calls([{ name: "get_weather", args: { city: "Rome" } }]), text("Rainy."));
  const stream = api.client.chat.completions.stream({
    model: "any",
    messages: [{ role: "user", content: "Rome?" }],
    tools: [WEATHER],
    tool_choice: { type: "function", function: { name: "get_weather" } },
  });
  const answer = await stream.finalChatCompletion();
  expect(answer.choices[0]?.message.tool_calls?.[0]?.function).toMatchObject({ name: "get_weather" });
  expect(api.turns().at(-1)?.tools).toHaveLength(1);
  expect(api.turns().at(-1)?.body.tool_choice).toEqual({ type: "function", function: { name: "get_weather" } });

  const foreign = await api.client.chat.completions.create({
    model: "any",
    messages: [
      { role: "user", content: "Paris?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "x1", type: "function", function: { name: "get_weather", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "x1", content: "rain" },
    ],
  });
  expect(foreign.choices[0]?.message.content).toBe("Rainy.");
  expect(JSON.stringify(api.turns().at(-1)?.messages)).toContain("rain");
});

it("continues a stored response with the output of a function", async () => {
  api.reply(calls([{ name: "get_weather", args: { city: "Oslo" } }]), text("Cold."));
  const tool = { type: "function", ...WEATHER.function, strict: false } as const;
  const first = await api.client.responses.create({ model: "any", input: "Oslo?", tools: [tool] });
  const call = first.output.find((item) => item.type === "function_call");
  expect(call).toMatchObject({ name: "get_weather" });
  const second = await api.client.responses.create({
    model: "any",
    previous_response_id: first.id,
    input: [{ type: "function_call_output", call_id: call?.call_id ?? "", output: "-3" }],
    tools: [tool],
  });
  expect(second.output_text).toBe("Cold.");
  expect(JSON.stringify(api.turns().at(-1)?.messages)).toContain("-3");
});

it("refuses a result without its call", async () => {
  const messages = [
    { role: "user", content: "hm" },
    { role: "tool", tool_call_id: "nope", content: "sunny" },
  ];
  const answer = await api.post("/v1/chat/completions", { messages });
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "unknown_tool_call_id" } });
});

it("honours response_format, max_tokens, temperature and a configured model", async () => {
  api.reply(text('```json\n{"city":"Oslo"}\n```'));
  const schema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
  const answer = await api.client.chat.completions.create({
    model: "small",
    messages: [{ role: "user", content: "Which city?" }],
    response_format: { type: "json_schema", json_schema: { name: "city", schema } },
    max_tokens: 50,
    temperature: 0.3,
  });
  expect(JSON.parse(answer.choices[0]?.message.content ?? "")).toEqual({ city: "Oslo" });
  expect(answer.model).toBe("small");
  expect(api.turns().at(-1)?.body).toMatchObject({
    model: "tiny-model",
    max_tokens: 50,
    temperature: 0.3,
    response_format: { type: "json_schema", json_schema: { name: "city", schema } },
  });
});

it("stops at max_tokens instead of asking for the rest, and asks for no title", async () => {
  const before = api.llm.requests.length;
  api.reply(text("Once upon a", { finish: "length" }));
  const answer = await api.client.chat.completions.create({
    model: "gpt-anything",
    messages: [{ role: "user", content: "A story" }],
    max_tokens: 5,
  });
  expect(answer.choices[0]).toMatchObject({ finish_reason: "length", message: { content: "Once upon a" } });
  expect(api.llm.requests.length - before).toBe(1);
  // A name that is not configured is only a label.
  expect(api.turns().at(-1)?.body.model).toBe("test-model");
});

it("answers to a container's name of this machine, lists models, names requests and refuses other methods", async () => {
  const { port } = new URL(api.server.url);
  const { request } = await import("node:http");
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { host: `host.docker.internal:${port}`, authorization: "Bearer test-key-0123456789" };
    request({ host: "127.0.0.1", port, path: "/models", headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
  expect(status).toBe(200);
  const models = await api.client.models.list();
  expect(models.data.map(({ id }) => id)).toEqual(expect.arrayContaining(["hermes-agent", "test-model", "small"]));
  const named = await api.get("/v1/models");
  expect(named.headers.get("x-request-id")).toMatch(/^req_[0-9a-f]{24}$/);
  expect(api.log.join("\n")).toMatch(/GET \/v1\/models 200 \d+ ms req_[0-9a-f]{24}/);
  const wrong = await fetch(`${api.server.url}/v1/models`, {
    method: "DELETE",
    headers: { authorization: "Bearer test-key-0123456789" },
  });
  expect(wrong.status).toBe(405);
  expect(wrong.headers.get("allow")).toBe("GET");
});
