import fc from "fast-check";
import { expect, test } from "vitest";
import type { AssistantMessage, Message, ToolCall } from "../message.ts";
import { contentText } from "../message.ts";
import { MISSING_RESULT, projectMessages } from "./projection.ts";

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string | null, ...ids: string[]): Message => ({
  role: "assistant",
  content,
  ...(ids.length > 0 ? { tool_calls: ids.map((id) => call(id)) } : {}),
});
const call = (id: string, args = "{}"): ToolCall => ({
  id,
  type: "function",
  function: { name: "read_file", arguments: args },
});
const result = (id: string, content = "ok"): Message => ({
  role: "tool",
  tool_call_id: id,
  tool_name: "read_file",
  content,
});
const roles = (messages: readonly Message[]) => messages.map((message) => message.role).join(" ");

test("a valid log is returned as the same objects", () => {
  const log = [user("a"), assistant(null, "1", "2"), result("1"), result("2"), assistant("done"), user("b")];
  const projected = projectMessages(log);
  expect(projected).toEqual(log);
  for (const [index, message] of projected.entries()) expect(message).toBe(log[index]);
});

test("an unanswered call gets a stub directly after it, in call order", () => {
  const projected = projectMessages([user("a"), assistant(null, "1", "2"), result("2"), user("still there?")]);
  expect(roles(projected)).toBe("user assistant tool tool user");
  expect(projected[2]).toMatchObject({ tool_call_id: "1", content: MISSING_RESULT });
  expect(projected[3]).toMatchObject({ tool_call_id: "2", content: "ok" });
});

test("a result that is stored after a user message is moved to its call", () => {
  const projected = projectMessages([
    user("a"),
    assistant(null, "1"),
    user("wait"),
    result("1"),
    assistant("x"),
    user("y"),
  ]);
  expect(roles(projected)).toBe("user assistant tool user assistant user");
});

test("orphan results and rows of other roles are left out", () => {
  const strange = { role: "session_meta", content: "{}" } as unknown as Message;
  expect(projectMessages([strange, result("9"), user("a"), result("8"), { role: "system", content: "s" }])).toEqual([
    user("a"),
  ]);
});

test("users in a row are joined with a blank line, images kept", () => {
  const image = { type: "image_url", image_url: { url: "https://example.test/a.png" } } as const;
  expect(projectMessages([user("a"), user("b")])).toEqual([user("a\n\nb")]);
  expect(
    projectMessages([user("a"), { role: "user", content: [{ type: "text", text: "b" }, image] }, user("c")]),
  ).toEqual([{ role: "user", content: [{ type: "text", text: "a\n\nb" }, image, { type: "text", text: "c" }] }]);
});

test("answers with only reasoning are removed and the questions around them joined", () => {
  const thought: Message = { role: "assistant", content: "", reasoning: "hm" };
  expect(projectMessages([user("a"), thought, user("b")])).toEqual([user("a\n\nb")]);
});

test("answers in a row become one, and a log never starts or ends with the assistant", () => {
  const projected = projectMessages([assistant("x"), assistant("y", "1")]);
  expect(roles(projected)).toBe("user assistant tool");
  expect(projected[1]).toMatchObject({ content: "x\n\ny" });
  expect(roles(projectMessages([user("a"), assistant("b")]))).toBe("user assistant user");
});

test("a reused call id is made unique and each result stays with its own call", () => {
  const log = [
    user("a"),
    assistant(null, "call_0"),
    result("call_0", "one"),
    assistant(null, "call_0"),
    result("call_0", "two"),
  ];
  const projected = projectMessages(log);
  expect(projected[2]).toMatchObject({ tool_call_id: "call_0", content: "one" });
  expect(projected[4]).toMatchObject({ tool_call_id: "call_0_2", content: "two" });
});

test("damaged arguments become an empty object and the result says so", () => {
  const damaged: Message = { role: "assistant", content: null, tool_calls: [call("1", '{"path": "a')] };
  const projected = projectMessages([user("a"), damaged, result("1", "text")]);
  expect(projected[1]).toMatchObject({ tool_calls: [{ function: { arguments: "{}" } }] });
  expect(contentText(projected[2]?.content)).toMatch(/damaged.*text$/s);
});

test("lone surrogates, invalid names and long ids are replaced", () => {
  const id = "x".repeat(90);
  const odd: Message = {
    role: "assistant",
    content: "a\ud800",
    tool_calls: [{ id, type: "function", function: { name: "read file!", arguments: '{"p":"\\ud83d"}' } }],
  };
  const projected = projectMessages([user("q\udc00"), odd, result(id)]);
  expect(projected[0]?.content).toBe("q\ufffd");
  const made = projected[1] as AssistantMessage & { tool_calls: ToolCall[] };
  expect(made.content).toBe("a\ufffd");
  expect(made.tool_calls[0]?.function).toEqual({ name: "read_file_", arguments: '{"p":"\ufffd"}' });
  expect(made.tool_calls[0]?.id.length).toBeLessThanOrEqual(40);
  expect(projected[2]).toMatchObject({ tool_call_id: made.tool_calls[0]?.id, content: "ok" });
});

const anyText = fc.oneof(fc.constantFrom("", " ", "word", "two words"), fc.string({ unit: "binary", maxLength: 12 }));
const anyContent = fc.oneof(
  { weight: 4, arbitrary: anyText },
  { weight: 1, arbitrary: fc.constant(null) },
  {
    weight: 1,
    arbitrary: fc.array(
      fc.oneof(
        anyText.map((text) => ({ type: "text", text })),
        fc.constantFrom(
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
          { type: "image_url", image_url: { url: "file:///etc/passwd" } },
          { type: "input_audio" },
        ),
      ),
      { maxLength: 3 },
    ),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
);
const anyId = fc.constantFrom("a", "b", "call_0", "", "weird id!", "z".repeat(70));
const anyCall = fc.record({
  id: anyId,
  type: fc.constant("function"),
  function: fc.record({ name: fc.constantFrom("read_file", "a b", ""), arguments: fc.oneof(fc.json(), anyText) }),
});
const anyMessage = fc.oneof(
  fc.record({ role: fc.constant("user"), content: anyContent }),
  fc.record(
    {
      role: fc.constant("assistant"),
      content: anyContent,
      tool_calls: fc.array(anyCall, { maxLength: 3 }),
      reasoning: anyText,
    },
    { requiredKeys: ["role", "content"] },
  ),
  fc.record({
    role: fc.constant("tool"),
    content: anyContent,
    tool_call_id: anyId,
    tool_name: fc.constant("read_file"),
  }),
  fc.record({ role: fc.constantFrom("session_meta", "system", "function"), content: anyContent }),
);

test("for any log, the projection is paired, ordered, non-empty and stable", () => {
  fc.assert(
    fc.property(fc.array(anyMessage, { maxLength: 25 }), (log) => {
      const projected = projectMessages(log as unknown as Message[]);
      const seen = new Set<string>();
      let expected: string[] = [];
      for (const [index, message] of projected.entries()) {
        if (message.role === "tool") expect(message.tool_call_id).toBe(expected.shift());
        else expect(expected).toEqual([]);
        if (index === 0) expect(message.role).toBe("user");
        if (index > 0 && message.role !== "tool") expect(projected[index - 1]?.role).not.toBe(message.role);
        if (message.role !== "assistant") expect(message.content?.length).toBeGreaterThan(0);
        if (message.role !== "assistant") continue;
        expect(message.content !== null || (message.tool_calls?.length ?? 0) > 0).toBe(true);
        expected = (message.tool_calls ?? []).map((made) => made.id);
        for (const made of message.tool_calls ?? []) {
          expect(seen.has(made.id)).toBe(false);
          seen.add(made.id);
          expect(JSON.parse(made.function.arguments)).toBeTypeOf("object");
        }
      }
      expect(expected).toEqual([]);
      expect(projected.at(-1)?.role).not.toBe("assistant");
      expect(projectMessages(projected)).toEqual(projected);
    }),
    { numRuns: 1500, endOnFailure: true },
  );
});

test("text of the user is never dropped", () => {
  const word = fc.stringMatching(/^[a-z]{3,8}$/);
  fc.assert(
    fc.property(fc.array(fc.oneof(anyMessage, word.map(user)), { maxLength: 25 }), (log) => {
      const projected = projectMessages(log as unknown as Message[]);
      const all = projected.map((message) => contentText(message.content)).join("\n");
      for (const message of log) {
        if (message.role === "user" && typeof message.content === "string" && /^[a-z]{3,8}$/.test(message.content)) {
          expect(all).toContain(message.content);
        }
      }
    }),
    { numRuns: 500 },
  );
});
