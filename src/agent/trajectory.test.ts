// Trajectories: the shape that trainers read.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call } from "../../test/kit/scripted.ts";
import type { Message } from "../core/message.ts";
import { appendTrajectory, toConversations } from "./trajectory.ts";

const LOG: Message[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "look" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
    ],
  },
  {
    role: "assistant",
    content: "Looking.",
    reasoning: "hm",
    tool_calls: [call("a", { x: 1 }, "c1"), call("b", {}, "c2")],
  },
  { role: "tool", tool_call_id: "c1", tool_name: "a", content: '{"ok":true}' },
  { role: "tool", tool_call_id: "c2", tool_name: "b", content: "plain" },
  { role: "assistant", content: "Done." },
];

it("writes ShareGPT turns with think, tool_call and tool_response tags", () => {
  const turns = toConversations(LOG, [{ name: "a", description: "A", parameters: { type: "object" } }]);
  expect(turns.map((turn) => turn.from)).toEqual(["system", "human", "gpt", "tool", "gpt"]);
  expect(turns[0]?.value).toContain('"required":null');
  expect(turns[1]?.value).toBe("look\n[screenshot]");
  expect(turns[2]?.value).toBe(
    '<think>\nhm\n</think>\nLooking.\n<tool_call>\n{"name":"a","arguments":{"x":1}}\n</tool_call>\n<tool_call>\n{"name":"b","arguments":{}}\n</tool_call>',
  );
  expect(turns[3]?.value).toContain('{"tool_call_id":"c1","name":"a","content":{"ok":true}}');
  expect(turns[3]?.value).toContain('"content":"plain"');
  expect(turns[4]?.value).toBe("<think>\n\n</think>\nDone.");
});

it("keeps completed and failed samples apart", async () => {
  const dir = await mkdtemp(join(tmpdir(), "hermes-trajectory-"));
  const sample = { conversations: toConversations(LOG, []), timestamp: "2026-01-01T00:00:00", model: "m" };
  const good = await appendTrajectory(dir, { ...sample, completed: true });
  await appendTrajectory(dir, { ...sample, completed: true });
  const bad = await appendTrajectory(dir, { ...sample, completed: false });
  expect((await readFile(good, "utf8")).trim().split("\n")).toHaveLength(2);
  expect(JSON.parse(await readFile(bad, "utf8"))).toMatchObject({ model: "m", completed: false });
  await rm(dir, { recursive: true });
});
