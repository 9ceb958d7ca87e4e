// Slash commands in chats: those of every surface, and those that only make sense in a chat.
import type { CommandAnswer, SlashCommand } from "../core/command.ts";
import { parseCommandLine } from "../core/command.ts";
import type { ApprovalChoice } from "../core/human.ts";
import type { InboxRow } from "../core/mailbox.ts";
import type { Office } from "./office.ts";
import type { Prompts } from "./prompts.ts";

/** Commands of the terminal that mean nothing in a chat. */
const NOT_HERE = ["quit"];

export interface CommandPlace {
  readonly office: Office;
  readonly row: InboxRow;
  readonly key: string;
  readonly prompts: Prompts;
  readonly busy: boolean;
}

export type Parsed =
  | { readonly kind: "own"; readonly name: string; readonly args: string }
  | { readonly kind: "shared"; readonly command: SlashCommand; readonly args: string }
  | { readonly kind: "unknown"; readonly name: string; readonly near: readonly string[] };

type Own = (args: string, place: CommandPlace) => Promise<string> | string;

function text(lines: readonly string[]): string {
  return lines.join("\n");
}

const approve: Own = (args, { prompts }) => {
  const words = args.toLowerCase().split(/\s+/);
  const choice: ApprovalChoice = words.includes("always") ? "always" : words.includes("session") ? "session" : "once";
  const count = prompts.decide(choice, words.includes("all"));
  return count === 0 ? "Nothing waits for approval." : `Approved${count > 1 ? ` (${count})` : ""}.`;
};

const deny: Own = (args, { prompts }) => {
  const count = prompts.decide("deny", args.toLowerCase().includes("all"));
  return count === 0 ? "Nothing waits for approval." : `Denied${count > 1 ? ` (${count})` : ""}.`;
};

const whoami: Own = (_, { office, row, key }) => {
  const { source } = row.event;
  return text([
    `You are ${source.userName ?? "somebody"} (${source.userId ?? "no id"}) on ${source.platform}.`,
    `Chat ${source.chatId}${source.threadId ? `, thread ${source.threadId}` : ""} (${source.chatKind}).`,
    office.isOwner(source)
      ? "Memory and sessions are the home's own."
      : "Memory, sessions and search here are yours alone.",
    `Session key ${key}`,
  ]);
};

export function homeVariable(office: Office, platform: string): string {
  return office.platform(platform)?.homeVariable ?? `${platform.toUpperCase()}_HOME_CHANNEL`;
}

const sethome: Own = async (_, { office, row }) => {
  const { source } = row.event;
  await office.opened.setHomeChannel(homeVariable(office, source.platform), {
    chatId: source.chatId,
    ...(source.threadId ? { threadId: source.threadId } : {}),
    ...(source.chatName ? { name: source.chatName } : {}),
  });
  return "This chat is now the home channel: scheduled results and notices come here.";
};

const restart: Own = (_, { office }) => {
  office.restart();
  return "The gateway restarts when the running turns are done.";
};

const platform: Own = (_, { office }) => text(office.platformLines());

const OWN: { readonly [name: string]: { readonly run: Own; readonly summary: string; readonly admin?: boolean } } = {
  approve: { run: approve, summary: "Allow what waits for approval: /approve [all] [session|always]" },
  deny: { run: deny, summary: "Refuse what waits for approval: /deny [all]" },
  whoami: { run: whoami, summary: "Who you are for the gateway" },
  sethome: { run: sethome, summary: "Make this chat the home channel" },
  restart: { run: restart, summary: "Restart the gateway", admin: true },
  platform: { run: platform, summary: "State of the chat platforms" },
};
const ALIASES: { readonly [name: string]: string } = {
  "set-home": "sethome",
  set_home: "sethome",
  platforms: "platform",
};

/** A phone turns `--` into a dash. */
function undash(args: string): string {
  return args.replaceAll("—", "--").replaceAll("–", "-");
}

/** Null when the text is no command: also a path such as `/etc/hosts`. */
export async function parseChatCommand(office: Office, line: string): Promise<Parsed | null> {
  const match = /^\/([A-Za-z][\w-]*)(?:@\w+)?(?:\s+([\s\S]*))?$/.exec(line.trim());
  if (!match) return null;
  const name = (match[1] ?? "").toLowerCase();
  const args = undash((match[2] ?? "").trim());
  const own = ALIASES[name] ?? name;
  if (own in OWN) return { kind: "own", name: own, args };
  const { app } = office.opened;
  const plain = `/${name.replaceAll("_", "-")} ${args}`.trim();
  const shared = (await app.commands()).filter((command) => !NOT_HERE.includes(command.name));
  const exact = shared.find((command) => [command.name, ...(command.aliases ?? [])].includes(name));
  if (exact) return { kind: "shared", command: exact, args };
  const parsed = parseCommandLine(plain, [...shared, ...(await app.skillCommands())]);
  if (!parsed) return null;
  if ("unknown" in parsed) return { kind: "unknown", name, near: parsed.candidates };
  return { kind: "shared", command: parsed.command, args: parsed.args };
}

export async function runOwn(name: string, args: string, place: CommandPlace): Promise<string> {
  return (await OWN[name]?.run(args, place)) ?? "";
}

/** The list behind /help in a chat. */
export function ownCommands(): SlashCommand[] {
  return Object.entries(OWN).map(([name, { summary }]) => ({
    name,
    summary,
    whileBusy: true,
    run: async (): Promise<CommandAnswer> => ({ type: "text", text: "" }),
  }));
}
