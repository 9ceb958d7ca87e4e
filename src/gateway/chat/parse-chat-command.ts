// Finds the slash command that a chat message calls, and lists the commands of a chat.
import type { OpenedGateway } from "../../app/open-gateway.ts";
import { parseCommandLine, type SlashCommand } from "../../core/chat/command.ts";

export type ParsedCommand =
  | { readonly command: SlashCommand; readonly args: string }
  | { readonly unknown: string; readonly candidates: readonly string[] };

/** Phones replace `--` by a dash. */
function undash(args: string): string {
  return args.replaceAll("—", "--").replaceAll("–", "-");
}

function hasName(name: string): (command: SlashCommand) => boolean {
  return (command) => command.name === name || (command.aliases?.includes(name) ?? false);
}

type Commands = Pick<OpenedGateway, "app" | "quickCommands">;

/** Null when the text is not a command, for example a path such as `/etc/hosts`. */
export async function parseChatCommand(
  from: Commands,
  line: string,
  expandAliases = true,
): Promise<ParsedCommand | null> {
  const { app, quickCommands } = from;
  const match = /^\/([A-Za-z][\w-]*)(?:@\w+)?(?:\s+([\s\S]*))?$/.exec(line.trim());
  if (!match) return null;
  const name = (match[1] ?? "").toLowerCase();
  const args = undash((match[2] ?? "").trim());
  const commands = await app.commands("chat");
  const exact = commands.find(hasName(name));
  if (exact) return { command: exact, args };
  // Telegram's menu has no hyphens.
  const hyphenated = name.replaceAll("_", "-");
  if (expandAliases) {
    const quick = await quickCommands();
    const command = quick.commands.find(hasName(name)) ?? quick.commands.find(hasName(hyphenated));
    if (command) return { command, args };
    const alias = quick.aliases.find((each) => each.name === name || each.name === hyphenated);
    // An alias of an alias is not expanded: it could be endless.
    if (alias) return parseChatCommand(from, `/${alias.target} ${args}`, false);
  }
  // Commands of the chat itself take no prefixes: /res means /resume, not /restart.
  const byPrefix = commands.filter((command) => !command.runInChat);
  const parsed = parseCommandLine(`/${hyphenated} ${args}`.trim(), [...byPrefix, ...(await app.skillCommands())]);
  return parsed && "unknown" in parsed ? { ...parsed, unknown: name } : parsed;
}

/** The commands for /help in a chat. */
export async function chatCommands({ app, quickCommands }: Commands): Promise<readonly SlashCommand[]> {
  const [builtin, quick] = await Promise.all([app.commands("chat"), quickCommands()]);
  const aliases = quick.aliases.map(
    ({ name, target }): SlashCommand => ({
      name,
      summary: `Short for /${target}`,
      run: async () => ({ type: "text", text: `/${target}` }),
    }),
  );
  const names = new Set(builtin.map((command) => command.name));
  const configured = [...quick.commands, ...aliases].filter((command) => !names.has(command.name));
  return [...builtin, ...configured].sort((a, b) => a.name.localeCompare(b.name));
}
