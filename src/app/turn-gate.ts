// The gate of a conversation: a new turn also starts a new checkpoint.
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
