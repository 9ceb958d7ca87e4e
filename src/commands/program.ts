// Slash commands about the program: config, profile, reload, debug, platforms, quit.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { answerErrors, type BuiltinCommand, columns, text } from "./builtin-command.ts";
import type { CommandDeps } from "./command-deps.ts";
import { rows } from "./format.ts";

/** What differs from the defaults; `/config WORDS` finds any setting. */
async function config({ settings }: CommandDeps, args: string, { width }: CommandContext): Promise<CommandAnswer> {
  const wanted = args.toLowerCase();
  const all = await settings.rows();
  const shown = all.filter((row) => (wanted === "" ? row.from !== "default" : row.path.toLowerCase().includes(wanted)));
  if (shown.length === 0)
    return text(wanted === "" ? `Every setting has its default. ${settings.path}` : `No setting matches "${args}".`);
  const list = shown.map(
    (row) => [row.path, `${JSON.stringify(row.value)}${row.from === "environment" ? " (environment)" : ""}`] as const,
  );
  const more = wanted === "" ? "Find any setting: /config WORDS. Change one: hermes config set KEY VALUE" : "";
  return columns([settings.path, rows(list, width), more].filter((line) => line !== "").join("\n"));
}

function profile({ home }: CommandDeps): CommandAnswer {
  return columns(
    rows([
      ["Profile", home.profile],
      ["Home", home.path],
      ["Folder", home.cwd],
    ]),
  );
}

async function debug(deps: CommandDeps, context: CommandContext): Promise<CommandAnswer> {
  const { opened, conversation, store } = context;
  const session = await store.getSession(conversation.sessionId);
  const facts: [string, string][] = [
    ["Version", `${deps.version}, Node ${process.version}, ${process.platform} ${process.arch}`],
    ["Home", `${deps.home.path} (${deps.home.profile})`],
    ["Model", `${opened.identity.model} (${opened.identity.provider}, ${opened.identity.transport})`],
    ["Window", String(opened.contextLength)],
    ["Session", `${conversation.sessionId}, ${session?.message_count ?? 0} messages`],
    ["Memory", `${Math.round(process.memoryUsage().rss / 1_048_576)} MB, up ${Math.round(process.uptime())} s`],
    ["Notices", opened.notices.join("; ") || "none"],
  ];
  return columns(deps.redact(`${rows(facts)}\nA report with logs, written to a file: hermes debug share --local`));
}

export function programCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  const inTerminal = { group: "Program", surface: "terminal", whileBusy: true, ownerOnly: true } as const;
  return [
    {
      ...inTerminal,
      name: "config",
      args: "[words]",
      summary: "Settings that differ from the defaults",
      run: (args, context) => answerErrors(() => config(deps, args, context)),
    },
    {
      name: "profile",
      group: "Program",
      summary: "Profile and home of this agent",
      whileBusy: true,
      ownerOnly: true,
      run: async () => profile(deps),
    },
    {
      ...inTerminal,
      name: "reload",
      summary: "Read .env again",
      run: async () =>
        text(
          (await deps.reloadEnv())
            ? "Keys and variables were read again; /model tests the model."
            : "Nothing has changed in .env.",
        ),
    },
    {
      name: "debug",
      group: "Program",
      summary: "Facts for a report of a problem",
      whileBusy: true,
      ownerOnly: true,
      run: (_, context) => debug(deps, context),
    },
    {
      ...inTerminal,
      name: "platforms",
      aliases: ["gateway"],
      summary: "State of the chat platforms",
      run: async () => text((await deps.platforms()).join("\n")),
    },
    {
      ...inTerminal,
      name: "quit",
      aliases: ["exit"],
      summary: "Leave",
      ownerOnly: false,
      run: async () => ({ type: "quit" }),
    },
  ];
}
