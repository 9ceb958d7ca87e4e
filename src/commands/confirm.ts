// Asks before a command that takes something away from the conversation (approvals.destructive_slash_confirm).
import type { CommandContext } from "../core/chat/command.ts";
import { isTerminal } from "./builtin-command.ts";
import type { LiveSettings } from "./command-deps.ts";

/**
 * True when the user agrees. Also true without a question: in chats, in an empty conversation, when the setting is off, and
 * where no user is at a terminal. "Always" switches the setting off.
 */
export async function confirmed(
  settings: LiveSettings,
  context: CommandContext,
  question: { readonly command: string; readonly effect: string },
): Promise<boolean> {
  const { human, conversation } = context;
  if (!settings.config.approvals.destructive_slash_confirm || !isTerminal(context)) return true;
  if (!human?.present || human.piped || conversation.messages.length === 0) return true;
  const answer = await human.approve(
    {
      action: `/${question.command}: ${question.effect}`,
      reason: "always: do not ask again (approvals.destructive_slash_confirm)",
      intent: `slash:${question.command}`,
      choices: ["once", "always", "deny"],
      toolName: question.command,
    },
    new AbortController().signal,
  );
  if (answer.choice === "always") await settings.save("approvals.destructive_slash_confirm", false);
  return answer.choice !== "deny";
}
