// The memory limit for finished runs.
import { expect, it } from "vitest";
import type { AgentApi } from "../../core/agent-api.ts";
import type { AgentEvent } from "../../core/event.ts";
import type { ResponseStore } from "../../core/store/response-store.ts";
import { NO_USAGE } from "../../core/store/usage.ts";
import { Runs } from "./runs.ts";
import { Sessions } from "./sessions.ts";

const DELTAS = 30_000;

async function* talk(): AsyncGenerator<AgentEvent> {
  for (let index = 0; index < DELTAS; index++) yield { type: "delta", kind: "text", text: "x" } as AgentEvent;
  yield { type: "ended", end: "done", text: "said", usage: NO_USAGE, sessionId: "s" } as unknown as AgentEvent;
}

it("removes the oldest finished runs above the limit, and never active ones", async () => {
  const agent = {
    store: { getSession: async () => null },
    open: async () => ({ conversation: { sessionId: "s", send: talk, close: async () => undefined } }),
  } as unknown as AgentApi;
  const runs = new Runs({
    sessions: new Sessions(agent),
    responses: {} as ResponseStore,
    modelName: "m",
    approvalMs: 1000,
    stopping: new AbortController().signal,
    log: () => undefined,
    now: Date.now,
  });
  const started = Array.from({ length: 7 }, () =>
    runs.start({ client: { instructions: "", history: [], input: "go" }, model: "m", thread: null }),
  );
  const oldest = started[0]?.id ?? "";
  expect(runs.get(oldest).active).toBe(true);
  await Promise.all(started.map(({ done }) => done));
  expect(runs.get(started[6]?.id ?? "").toJson()).toMatchObject({ status: "completed", output: "said" });
  expect(() => runs.get(oldest)).toThrow("there is no run");
});
