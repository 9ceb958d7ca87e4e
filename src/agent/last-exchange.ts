// Finds the last exchange of a conversation: a message of the user and everything after it.
import { SUMMARY_TAG } from "../core/context.ts";
import { contentText, type Message } from "../core/message.ts";

/** The index of the last message of the user; -1 when there is none, or when it holds the summary of a compaction. */
export function lastExchangeStart(messages: readonly Message[]): number {
  const at = messages.findLastIndex((message) => message.role === "user");
  return contentText(messages[at]?.content).includes(SUMMARY_TAG) ? -1 : at;
}
