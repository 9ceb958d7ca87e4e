// Answers that break off, are filtered or come over a closed connection: what the user sees.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../src/store/sqlite/connection/driver.ts";
import { runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import {
  API_MODE,
  baseUrl,
  begun,
  chunked,
  endFrames,
  errorFrame,
  type RawDialect,
  type RawLlm,
  type RawStep,
  startRawLlm,
  textFrames,
} from "./servers/raw-llm.ts";

let home: TempHome;
let llm: RawLlm | undefined;

beforeEach(() => {
  home = tempHome();
});

afterEach(async () => {
  await llm?.close();
  home.remove();
});

/** A server whose turns are answered in order; side requests (titles) are refused. */
async function serve(dialect: RawDialect, ...answers: (readonly RawStep[])[]): Promise<RawLlm> {
  const left = [...answers];
  const none = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n";
  llm = await startRawLlm(({ body }) => (body.includes('"tools":') ? (left.shift() ?? [none]) : [none]));
  const model = `model:\n  default: test-model\n  provider: custom\n  base_url: ${baseUrl(llm, dialect)}\n`;
  const rest = `  api_mode: ${API_MODE[dialect]}\n  context_length: 128000\nagent:\n  api_max_retries: 1\n`;
  writeFileSync(join(home.path, "config.yaml"), model + rest);
  return llm;
}

function rows<T>(file: string, sql: string): T[] {
  const db = openDatabase(join(home.path, file));
  try {
    return db.prepare<T>(sql).all();
  } finally {
    db.close();
  }
}

const stored = () =>
  rows<{ content: string; finish_reason: string }>(
    "state.db",
    "SELECT content, finish_reason FROM messages WHERE role = 'assistant'",
  );
const booked = () =>
  rows<{ input: number; output: number; outcome: string }>(
    "runtime.db",
    "SELECT input, output, outcome FROM usage_ledger WHERE purpose = 'turn'",
  );

const CUTS: { readonly [name: string]: (dialect: RawDialect, text: string) => readonly RawStep[] } = {
  "a reset": (d, text) => [begun(textFrames(d, text)), { waitMs: 100 }, "RESET"],
  "a clean end without a finish event": (d, text) => [chunked(textFrames(d, text))],
  "an error frame after text": (d, text) => [chunked(textFrames(d, text) + errorFrame(d))],
};

const usageOnly = `data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 40, completion_tokens: 2 } })}\n\n`;

describe.each<RawDialect>(["chat", "anthropic", "responses"])("an answer that breaks off (%s)", (dialect) => {
  it.each(Object.keys(CUTS))("is continued after %s, and the user is notified", async (name) => {
    const half = CUTS[name]?.(dialect, "The quick brown fox ju") ?? [];
    const server = await serve(dialect, half, [chunked(textFrames(dialect, "mps over.") + endFrames(dialect))]);
    const run = await runHermes(["-z", "Tell me"], { home: home.path });
    expect(run.stdout).toBe("The quick brown fox jumps over.\n");
    expect(run.stderr).toContain("broke off in the middle of its answer");
    expect(run.code).toBe(0);
    expect(server.requests.at(-1)?.body).toContain("The quick brown fox ju");
    expect(stored()).toEqual([{ content: "The quick brown fox jumps over.", finish_reason: "stop" }]);
    const [broken, whole] = booked();
    expect(broken?.output).toBeGreaterThan(0);
    expect(broken?.input).toBeGreaterThan(0);
    expect(whole).toMatchObject({ input: 40, output: 7, outcome: "ok" });
  });

  it("that cannot be continued is a failure, not a whole answer", async () => {
    const half = CUTS["a reset"]?.(dialect, "The quick brown fox ju") ?? [];
    await serve(dialect, half, [chunked(errorFrame(dialect, "the model is gone"))]);
    const run = await runHermes(["-q", "Tell me", "--json"], { home: home.path });
    expect(run.code).toBe(1);
    const events = run.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(events.some((event) => event.type === "notice" && event.text.includes("broke off"))).toBe(true);
    expect(events.at(-1)).toMatchObject({ type: "ended", end: "failed", text: "The quick brown fox ju" });
    expect(stored()).toEqual([{ content: "The quick brown fox ju", finish_reason: "error" }]);
  });

  it("by a content filter is shown with the reason; an empty one fails at once", async () => {
    const filtered = chunked(textFrames(dialect, "I cannot") + endFrames(dialect, "content_filter"));
    const empty = chunked(endFrames(dialect, "content_filter"));
    const server = await serve(dialect, [filtered], [empty]);
    const some = await runHermes(["-z", "Tell me"], { home: home.path });
    expect(some).toMatchObject({ code: 0, stdout: "I cannot\n" });
    expect(some.stderr).toContain("content filter");
    expect(stored()).toEqual([{ content: "I cannot", finish_reason: "content_filter" }]);
    const asked = server.requests.length;
    const none = await runHermes(["-z", "Tell me again"], { home: home.path });
    expect(none.code).toBe(1);
    expect(none.stderr).toContain("content filter blocked the answer");
    expect(server.requests.length - asked).toBeLessThanOrEqual(2);
  });
});

it("usage without a finish reason does not end a chat stream; a finish reason without [DONE] does", async () => {
  const whole = textFrames("chat", "mps over.") + endFrames("chat").replace("data: [DONE]\n\n", "");
  await serve("chat", [chunked(textFrames("chat", "The fox ju") + usageOnly)], [chunked(whole)]);
  const run = await runHermes(["-z", "Tell me"], { home: home.path });
  expect(run).toMatchObject({ code: 0, stdout: "The fox jumps over.\n" });
  expect(booked()[0]).toMatchObject({ input: 40 });
});

it("a kept connection that the server has closed is replaced at once, without a notice", async () => {
  const tool = {
    choices: [
      {
        index: 0,
        delta: { tool_calls: [{ index: 0, id: "t1", function: { name: "todo", arguments: '{"todos":[]}' } }] },
        finish_reason: "tool_calls",
      },
    ],
  };
  let reused = 0;
  const first = chunked(`data: ${JSON.stringify(tool)}\n\ndata: [DONE]\n\n`);
  const answers: RawStep[] = [first, chunked(textFrames("chat", "Done.") + endFrames("chat"))];
  llm = await startRawLlm(({ body, earlierOnSocket }) => {
    if (!body.includes('"tools":')) return ["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"];
    if (earlierOnSocket === 0) return [answers.shift() ?? "FIN"];
    reused += 1;
    return ["RESET"];
  });
  home.useModel({ url: llm.url } as never);
  const run = await runHermes(["-q", "Go"], { home: home.path });
  expect(reused).toBe(1);
  expect(run.stdout).toContain("Done.");
  expect(run.stderr).not.toMatch(/trying again|ECONNRESET/);
  expect(run.code).toBe(0);
});
