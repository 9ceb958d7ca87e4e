// The events of a conversation: a closed union of plain data.
import type { Failure } from "./failure.ts";
import type { Message, ToolCall } from "./message.ts";
import type { ModelIdentity } from "./model/provider.ts";
import type { Cost, Usage } from "./store/usage.ts";

export type TurnEnd = "done" | "interrupted" | "budget" | "failed";

export type AgentEvent =
  | { readonly type: "delta"; readonly kind: "text" | "reasoning"; readonly text: string }
  /** The streamed text since the last message is invalid: the answer is streamed again from the start. */
  | { readonly type: "restarted" }
  /** Emitted only after the row is durable. `id` is its row id in the store. */
  | { readonly type: "message"; readonly id: number; readonly message: Message }
  | {
      readonly type: "tool_started";
      readonly callId: string;
      readonly name: string;
      readonly preview: string;
      readonly args: string;
    }
  | { readonly type: "tool_progress"; readonly callId: string; readonly name: string; readonly text: string }
  | {
      readonly type: "tool_ended";
      readonly callId: string;
      readonly name: string;
      readonly failed: boolean;
      readonly durationMs: number;
      readonly preview: string;
      /** What a write changed, as a unified diff for the user. */
      readonly diff?: string | undefined;
    }
  | { readonly type: "retrying"; readonly failure: Failure; readonly attempt: number; readonly inMs: number }
  | { readonly type: "fallback"; readonly from: ModelIdentity; readonly to: ModelIdentity; readonly failure: Failure }
  /** The conversation was compacted and continues in session `sessionId`. */
  | {
      readonly type: "compressed";
      readonly fromSessionId: string;
      readonly sessionId: string;
      readonly beforeTokens: number;
      readonly afterTokens: number;
      readonly method: string;
    }
  /** For the user, never for the model: a nearly full window, degraded storage, a model without a price. */
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly text: string }
  | { readonly type: "approval_needed"; readonly callId: string; readonly action: string; readonly reason: string }
  | {
      readonly type: "usage";
      readonly usage: Usage;
      readonly cost: Cost;
      readonly contextTokens: number;
      readonly contextLength: number;
    }
  /** Always the last event of a turn, exactly once. */
  | {
      readonly type: "ended";
      readonly end: TurnEnd;
      readonly text: string;
      readonly sessionId: string;
      readonly modelCalls: number;
      readonly usage: Usage;
      readonly cost: Cost;
      readonly failure?: Failure | undefined;
      /** A note for the user: why the answer may be incomplete although the turn is done. */
      readonly note?: string | undefined;
      /** Steering text that could not be delivered because no tool ran: send it as the next message. */
      readonly undelivered?: string | undefined;
      /** Calls of tools that the caller runs; `continueWith` takes their results. */
      readonly clientCalls?: readonly ToolCall[] | undefined;
    };
