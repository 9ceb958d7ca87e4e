// The gate as a conversation holds it: a new turn starts clean there and for checkpoints.
import type { Gate } from "../core/gate.ts";
import type { ConversationDeps } from "./conversation-deps.ts";

export function turnGate({ services, builtins }: ConversationDeps): Gate {
  return {
    check: (intent, context) => services.gate.check(intent, context),
    beginTurn: (sessionId) => {
      builtins.checkpoints.beginTurn(sessionId);
      services.gate.beginTurn(sessionId);
    },
  };
}
