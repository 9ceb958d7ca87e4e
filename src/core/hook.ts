// Hooks: the points at which plugins and shell hooks may observe, block, change or add. The names are those of v0.14.
import type { Json, JsonObject } from "./message.ts";

export const HOOK_NAMES = [
  "pre_tool_call",
  "post_tool_call",
  "pre_llm_call",
  "post_llm_call",
  "pre_api_request",
  "post_api_request",
  "transform_terminal_output",
  "transform_tool_result",
  "transform_llm_output",
  "on_session_start",
  "on_session_end",
  "on_session_finalize",
  "on_session_reset",
  "subagent_stop",
  "on_memory_write",
  "pre_gateway_dispatch",
  "pre_approval_request",
  "post_approval_response",
] as const;

export type HookName = (typeof HOOK_NAMES)[number];

/** The result of a hook: nothing, a text (transform, context), or an object such as `{ action: "block", message }`. */
export type HookAnswer = Json | undefined;

/** Runs every registered callback in order, time-limited and isolated: one that throws or hangs is reported and skipped. */
export interface Hooks {
  /** The results of the callbacks that returned one, in registration order. */
  run(name: HookName, args: JsonObject): Promise<readonly Json[]>;
  /** False when no callback is registered: callers then skip building costly arguments. */
  listens(name: HookName): boolean;
}

export const noHooks: Hooks = { run: async () => [], listens: () => false };
