import { describe, expect, test } from "vitest";
import { anthropicMessages } from "../src/providers/transports/anthropic-messages.ts";
import { chatCompletions } from "../src/providers/transports/chat-completions.ts";
import { codexResponses } from "../src/providers/transports/codex-responses.ts";
import { gather, transportCall } from "./kit/transport-call.ts";
import { hang, startFakeLlm } from "./servers/fake-llm.ts";

describe.each([
  { name: "chat completions", make: chatCompletions, path: "/v1" },
  { name: "anthropic messages", make: anthropicMessages, path: "" },
  { name: "responses", make: codexResponses, path: "/v1" },
])("$name", ({ make, path }) => {
  test.each(["before_headers", "after_headers"] as const)(
    "an abort while the server hangs %s ends all streams",
    async (where) => {
      const llm = await startFakeLlm({ script: () => hang(where) });
      const controller = new AbortController();
      const loose: unknown[] = [];
      const note = (reason: unknown) => loose.push(reason);
      process.on("unhandledRejection", note);
      try {
        const transport = make();
        const call = transportCall({ baseUrl: `${llm.url}${path}`, signal: controller.signal });
        const ends = Array.from({ length: 10 }, () =>
          gather(transport, call).catch((error: { kind: string }) => error.kind),
        );
        await llm.arrived(10);
        const before = Date.now();
        controller.abort();
        expect(new Set(await Promise.all(ends))).toEqual(new Set(["aborted"]));
        while (llm.requests.some((request) => request.closedAt === null))
          await new Promise((resolve) => setTimeout(resolve, 5));
        expect(Date.now() - before).toBeLessThan(15_000);
        expect(llm.requests.every((request) => request.aborted)).toBe(true);
        expect(await gather(transport, call).catch((error: { kind: string }) => error.kind)).toBe("aborted");
        expect(llm.requests).toHaveLength(10);
        await new Promise((resolve) => setTimeout(resolve, 20));
        expect(loose).toEqual([]);
      } finally {
        process.off("unhandledRejection", note);
        await llm.close();
      }
    },
  );
});
