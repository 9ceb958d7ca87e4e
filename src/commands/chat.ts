// Slash commands that exist in chats only.
import type { ChatCommandContext, GatewayRequest } from "../core/chat/chat-command.ts";
import type { ChatCommandAnswer } from "../core/chat/command.ts";
import type { ApprovalChoice } from "../core/human.ts";
import { type BuiltinCommand, chatCommand, text } from "./builtin-command.ts";

const request = (what: GatewayRequest): ChatCommandAnswer => ({ type: "gateway", request: what });

/** The words of the first line: an e-mail may have a signature or the quoted question below it. */
function firstLineWords(args: string): string[] {
  return (args.split("\n")[0] ?? "").toLowerCase().split(/\s+/);
}

function decide(choice: ApprovalChoice, words: readonly string[]): ChatCommandAnswer {
  const id = words.find((word) => /^[\da-f]{8}$/.test(word));
  return request({ kind: "decide", choice, all: words.includes("all"), id });
}

async function approve(args: string): Promise<ChatCommandAnswer> {
  const words = firstLineWords(args);
  return decide(words.includes("always") ? "always" : words.includes("session") ? "session" : "once", words);
}

async function whoami(_: string, { source, sessionKey, isOwner, sharesHome }: ChatCommandContext) {
  return text(
    [
      `You are ${source.userName ?? "unknown"} (${source.userId ?? "no id"}) on ${source.platform}.`,
      `Chat ${source.chatId}${source.threadId ? `, thread ${source.threadId}` : ""} (${source.chatKind}).`,
      isOwner
        ? "You are an owner of this agent."
        : "You are a guest: the owner is asked about everything that needs approval.",
      sharesHome
        ? "Memory and sessions are shared with the terminal."
        : "Memory, sessions and search here are yours alone.",
      `Session key ${sessionKey}`,
    ].join("\n"),
  );
}

async function start(_: string, { hasHomeChannel }: ChatCommandContext) {
  const lines = ["Hello. Write what you want to know or have done; /help lists the commands."];
  if (!hasHomeChannel) lines.push("/sethome makes this chat the place for scheduled results and notices.");
  return text(lines.join("\n"));
}

async function platform(args: string, { source }: ChatCommandContext): Promise<ChatCommandAnswer> {
  const [action = "list", name = ""] = args
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (action === "list") return request({ kind: "list-platforms" });
  if (action === "resume") return request({ kind: "resume-platform", platform: name });
  if (action !== "pause") return text("Usage: /platform, /platform pause NAME or /platform resume NAME");
  if (name === source.platform) return text(`You are writing on ${name}: pausing it would lock you out.`);
  return request({ kind: "pause-platform", platform: name });
}

const UPDATE = [
  "Update on the machine that runs this agent, not from a chat:",
  "an installed package: npm install -g hermes-ts@latest",
  "a checkout: git pull",
  "Then send /restart.",
].join("\n");

export const chatCommands: readonly BuiltinCommand[] = [
  chatCommand({
    name: "approve",
    group: "Conversation",
    args: "[all] [session|always]",
    summary: "Approve pending actions",
    // The gateway checks who may answer each question.
    ownerOnly: false,
    runInChat: approve,
  }),
  chatCommand({
    name: "background",
    group: "Conversation",
    aliases: ["bg", "btw"],
    args: "task",
    summary: "Run a task in the background",
    ownerOnly: false,
    runInChat: async (task) => request({ kind: "background", task }),
  }),
  chatCommand({
    name: "deny",
    group: "Conversation",
    args: "[all]",
    summary: "Deny pending actions",
    ownerOnly: false,
    runInChat: async (args) => decide("deny", firstLineWords(args)),
  }),
  chatCommand({
    name: "platform",
    group: "Program",
    aliases: ["platforms"],
    args: "[pause|resume] [name]",
    summary: "State of the chat platforms",
    ownerOnly: /^(?:pause|resume)\b/i,
    runInChat: platform,
  }),
  chatCommand({
    name: "restart",
    group: "Program",
    summary: "Restart the gateway",
    ownerOnly: true,
    runInChat: async () => request({ kind: "restart" }),
  }),
  chatCommand({
    name: "sethome",
    group: "Program",
    aliases: ["set-home", "set_home"],
    summary: "Make this chat the home channel",
    ownerOnly: true,
    runInChat: async () => request({ kind: "set-home" }),
  }),
  // Telegram sends it when a user opens the bot for the first time.
  chatCommand({ name: "start", group: "Program", summary: "Say hello", ownerOnly: false, runInChat: start }),
  chatCommand({
    name: "topic",
    group: "Sessions",
    args: "[off|help|session]",
    summary: "Telegram topics as sessions",
    ownerOnly: false,
    runInChat: async (args) => request({ kind: "topic", args }),
  }),
  chatCommand({
    name: "update",
    group: "Program",
    summary: "How to update this agent",
    ownerOnly: false,
    runInChat: async () => text(UPDATE),
  }),
  chatCommand({
    name: "voice",
    group: "Conversation",
    args: "[on|tts|off|status]",
    summary: "Answers as voice notes",
    ownerOnly: false,
    runInChat: async (args) => request({ kind: "voice", args }),
  }),
  chatCommand({
    name: "whoami",
    group: "Program",
    summary: "Your identity and rights here",
    ownerOnly: false,
    runInChat: whoami,
  }),
];
