// The transport of the offline model: no network; its events look like those of any other model.
import { answerOffline } from "../offline/offline-model.ts";
import { AnswerDraft, answerMessage, EMPTY_ANSWER, hasCalls, receivedAnswer } from "./answer.ts";
import { stableArguments } from "./json-values.ts";
import { type Transport, TransportError, type TransportEvent } from "./transport.ts";
import { estimatedUsage } from "./usage-map.ts";

const PIECE = /[\s\S]{1,40}(?:\s|$)|[\s\S]{1,40}/g;

/** Deterministic: the same request always gets the same answer. */
export function offline(): Transport {
  return {
    name: "offline",
    encode: (call) => ({ model: call.model, messages: call.request.messages.length }),
    async *stream(call): AsyncGenerator<TransportEvent> {
      if (call.signal.aborted) throw new TransportError("interrupted", { kind: "aborted" });
      const draft = new AnswerDraft(EMPTY_ANSWER);
      const reply = answerOffline(call.request);
      if (reply.type === "call")
        draft.addCall(0, { name: reply.tool, args: stableArguments(JSON.stringify(reply.args)) });
      else
        for (const piece of reply.text.match(PIECE) ?? []) {
          if (call.signal.aborted)
            throw new TransportError("interrupted", { kind: "aborted", ...receivedAnswer(draft.state) });
          draft.addText(piece);
          yield* draft.events.splice(0);
        }
      draft.flush();
      yield* draft.events;
      const finishReason = hasCalls(draft.state) ? "tool_calls" : "stop";
      const message = answerMessage(draft.state, finishReason, call.request.messages);
      const usage = estimatedUsage(call.request, message);
      yield { type: "done", message, finishReason, usage, usageEstimated: true, rateLimits: {} };
    },
  };
}
