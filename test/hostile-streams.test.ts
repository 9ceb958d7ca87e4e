// No answer of a model server can end the program: hostile ends of a stream, each dialect, one-shot and API server.
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermesProgram, runHermes } from "./kit/run-hermes.ts";
import { type TempHome, tempHome } from "./kit/temp-home.ts";
import {
  API_MODE,
  baseUrl,
  begun,
  chunk,
  chunked,
  endFrames,
  errorFrame,
  type RawDialect,
  type RawLlm,
  type RawStep,
  STREAM_HEAD,
  startRawLlm,
  textFrames,
  withLength,
} from "./servers/raw-llm.ts";

type Script = (dialect: RawDialect) => readonly RawStep[];

const GOOD = (dialect: RawDialect) => chunked(textFrames(dialect, "All good.") + endFrames(dialect));
const gzipHead = `${STREAM_HEAD}content-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n`;

function bytes(head: string, body: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${head}${body.length.toString(16)}\r\n`), body, Buffer.from("\r\n0\r\n\r\n")]);
}

/** Endings without an answer, or with an incomplete one. */
const FAILING: { readonly [name: string]: Script } = {
  "failed-chunked": (d) => [chunked(errorFrame(d))],
  "failed-length": (d) => [withLength(errorFrame(d))],
  "failed-after-text": (d) => [chunked(textFrames(d, "Half an ans") + errorFrame(d))],
  "failed-after-text-length": (d) => [withLength(textFrames(d, "Half an ans") + errorFrame(d))],
  "failed-then-close": (d) => [`${STREAM_HEAD}connection: close\r\n\r\n${errorFrame(d)}`, "FIN"],
  "failed-then-silence": (d) => [begun(errorFrame(d)), { waitMs: 200 }, "0\r\n\r\n"],
  "failed-then-garbage": (d) => [`${chunked(errorFrame(d))}\0\u0001garbage\r\nHTTP/9`],
  "failed-then-reset": (d) => [begun(errorFrame(d)), "RESET"],
  "failed-garbage-reset": (d) => [`${chunked(errorFrame(d))}HTTP/1.1 999\r\n\r\n`, { waitMs: 5 }, "RESET"],
  "reset-in-body": (d) => [begun(textFrames(d, "Half an ans")), { waitMs: 50 }, "RESET"],
  "fin-in-body": (d) => [begun(textFrames(d, "Half an ans")), "FIN"],
  "fin-before-headers": () => ["FIN"],
  "fin-in-headers": () => ["HTTP/1.1 200 OK\r\ncontent-ty", "FIN"],
  "bad-chunk-size": (d) => [begun(textFrames(d, "Half an ans")), { waitMs: 20 }, "zz\r\nnot a chunk\r\n"],
  "huge-chunk-size": (d) => [begun(textFrames(d, "Half an ans")), { waitMs: 20 }, `${"f".repeat(40)}\r\nx\r\n`],
  "not-http": () => ["SSH-2.0-OpenSSH_9.6\r\n", { waitMs: 20 }, "FIN"],
  "header-flood": () => [`${STREAM_HEAD}${"x-flood: yes\r\n".repeat(9000)}\r\n`],
  "endless-header": () => [`${STREAM_HEAD}x-long: ${"a".repeat(400_000)}`],
  "switching-protocols": () => ["HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\nhello"],
  "only-1xx": () => [
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n",
    { waitMs: 20 },
    "FIN",
  ],
  "gzip-garbage": () => [bytes(gzipHead, Buffer.from("this is not gzip at all"))],
  "gzip-cut": (d) => [bytes(gzipHead, gzipSync(textFrames(d, "Half an ans") + endFrames(d)).subarray(0, 40))],
  "gzip-error-frame": (d) => [bytes(gzipHead, gzipSync(errorFrame(d)))],
  "length-too-long": (d) => [
    `${STREAM_HEAD}content-length: 999999\r\n\r\n${textFrames(d, "Half an ans")}`,
    { waitMs: 20 },
    "FIN",
  ],
  "error-body-reset": () => ["HTTP/1.1 500 Oops\r\ncontent-length: 5000\r\n\r\nhalf an error", { waitMs: 20 }, "RESET"],
  "no-content": () => ["HTTP/1.1 204 No Content\r\n\r\n"],
};

/** Unusual endings after a complete answer. */
const WHOLE: { readonly [name: string]: Script } = {
  "garbage-after-end": (d) => [`${GOOD(d)}\0\u0001garbage\r\nHTTP/9`],
  "junk-frame-after-end": (d) => [chunked(`${textFrames(d, "All good.")}${endFrames(d)}data: {junk\n\n`)],
  "early-hints-first": (d) => [`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${GOOD(d)}`],
  "reset-after-end": (d) => [begun(textFrames(d, "All good.") + endFrames(d)), { waitMs: 30 }, "RESET"],
  "no-last-blank-line": (d) => [chunked((textFrames(d, "All good.") + endFrames(d)).trimEnd())],
  "bare-carriage-returns": (d) => [chunked((textFrames(d, "All good.") + endFrames(d)).replaceAll("\n", "\r"))],
  "huge-comment-line": (d) => [
    begun(textFrames(d, "All good.")),
    chunk(`: ${"x".repeat(3_000_000)}\n\n`),
    chunk(endFrames(d)),
    "0\r\n\r\n",
  ],
};

const DIALECTS: readonly RawDialect[] = ["chat", "anthropic", "responses"];
const CASES: { readonly [name: string]: Script } = { ...FAILING, ...WHOLE, fine: (d) => [GOOD(d)] };

let llm: RawLlm;

beforeAll(async () => {
  llm = await startRawLlm(({ path, body }) => {
    const dialect = path.endsWith("/messages") ? "anthropic" : path.endsWith("/responses") ? "responses" : "chat";
    const name = [...body.matchAll(/case=([a-z0-9-]+)/g)].at(-1)?.[1] ?? "";
    return (CASES[name] ?? (() => ["HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"]))(dialect);
  });
});

afterAll(() => llm.close());

function homeFor(dialect: RawDialect): TempHome {
  const home = tempHome();
  const model = `model:\n  default: test-model\n  provider: custom\n  base_url: ${baseUrl(llm, dialect)}\n`;
  const rest = `  api_mode: ${API_MODE[dialect]}\n  context_length: 128000\n  turn_timeout_seconds: 12\nagent:\n  api_max_retries: 1\n`;
  writeFileSync(join(home.path, "config.yaml"), model + rest);
  return home;
}

async function inBatches<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: 3 }, worker));
}

describe.each(DIALECTS)("a hostile end of a stream (%s)", (dialect) => {
  it("ends a one-shot with a failure or the whole answer", async () => {
    const home = homeFor(dialect);
    const wrong: string[] = [];
    try {
      await inBatches(Object.keys(CASES), async (name) => {
        const run = await runHermes(["-z", `case=${name}`], { home: home.path });
        const crashed = /Unhandled|unhandled|node:internal|\n {4}at /.test(run.stderr);
        const right =
          name in FAILING
            ? run.code === 1 && run.stderr.includes("error:")
            : run.code === 0 && run.stdout.trim() === "All good.";
        if (crashed || !right) wrong.push(`${name}: ${run.code} ${run.stdout.trim()} | ${run.stderr.slice(0, 600)}`);
      });
      expect(wrong).toEqual([]);
    } finally {
      home.remove();
    }
  }, 90_000);

  it("does not stop the API server, and its client gets a failure or the whole answer", async () => {
    const home = homeFor(dialect);
    const env = {
      PATH: process.env.PATH ?? "",
      HOME: home.path,
      HERMES_HOME: home.path,
      API_SERVER_KEY: "k".repeat(24),
    };
    const child: ChildProcess = spawn(process.execPath, [hermesProgram(), "api", "run", "--port", "0"], { env });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding("utf8").on("data", (text: string) => {
        said += text;
      });
    try {
      await expect.poll(() => said, { timeout: 30_000 }).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
      const url = /http:\/\/127\.0\.0\.1:\d+/.exec(said)?.[0] ?? "";
      const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "k".repeat(24), maxRetries: 0 });
      const wrong: string[] = [];
      await inBatches(Object.keys(CASES), async (name) => {
        const messages = [{ role: "user" as const, content: `case=${name}` }];
        let outcome: string;
        try {
          const { choices } = await client.chat.completions.create({ model: "test-model", messages });
          outcome = `${choices[0]?.finish_reason}: ${choices[0]?.message.content}`;
        } catch (error) {
          outcome = error instanceof OpenAI.APIError && error.status === 502 ? "502" : `lost: ${String(error)}`;
        }
        const right = name in FAILING ? /^(502|error: (Half an ans)+)$/.test(outcome) : outcome === "stop: All good.";
        if (!right) wrong.push(`${name}: ${outcome}`);
      });
      expect(wrong).toEqual([]);
      expect(child.exitCode).toBe(null);
    } finally {
      child.kill("SIGTERM");
      if (child.exitCode === null) await new Promise((resolve) => child.once("exit", resolve));
      home.remove();
    }
  }, 90_000);
});
