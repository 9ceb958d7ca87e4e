// The transport of the offline model: no network; its events look like any other model's.
import { answerOffline } from "../offline/offline-model.ts";
import { Answer } from "./answer.ts";
import type { Transport, TransportEvent } from "./transport.ts";
import { TransportError } from "./transport.ts";
import { estimatedUsage } from "./usage-map.ts";
import { stableArguments } from "./wire-values.ts";

const PIECE = /[\s\S]{1,40}(?:\s|$)|[\s\S]{1,40}/g;

/** Deterministic: the same request always gets the same answer. */
export function offline(): Transport {
  return {
    name: "offline",
    encode: (call) => ({ model: call.model, messages: call.request.messages.length }),
    async *stream(call): AsyncGenerator<TransportEvent> {
      if (call.signal.aborted) throw new TransportError("interrupted", { kind: "aborted" });
      const answer = new Answer(call);
      const reply = answerOffline(call.request);
      if (reply.type === "call")
        yield* answer.addCall(0, { name: reply.tool, args: stableArguments(JSON.stringify(reply.args)) });
      else
        for (const piece of reply.text.match(PIECE) ?? []) {
          if (call.signal.aborted) throw new TransportError("interrupted", { kind: "aborted", ...answer.arrived() });
          yield* answer.addText(piece);
        }
      yield* answer.end();
      const finishReason = answer.hasCalls ? "tool_calls" : "stop";
      const message = answer.message(finishReason);
      const usage = estimatedUsage(call.request, message);
      yield { type: "done", message, finishReason, usage, usageEstimated: true, rateLimits: {} };
    },
  };
}
