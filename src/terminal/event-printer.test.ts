import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { effectiveConfig } from "../../test/kit/effective-config.ts";
import type { AgentEvent } from "../core/event.ts";
import { NO_USAGE } from "../core/store/usage.ts";
import { Terminal } from "../lib/terminal/terminal.ts";
import { EventPrinter, type PrintOptions } from "./event-printer.ts";
import { loadPlainView } from "./view/plain-view.ts";

const text = (value: string): AgentEvent => ({ type: "delta", kind: "text", text: value });
const thought = (value: string): AgentEvent => ({ type: "delta", kind: "reasoning", text: value });
const started: AgentEvent = { type: "tool_started", callId: "1", name: "terminal", preview: "make", args: "{}" };
const stopped = (failed: boolean): AgentEvent => ({
  type: "tool_ended",
  callId: "1",
  name: "terminal",
  failed,
  durationMs: 1_500,
  preview: "{",
});
const result = (value: object): AgentEvent => ({
  type: "message",
  id: 1,
  message: { role: "tool", tool_call_id: "1", tool_name: "terminal", content: JSON.stringify(value) } as never,
});
const ended = (value: string): AgentEvent => ({
  type: "ended",
  end: "done",
  text: value,
  sessionId: "s",
  modelCalls: 1,
  usage: NO_USAGE,
  cost: { usd: 0, status: "actual", source: "none" },
});

interface Setup extends Partial<PrintOptions> {
  readonly tty?: boolean;
  readonly columns?: number;
  readonly env?: { readonly [name: string]: string };
  readonly display?: { readonly [key: string]: unknown };
}

async function print(
  events: readonly AgentEvent[],
  { tty = true, columns = 40, env = { TERM: "dumb" }, display, ...options }: Setup = {},
) {
  const stream = () => Object.assign(new PassThrough(), { isTTY: tty, columns, rows: 20 });
  const [stdout, stderr] = [stream(), stream()];
  const terminal = new Terminal({ stdin: new PassThrough(), stdout, stderr }, { noColor: env.TERM === "dumb" });
  const view = await loadPlainView({
    display: effectiveConfig({ display }).display,
    home: "/nonexistent",
    env,
    terminal: tty,
  });
  const printer = new EventPrinter(terminal, {
    quiet: false,
    stream: true,
    reasoning: false,
    toolProgress: "all",
    view,
    ...options,
  });
  for (const event of events) printer.show(event);
  return { out: String(stdout.read() ?? ""), err: String(stderr.read() ?? "") };
}

describe("linear output", () => {
  it("draws Markdown on a terminal, wrapped, and prints it as written to a pipe", async () => {
    const answer = "# Title\n\nSome **bold** words that are longer than a line of this terminal.\n";
    const events = [text(answer), ended(answer)];
    expect((await print(events)).out).toBe("Title\n\nSome bold words that are longer than a\nline of this terminal.\n");
    expect((await print(events, { tty: false })).out).toBe(answer);
    expect((await print(events, { display: { final_response_markdown: "raw" } })).out).toContain("**bold**");
  });

  it("prints the lines of a long paragraph as they fill, each once", async () => {
    const words = "one two three four five six seven eight nine ten eleven twelve ";
    const whole = await print([text(words), text(words), text(words), ended(words.repeat(3))]);
    const part = await print([text(words), text(words)]);
    expect(part.out.split("\n").length).toBeGreaterThan(2);
    expect(whole.out.startsWith(part.out)).toBe(true);
    expect(whole.out.match(/\w+/g)).toEqual(words.repeat(3).match(/\w+/g));
    const mixed = "- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```sh\nls\n```\nend";
    const tokens = await print([...mixed].map(text).concat(ended(mixed)));
    expect(tokens.out).toBe((await print([text(mixed), ended(mixed)])).out);
  });

  it("has no escape sequence in a simple terminal, and makes those of others visible", async () => {
    const events = [
      text("a\u001b[2Jb **c**\n"),
      started,
      stopped(true),
      result({ error: "bad\u001b]0;x\u0007" }),
      ended(""),
    ];
    const { out, err } = await print(events);
    expect(out + err).not.toContain("\u001b");
    expect(out).toContain("a\\x1b[2Jb c");
    expect(err).toContain("bad\\x1b]0;x\\x07");
    expect((await print(events, { env: { TERM: "xterm-256color" } })).out).toContain("\u001b[1mc");
  });

  it("says how a tool ended, with the reason of a failure in words", async () => {
    const good = await print([started, stopped(false), result({ output: "a\nb", exit_code: 0 }), ended("")]);
    expect(good.err).toBe("  ✓ terminal make · 2 lines (1.5 s)\n");
    const bad = await print([started, stopped(true), result({ output: "x\nno rule", exit_code: 2 }), ended("")]);
    expect(bad.err).toBe("  ✗ terminal make (1.5 s)\n    exit code 2: no rule\n");
  });

  it("uses words instead of signs for screen readers", async () => {
    const answer = "Two words.\n";
    const { out, err } = await print(
      [started, stopped(false), result({ output: "", exit_code: 0 }), text(answer), ended(answer)],
      { labels: true },
    );
    expect(out).toBe("Hermes answers:\nTwo words.\nEnd of the answer, 2 words.\n");
    expect(err).toBe("Tool: terminal make\nTool: terminal done, no output, 1.5 s\n");
    const german = await print([text(answer), ended(answer)], { labels: true, display: { language: "de" } });
    expect(german.out).toBe("Antwort:\nTwo words.\nEnde der Antwort, 2 Wörter.\n");
  });

  it("separates thinking from the answer", async () => {
    const { out } = await print([thought("First A, then B."), text("42.\n"), ended("42.\n")], { reasoning: true });
    expect(out).toBe("Thinking:\nFirst A, then B.\n\n42.\n");
  });

  it("prints only the answer when quiet", async () => {
    const { out, err } = await print([text("A"), started, stopped(false), ended("A")], { quiet: true });
    expect([out, err]).toEqual(["A\n", ""]);
  });
});
