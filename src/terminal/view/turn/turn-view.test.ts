import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { effectiveConfig } from "../../../../test/kit/effective-config.ts";
import type { AgentEvent } from "../../../core/event.ts";
import { NO_USAGE } from "../../../core/store/usage.ts";
import { displayWidth } from "../../../lib/text/text-width.ts";
import { loadScreenView, type ScreenView } from "../screen-view.ts";
import { type ViewSettings, viewSettings } from "../settings.ts";

const SGR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");
let clock = 0;

async function open(
  changes: Partial<ViewSettings> = {},
  env: { [name: string]: string } = { TERM: "dumb" },
): Promise<ScreenView> {
  const settings = { ...viewSettings(effectiveConfig().display, { verbose: false }), ...changes };
  return loadScreenView({ settings, home: "/nonexistent", env, now: () => clock });
}

let view: ScreenView;
beforeAll(async () => {
  view = await open();
});

type Event = AgentEvent | { readonly type: "tool_message"; readonly id: string; readonly content: string };

function play(events: readonly Event[], width = 60, from: ScreenView = view): string[] {
  const turn = from.turn();
  const lines: string[] = [];
  for (const event of events) {
    if (event.type === "tool_message")
      turn.accept({
        type: "message",
        id: 1,
        message: { role: "tool", tool_call_id: event.id, content: event.content } as never,
      });
    else turn.accept(event);
    lines.push(...turn.takeSettled().flatMap((block) => [...block.render(width)]));
  }
  return lines;
}

function live(events: readonly Event[], now: number, width = 60, from: ScreenView = view): string[] {
  const turn = from.turn();
  for (const event of events) turn.accept(event as AgentEvent);
  turn.takeSettled();
  return turn.live(now).flatMap((block) => [...block.render(width)]);
}

const text = (value: string): AgentEvent => ({ type: "delta", kind: "text", text: value });
const thought = (value: string): AgentEvent => ({ type: "delta", kind: "reasoning", text: value });
const started = (name: string, preview: string, args = "{}"): AgentEvent => ({
  type: "tool_started",
  callId: "1",
  name,
  preview,
  args,
});
const progress = (value: string): AgentEvent => ({ type: "tool_progress", callId: "1", name: "x", text: value });
const stopped = (failed: boolean, diff?: string): AgentEvent => ({
  type: "tool_ended",
  callId: "1",
  name: "x",
  failed,
  durationMs: 1_200,
  preview: "",
  diff,
});
const result = (value: unknown): Event => ({
  type: "tool_message",
  id: "1",
  content: typeof value === "string" ? value : JSON.stringify(value),
});
const ended = (more: Partial<Extract<AgentEvent, { type: "ended" }>> = {}): AgentEvent => ({
  type: "ended",
  end: "done",
  text: "",
  sessionId: "s",
  modelCalls: 1,
  usage: NO_USAGE,
  cost: { usd: 0, status: "actual", source: "none" },
  ...more,
});

describe("a turn", () => {
  it("shows a sign of life from the first moment", () => {
    clock = 0;
    expect(live([], 3_000)).toEqual([expect.stringMatching(/Working 3 s$/)]);
  });

  it("settles finished paragraphs at once and keeps the open one live", () => {
    expect(play([text("One.\n\nTw")])).toEqual(["One."]);
    expect(live([text("One.\n\nTw")], 0).slice(0, 2)).toEqual(["", "Tw"]);
  });

  it("shows an answer that was not streamed, once", () => {
    const message: AgentEvent = {
      type: "message",
      id: 1,
      message: { role: "assistant", content: "**Hi** there" } as never,
    };
    expect(play([message, ended({ text: "**Hi** there" })])).toEqual(["Hi there"]);
  });

  it("adds what follows the streamed text: a footer", () => {
    expect(play([text("Hi\n"), ended({ text: "Hi\n\nmodel x" })])).toEqual(["Hi", "", "model x"]);
  });

  it("folds thinking into one line with its time and size", () => {
    clock = 0;
    const turn = view.turn();
    turn.accept(thought("a".repeat(400)));
    clock = 4_200;
    turn.accept(text("Answer\n\n"));
    const lines = turn.takeSettled().flatMap((block) => [...block.render(60)]);
    expect(lines).toEqual(["✻ Thought for 4.2 s · about 100 tokens", "", "Answer"]);
  });

  it("shows the thinking itself when asked", async () => {
    const full = await open({ thinking: "full" });
    expect(play([thought("first\nsecond"), text("A\n\n")], 60, full).slice(0, 2)).toEqual(["┆ first", "┆ second"]);
    const hidden = await open({ thinking: "hidden" });
    expect(play([thought("first"), text("A\n\n")], 60, hidden)).toEqual(["A"]);
  });

  it("shows a running tool with its seconds and its last output", () => {
    clock = 0;
    const lines = live([started("terminal", "npm test"), progress("building\npart 5\n")], 12_000);
    expect(lines).toEqual([expect.stringMatching(/ terminal npm test 12 s$/), "   ┊ part 5"]);
  });

  it.each([
    ["terminal", { output: "a\nb\n", exit_code: 0 }, " ✓ terminal x · 2 lines 1.2 s"],
    ["terminal", { output: "", exit_code: 0 }, " ✓ terminal x · no output 1.2 s"],
    [
      "terminal",
      { output: "started", session_id: "p", pid: 4, exit_code: 0 },
      " ✓ terminal x · runs in the background 1.2 s",
    ],
    ["read_file", { content: "1|a", total_lines: 7 }, " ✓ read_file x · 7 lines 1.2 s"],
    ["search_files", { matches: [1, 2, 3] }, " ✓ search_files x · 3 matches 1.2 s"],
    ["write_file", { path: "a", bytes_written: 2048 }, " ✓ write_file x · 2.0 KB written 1.2 s"],
    ["web_search", { results: [1] }, " ✓ web_search x · 1 result 1.2 s"],
    ["other", "plain text", " ✓ other x · plain text 1.2 s"],
  ])("describes the result of %s in words", (name, value, line) => {
    expect(play([started(name, "x"), stopped(false), result(value)])).toEqual([line]);
  });

  it("gives the reason of a failure in words, not as JSON", () => {
    const denied = { error: "Denied: the user said no. Do not retry it." };
    expect(play([started("terminal", "rm -rf x"), stopped(true), result(denied)])).toEqual([
      " ✗ terminal rm -rf x 1.2 s",
      "   Denied: the user said no. Do not retry it.",
    ]);
    const failed = { output: "compiling\nerror: no such file", exit_code: 2 };
    expect(play([started("terminal", "make"), stopped(true), result(failed)])).toEqual([
      " ✗ terminal make · exit code 2: error: no such file 1.2 s",
    ]);
    expect(play([started("t", "x"), stopped(true), result('{"error":"cut off in the mid')]).join("")).toContain(
      "cut off in the mid",
    );
  });

  it("shows what a write changed, with line numbers", () => {
    const diff = "--- a.txt\n+++ a.txt\n@@ -3,3 +3,3 @@\n keep\n--- old\n+new\n keep\n";
    expect(
      play([started("patch", "a.txt"), stopped(false, diff), result({ files_modified: ["a.txt"] })]).slice(1),
    ).toEqual(["  a.txt +1 −1", "   3   keep", "   4 - -- old", "   4 + new", "   5   keep"]);
  });

  it("limits long diffs and says how much is hidden", () => {
    const body = Array.from({ length: 100 }, (_, index) => `+line ${index}`).join("\n");
    const diff = `--- /dev/null\n+++ a.txt\n@@ -0,0 +1,100 @@\n${body}\n`;
    const lines = play([started("write_file", "a.txt"), stopped(false, diff), result({ bytes_written: 9 })]);
    expect(lines[1]).toBe("  a.txt created +100");
    expect(lines).toHaveLength(43);
    expect(lines.at(-1)).toBe("     60 more changed lines");
  });

  it("shows the task list and the tree of subagents", () => {
    const todos = [
      { id: "1", content: "Read", status: "completed" },
      { id: "2", content: "Write", status: "in_progress" },
      { id: "3", content: "Test", status: "pending" },
    ];
    expect(play([started("todo", "3 items"), stopped(false), result({ todos })]).slice(1)).toEqual([
      "  Tasks: 1 of 3 done",
      "  ☑ Read",
      "  ▶ Write",
      "  ☐ Test",
    ]);
    const args = JSON.stringify({ tasks: [{ goal: "Docs" }, { goal: "Code" }] });
    const lines = live([started("delegate_task", "2 tasks", args), progress("subagent 2: 3 s, now terminal")], 0);
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/├ . Docs$/),
      expect.stringMatching(/└ . Code {2}3 s, now terminal$/),
    ]);
    const results = [
      { status: "completed", summary: "fine" },
      { status: "timeout", error: "too slow" },
    ];
    expect(play([started("delegate_task", "2", args), stopped(false), result({ results })]).slice(1)).toEqual([
      "  ├ ✓ Docs  fine",
      "  └ ✗ Code  too slow",
    ]);
  });

  it("honours the modes of tool progress", async () => {
    const twice = [
      started("read_file", "a"),
      stopped(false),
      result("x"),
      started("read_file", "b"),
      stopped(false),
      result("y"),
    ];
    expect(play(twice)).toHaveLength(2);
    expect(play(twice, 60, await open({ toolProgress: "new" }))).toHaveLength(1);
    expect(play(twice, 60, await open({ toolProgress: "off" }))).toHaveLength(0);
    const verbose = await open({ toolOutput: true });
    expect(
      play(
        [started("terminal", "ls"), stopped(false), result({ output: "one\ntwo", exit_code: 0 })],
        60,
        verbose,
      ).slice(1),
    ).toEqual(["   ┊ one", "   ┊ two"]);
  });

  it("says what happened beside the answer", () => {
    const failure = { kind: "overloaded", message: "lab is overloaded (529)." } as const;
    const model = (name: string) => ({ provider: "lab", model: name }) as never;
    expect(
      play(
        [
          { type: "retrying", failure, attempt: 2, inMs: 4_000 },
          { type: "fallback", from: model("a"), to: model("b"), failure },
          {
            type: "compressed",
            fromSessionId: "s",
            sessionId: "t",
            beforeTokens: 128_000,
            afterTokens: 32_000,
            method: "x",
          },
          { type: "notice", level: "warning", text: "spent\u001b[2J half" },
          ended({ end: "failed", failure: { kind: "billing", message: "No credit.", hint: "Add some." } }),
        ],
        100,
      ),
    ).toEqual([
      " ! lab is overloaded (529). Trying again in 4.0 s (attempt 2)",
      " ! a failed: lab is overloaded (529). Continuing with b",
      " · Compacted 128K to 32K tokens. The original messages stay searchable",
      " ! spent\\x1b[2J half",
      " ✗ No credit.",
      "   Add some.",
    ]);
    expect(play([ended({ end: "interrupted" })])).toEqual([" ! Interrupted"]);
    expect(play([ended({ end: "budget", modelCalls: 90 })])[0]).toContain("89 model calls");
  });

  it("keeps a tool that never ended visible as interrupted", () => {
    expect(play([started("terminal", "sleep 9"), ended({ end: "interrupted" })])[0]).toContain("✗ terminal sleep 9");
  });

  it("draws only SGR and fits the width, for any event", async () => {
    const colours = await open({ toolOutput: true, thinking: "truncated" }, { TERM: "xterm-256color" });
    const nasty = fc.oneof(
      fc.string({ unit: "binary", maxLength: 30 }),
      fc.string({ unit: "grapheme", maxLength: 30 }),
      fc.constantFrom("\u001b]0;x\u0007", "\u202eabc", "مرحبا", "a\tb\r\nc"),
    );
    const event: fc.Arbitrary<Event> = fc.oneof(
      nasty.map(text),
      nasty.map(thought),
      fc.tuple(nasty, nasty).map(([name, preview]) => started(name, preview)),
      nasty.map(progress),
      fc
        .tuple(fc.boolean(), nasty)
        .map(([failed, diff]) => stopped(failed, `--- ${diff}\n+++ b\n@@ -1 +1 @@\n-${diff}\n+${diff}`)),
      nasty.map((value) => result({ output: value, error: value })),
      nasty.map((value): Event => ({ type: "notice", level: "warning", text: value })),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.integer({ min: 8, max: 100 }), (events, width) => {
        const lines = [
          ...play([...events, ended()], width, colours),
          ...live(
            events.filter((one) => one.type !== "tool_message"),
            5_000,
            width,
            colours,
          ),
        ];
        for (const line of lines) {
          const bare = line.replaceAll(SGR, "");
          // biome-ignore lint/suspicious/noControlCharactersInRegex: no control character may be left
          expect(bare).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
          expect(displayWidth(bare)).toBeLessThanOrEqual(width);
        }
      }),
      { numRuns: 30 },
    );
  });
});
