// Runs one tool call that the user asked for: the same checks, hooks and gate as for a call of the model.
import { randomBytes } from "node:crypto";
import { contentText, type JsonObject } from "../../core/message.ts";
import type { Turn } from "../turn-state.ts";
import { runCall } from "./run-call.ts";

/** The text of the result. Never throws. */
export async function runForUser(turn: Turn, name: string, args: JsonObject): Promise<string> {
  const id = `user_${randomBytes(8).toString("hex")}`;
  const call = { id, type: "function" as const, function: { name, arguments: JSON.stringify(args) } };
  return contentText((await runCall(turn, { call, name, args, key: id })).content);
}
