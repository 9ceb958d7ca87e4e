// Slash commands that only make sense in a chat, as data: for /help there and for the menus of platforms.

export interface ChatCommand {
  readonly name: string;
  readonly summary: string;
  readonly args?: string | undefined;
}

export const CHAT_COMMANDS = [
  { name: "approve", args: "[all] [session|always]", summary: "Allow what waits for approval" },
  { name: "background", args: "task", summary: "Work on something beside this chat" },
  { name: "cron", args: "[list|pause|resume|run|remove] [id]", summary: "Scheduled jobs" },
  { name: "deny", args: "[all]", summary: "Refuse what waits for approval" },
  { name: "platform", args: "[pause|resume] [name]", summary: "State of the chat platforms" },
  { name: "restart", summary: "Restart the gateway" },
  { name: "sethome", summary: "Make this chat the home channel" },
  { name: "start", summary: "Say hello" },
  { name: "topic", args: "[off|help|session]", summary: "Telegram topics as sessions" },
  { name: "update", summary: "How this agent is updated" },
  { name: "voice", args: "[on|tts|off|status]", summary: "Answers as voice notes" },
  { name: "whoami", summary: "Who you are for the gateway" },
] as const satisfies readonly ChatCommand[];

export type ChatCommandName = (typeof CHAT_COMMANDS)[number]["name"];

/** Commands of the terminal that mean nothing in a chat, or something of its own there. */
export const NOT_IN_CHATS: readonly string[] = ["quit", "handoff", "cron"];
