// Slash commands in chats: those of every surface, and those that only make sense in a chat.

import type { CommandAnswer, SlashCommand } from "../core/command.ts";
import { parseCommandLine } from "../core/command.ts";
import type { ApprovalChoice } from "../core/human.ts";
import type { InboxRow } from "../core/mailbox.ts";
import { cronCommand } from "../gateway/chat/cron-command.ts";
import { placeName } from "../gateway/chat/owner-asking.ts";
import type { Prompts } from "../gateway/chat/prompts.ts";
import type { GatewayContext } from "../gateway/control/gateway-context.ts";
import { scopedStore } from "../gateway/inbound/scoped-store.ts";
import { Replies } from "../gateway/outbound/replies.ts";
import { CHAT_COMMANDS, type ChatCommandName, NOT_IN_CHATS } from "./chat-only.ts";

export interface CommandPlace {
  readonly gateway: GatewayContext;
  readonly row: InboxRow;
  readonly key: string;
  readonly prompts: Prompts;
}

export type Parsed =
  | { readonly kind: "own"; readonly name: ChatCommandName; readonly args: string }
  | { readonly kind: "shared"; readonly command: SlashCommand; readonly args: string }
  /** A shell command of the configuration. */
  | { readonly kind: "quick"; readonly name: string; readonly command: string; readonly args: string }
  | { readonly kind: "unknown"; readonly name: string; readonly near: readonly string[] };

const MOST_TASKS = 5;

/** A text, or a change of the session. */
export type OwnAnswer = string | Exclude<CommandAnswer, { type: "choose" }>;

type Own = (args: string, place: CommandPlace) => Promise<OwnAnswer> | OwnAnswer;

function text(lines: readonly string[]): string {
  return lines.join("\n");
}

/** Of the first line only: below it a letter may have a signature or the quoted question. */
function firstWords(args: string): string[] {
  return (args.split("\n")[0] ?? "").toLowerCase().split(/\s+/);
}

/** The id that a question names, among the words of /approve and /deny. */
function questionId(words: readonly string[]): string | undefined {
  return words.find((word) => /^[\da-f]{8}$/.test(word));
}

/** First the questions of this chat; then those of guests that were put to the owner here, or the one that is named. */
function decide(
  choice: ApprovalChoice,
  words: readonly string[],
  { prompts, gateway, row }: CommandPlace,
): string | number {
  const { source } = row.event;
  const { owners, questions } = gateway;
  const all = words.includes("all");
  const id = questionId(words);
  if (!owners.has(source)) return prompts.approvals > 0 ? owners.refusal(source) : 0;
  const own = id === undefined ? prompts.decide(choice, all) : 0;
  const place = placeName(source.platform, source.chatId);
  return own > 0 && !all ? own : own + questions.decide(choice, { ...(id ? { id } : {}), place, all });
}

function decided(count: string | number, what: string): string {
  if (typeof count === "string") return count;
  return count === 0 ? "Nothing waits for approval." : `${what}${count > 1 ? ` (${count})` : ""}.`;
}

const approve: Own = (args, place) => {
  const words = firstWords(args);
  const choice: ApprovalChoice = words.includes("always") ? "always" : words.includes("session") ? "session" : "once";
  return decided(decide(choice, words, place), "Approved");
};

const deny: Own = (args, place) => decided(decide("deny", firstWords(args), place), "Denied");

const whoami: Own = (_, { gateway, row, key }) => {
  const { source } = row.event;
  return text([
    `You are ${source.userName ?? "somebody"} (${source.userId ?? "no id"}) on ${source.platform}.`,
    `Chat ${source.chatId}${source.threadId ? `, thread ${source.threadId}` : ""} (${source.chatKind}).`,
    gateway.owners.has(source)
      ? "You are an owner of this agent."
      : "You are a guest: what needs approval is put to the owner.",
    gateway.isOwner(source)
      ? "Memory and sessions are the home's own."
      : "Memory, sessions and search here are yours alone.",
    `Session key ${key}`,
  ]);
};

export function homeVariable(gateway: GatewayContext, platform: string): string {
  return gateway.platform(platform)?.homeVariable ?? `${platform.toUpperCase()}_HOME_CHANNEL`;
}

const sethome: Own = async (_, { gateway, row }) => {
  const { source } = row.event;
  await gateway.opened.setHomeChannel(homeVariable(gateway, source.platform), {
    chatId: source.chatId,
    ...(source.threadId ? { threadId: source.threadId } : {}),
    ...(source.chatName ? { name: source.chatName } : {}),
  });
  return "This chat is now the home channel: scheduled results and notices come here.";
};

/** What Telegram sends when somebody opens the bot for the first time. */
const start: Own = (_, { gateway, row }) => {
  const { platform: name } = row.event.source;
  const homeless = gateway.destination(name) === null;
  return text([
    "Hello. Write what you want to know or have done; /help lists the commands.",
    ...(homeless ? ["/sethome makes this chat the place for scheduled results and notices."] : []),
  ]);
};

const restart: Own = async (_, { gateway, row }) => {
  await gateway.restart(row.event.source);
  return "The gateway restarts when the running turns are done.";
};

const platform: Own = async (args, { gateway, row }) => {
  const [action = "list", name = ""] = args
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  if (action === "list") return text(gateway.platformLines());
  if (action !== "pause" && action !== "resume") return "Say /platform, /platform pause NAME or /platform resume NAME.";
  const { source } = row.event;
  if (action === "pause" && name === source.platform) return `You write by ${name}: pausing it would lock you out.`;
  const done = action === "pause" ? await gateway.pause(name) : await gateway.resume(name);
  if (!done) return `${name || "Nothing"} is not set up here. See /platform`;
  return action === "pause"
    ? `${name} is paused; messages to it wait. /platform resume ${name}`
    : `${name} connects anew.`;
};

const background: Own = async (args, { gateway, row }) => {
  const where = new Replies(gateway).where(row);
  if (!where) return "There is no place here for the result.";
  if (args === "") {
    const tasks = gateway.background.list(where.to);
    return tasks.length === 0 ? "What shall I do beside this chat? /background TASK" : text(tasks);
  }
  if (gateway.background.list(where.to).length >= MOST_TASKS)
    return `${MOST_TASKS} tasks run here already; wait for one.`;
  const id = await gateway.background.start({ row, prompt: args, ...where });
  return `Started as ${id}; the result comes here. You can go on meanwhile.`;
};

const topic: Own = async (args, { gateway, row }) => {
  const { source } = row.event;
  const { store } = gateway.opened.app;
  const own = gateway.isOwner(source) ? store : scopedStore(store, gateway.tenant(source));
  const answer = await gateway.topics.run(args, row.event, own);
  return answer.type === "choose" ? answer.title : answer;
};

const voice: Own = async (args, { gateway, row }) =>
  gateway.voice.command(args, row.event.source, await gateway.opened.speechProblem());

const update: Own = () =>
  text([
    "Updates are made on the machine that runs this agent, not from a chat:",
    "an installed package: npm install -g hermes-ts@latest",
    "a checkout: git pull",
    "Then send /restart.",
  ]);

const OWN: { readonly [name in ChatCommandName]: Own } = {
  approve,
  background,
  cron: (args, { gateway, row }) => cronCommand(args, gateway, row.event.source),
  deny,
  platform,
  restart,
  sethome,
  start,
  topic,
  update,
  voice,
  whoami,
};
const ALIASES: { readonly [name: string]: ChatCommandName } = {
  "set-home": "sethome",
  set_home: "sethome",
  platforms: "platform",
  bg: "background",
  btw: "background",
};

interface Quick {
  readonly type: string;
  readonly command: string;
  readonly target: string;
}

function quickCommands(gateway: GatewayContext): { readonly [name: string]: Quick | undefined } {
  return gateway.opened.app.config.quick_commands as { readonly [name: string]: Quick | undefined };
}

/** A phone turns `--` into a dash. */
function undash(args: string): string {
  return args.replaceAll("—", "--").replaceAll("–", "-");
}

/** Null when the text is no command: also a path such as `/etc/hosts`. */
export async function parseChatCommand(gateway: GatewayContext, line: string, quick = true): Promise<Parsed | null> {
  const match = /^\/([A-Za-z][\w-]*)(?:@\w+)?(?:\s+([\s\S]*))?$/.exec(line.trim());
  if (!match) return null;
  const name = (match[1] ?? "").toLowerCase();
  const args = undash((match[2] ?? "").trim());
  const own = CHAT_COMMANDS.find((command) => command.name === (ALIASES[name] ?? name));
  if (own) return { kind: "own", name: own.name, args };
  const { app } = gateway.opened;
  const plain = `/${name.replaceAll("_", "-")} ${args}`.trim();
  const shared = (await app.commands()).filter((command) => !NOT_IN_CHATS.includes(command.name));
  const exact = shared.find((command) => [command.name, ...(command.aliases ?? [])].includes(name));
  if (exact) return { kind: "shared", command: exact, args };
  const given = quick ? (quickCommands(gateway)[name] ?? quickCommands(gateway)[name.replaceAll("_", "-")]) : undefined;
  if (given?.type === "exec" && given.command) return { kind: "quick", name, command: given.command, args };
  // An alias of an alias would go round in circles.
  if (given?.type === "alias" && given.target)
    return parseChatCommand(gateway, `/${given.target.replace(/^\//, "")} ${args}`, false);
  const parsed = parseCommandLine(plain, [...shared, ...(await app.skillCommands())]);
  if (!parsed) return null;
  if ("unknown" in parsed) return { kind: "unknown", name, near: parsed.candidates };
  return { kind: "shared", command: parsed.command, args: parsed.args };
}

export async function runOwn(name: ChatCommandName, args: string, place: CommandPlace): Promise<OwnAnswer> {
  return OWN[name](args, place);
}

function listed(name: string, summary: string, args?: string): SlashCommand {
  return { name, summary, ...(args ? { args } : {}), whileBusy: true, run: async () => ({ type: "text", text: "" }) };
}

/** The list behind /help in a chat. */
export async function chatCommands(gateway: GatewayContext): Promise<SlashCommand[]> {
  const shared = (await gateway.opened.app.commands()).filter((command) => !NOT_IN_CHATS.includes(command.name));
  const own = CHAT_COMMANDS.map(({ name, summary, ...rest }) =>
    listed(name, summary, "args" in rest ? rest.args : undefined),
  );
  const quick = Object.entries(quickCommands(gateway)).flatMap(([name, given]) =>
    given
      ? [
          listed(
            name,
            given.type === "alias" ? `Short for /${given.target.replace(/^\//, "")}` : `Runs ${given.command}`,
          ),
        ]
      : [],
  );
  const names = new Set([...shared, ...own].map((command) => command.name));
  return [...shared, ...own, ...quick.filter((command) => !names.has(command.name))].sort((a, b) =>
    a.name.localeCompare(b.name),
  );
}
