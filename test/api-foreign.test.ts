// The API server under clients that others wrote: schemathesis, LangChain and openai-python.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { API_KEY, type ApiFixture, apiFixture } from "./kit/api-fixture.ts";
import { fullProof } from "./kit/full-proof.ts";
import { calls, text } from "./servers/fake-llm.ts";
import type { Reply } from "./servers/fake-llm-replies.ts";
import type { RecordedRequest } from "./servers/fake-llm-request.ts";

const BIN = process.env.HERMES_FOREIGN_BIN ?? join(import.meta.dirname, "../node_modules/.hermes/foreign/bin");
const missing = !existsSync(join(BIN, "schemathesis"));
if (missing) process.stderr.write(`skipped: no schemathesis and LangChain in ${BIN} (.ci/run installs them)\n`);

const run = promisify(execFile);

/** Calls the client's tool for messages that ask for it, and answers everything else. */
function answer(request: RecordedRequest): Reply {
  const last = request.messages.at(-1);
  const said = last?.text ?? "";
  if (last?.role === "tool") return text(`It is ${said}.`);
  if (said.startsWith("TOOL:")) return calls([{ name: "get_weather", args: { city: "Oslo" } }]);
  if (said.startsWith("CITY:")) return calls([{ name: "City", args: { name: "Oslo" } }]);
  return text("Hello.");
}

describe.skipIf(missing)("foreign clients", () => {
  let api: ApiFixture;
  beforeAll(async () => {
    api = await apiFixture({ always: answer });
  });
  afterAll(() => api.close());

  it("serves LangChain's bind_tools, structured output and streams, and openai-python's responses", async () => {
    const { stdout } = await run(join(BIN, "python"), [
      join(import.meta.dirname, "children/langchain_client.py"),
      api.server.url,
      API_KEY,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      calls: [["get_weather", { city: "Oslo" }]],
      answer: "It is sunny in Oslo.",
      structured: "Oslo",
      streamed: "Hello.",
      response: "Hello.",
    });
  }, 180_000);

  it("does what its OpenAPI document says, by schemathesis", async () => {
    const config = join(import.meta.dirname, "fixtures/schemathesis.toml");
    const { stdout } = await run(
      join(BIN, "schemathesis"),
      [
        "--config-file",
        config,
        "run",
        `${api.server.url}/openapi.json`,
        "--header",
        `Authorization: Bearer ${API_KEY}`,
        "--max-examples",
        fullProof ? "100" : "1",
        "--phases",
        fullProof ? "examples,coverage,fuzzing,stateful" : "examples,fuzzing",
        "--seed",
        process.env.HERMES_SEED ?? "1",
        "--workers",
        // With several, CPython 3.11 fails in hypothesis now and then.
        "1",
        "--no-color",
      ],
      // It keeps the cases that failed in the current folder.
      { maxBuffer: 50_000_000, cwd: api.home.path },
    ).catch((error: { stdout?: string; stderr?: string }) => ({ stdout: `${error.stdout}\n${error.stderr}` }));
    expect(stdout).toMatch(/\d+ generated, \d+ passed|No issues found/);
    expect(stdout).not.toMatch(/\d+ failed|\d+ error|FAILURES/);
  }, 600_000);
});
