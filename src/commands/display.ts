// Slash commands about the display: skin, busy, verbose, footer, statusbar, indicator, details, timestamps, redraw.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { answerErrors, type BuiltinCommand, isTerminal, text } from "./builtin-command.ts";
import type { CommandDeps, LiveSettings } from "./command-deps.ts";

const PROGRESS = ["off", "new", "all", "verbose"] as const;

/** Saves a setting of `display` and shows it at once. */
async function change(
  settings: LiveSettings,
  key: string,
  value: string | boolean,
  answer: string,
): Promise<CommandAnswer> {
  await settings.save(`display.${key}`, value);
  return { type: "terminal", request: { kind: "display", changes: { [key]: value }, text: answer } };
}

interface ListedSetting {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly key: "skin" | "busy_input_mode" | "tui_status_indicator" | "details_mode";
  readonly summary: string;
  readonly title: string;
  readonly values: readonly (readonly [value: string, description: string])[];
}

/** A command that sets one of a list of values. */
function listed(deps: CommandDeps, setting: ListedSetting): BuiltinCommand {
  const { settings } = deps;
  const choices = () => {
    const now = settings.config.display[setting.key];
    return setting.values.map(([value, description]) => ({ label: value, value, description, current: value === now }));
  };
  return {
    name: setting.name,
    aliases: setting.aliases,
    group: "Display",
    args: `[${setting.values.map(([value]) => value).join("|")}]`,
    surface: "terminal",
    summary: setting.summary,
    whileBusy: true,
    ownerOnly: true,
    run: (args) =>
      answerErrors(async () => {
        const wanted = args.toLowerCase();
        const now = String(settings.config.display[setting.key]);
        if (wanted === "") return { type: "choose", title: `${setting.title}: ${now}`, choices: choices() };
        if (wanted === "status") return text(`${setting.title}: ${now}`);
        const value =
          setting.values.find(([each]) => each === wanted)?.[0] ?? (setting.key === "skin" ? args : undefined);
        if (value === undefined) return text(`Use one of: ${setting.values.map(([each]) => each).join(", ")}`);
        return change(settings, setting.key, value, `${setting.title}: ${value}`);
      }),
    complete: async () => choices(),
  };
}

const SKINS = ["default", "ares", "mono", "slate", "daylight", "warm-lightmode", "poseidon", "sisyphus", "charizard"];

async function verbose({ settings }: CommandDeps, args: string, context: CommandContext): Promise<CommandAnswer> {
  const { display } = settings.config;
  const named = display.platforms as {
    readonly [name: string]: { readonly tool_progress?: string | undefined } | undefined;
  };
  const now = isTerminal(context)
    ? display.tool_progress
    : (named[context.source]?.tool_progress ?? display.tool_progress);
  const next = args === "" ? PROGRESS[(PROGRESS.indexOf(now as "all") + 1) % PROGRESS.length] : args.toLowerCase();
  const wanted = PROGRESS.find((mode) => mode === next);
  if (!wanted) return text(`Use one of: ${PROGRESS.join(", ")}`);
  const answer = `Tool calls shown: ${wanted} (${PROGRESS.join(" → ")}).`;
  if (isTerminal(context)) return change(settings, "tool_progress", wanted, answer);
  await settings.save(`display.platforms.${context.source}.tool_progress`, wanted);
  return text(answer);
}

async function footer({ settings }: CommandDeps, args: string): Promise<CommandAnswer> {
  const now = settings.config.display.runtime_footer.enabled;
  const wanted = args.toLowerCase();
  if (wanted === "status") return text(`The footer of replies in chats is ${now ? "on" : "off"}.`);
  if (!["", "on", "off"].includes(wanted)) return text("Usage: /footer on, off or status");
  const on = wanted === "" ? !now : wanted === "on";
  await settings.save("display.runtime_footer.enabled", on);
  return text(`The footer of replies in chats is ${on ? "on" : "off"}.`);
}

async function statusBar({ settings }: CommandDeps, args: string): Promise<CommandAnswer> {
  const now = settings.config.display.tui_statusbar;
  const isOff = now === "off" || now === false;
  const wanted = args.toLowerCase() || (isOff ? "bottom" : "off");
  const place = wanted === "on" ? "bottom" : wanted;
  if (wanted === "status") return text(`Status bar: ${isOff ? "off" : String(now)}`);
  if (!["top", "bottom", "off"].includes(place)) return text("Usage: /statusbar on, off, top, bottom or status");
  return change(settings, "tui_statusbar", place, `Status bar: ${place}`);
}

async function timestamps({ settings }: CommandDeps, args: string): Promise<CommandAnswer> {
  const wanted = args.toLowerCase();
  if (!["", "on", "off"].includes(wanted)) return text("Usage: /timestamps on or off");
  const on = wanted === "" ? !settings.config.display.timestamps : wanted === "on";
  return change(settings, "timestamps", on, `Times beside messages: ${on ? "on" : "off"}`);
}

function listedSettings(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    listed(deps, {
      name: "skin",
      key: "skin",
      title: "Skin",
      summary: "Colours of the terminal",
      values: SKINS.map((name) => [name, ""] as const),
    }),
    listed(deps, {
      name: "busy",
      key: "busy_input_mode",
      title: "A message during a turn",
      summary: "What a message does while the agent works",
      values: [
        ["interrupt", "Stops the turn and comes next"],
        ["queue", "Waits for the end of the turn"],
        ["steer", "Reaches the agent with the next tool result"],
      ],
    }),
    listed(deps, {
      name: "indicator",
      key: "tui_status_indicator",
      title: "Busy indicator",
      summary: "Style of the busy indicator",
      values: [
        ["kaomoji", "(◕‿◕)"],
        ["emoji", "⏳"],
        ["unicode", "⠋"],
        ["ascii", "|/-\\"],
      ],
    }),
    listed(deps, {
      name: "details",
      aliases: ["detail"],
      key: "details_mode",
      title: "Tool details",
      summary: "How much of tool calls is shown at first",
      values: [
        ["hidden", "Nothing"],
        ["collapsed", "One line"],
        ["expanded", "Everything"],
      ],
    }),
  ];
}

export function displayCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  const inTerminal = { group: "Display", surface: "terminal", whileBusy: true, ownerOnly: true } as const;
  return [
    ...listedSettings(deps),
    {
      ...inTerminal,
      name: "statusbar",
      aliases: ["sb"],
      args: "[on|off|top|bottom|status]",
      summary: "Show or hide the status bar",
      run: (args) => answerErrors(() => statusBar(deps, args)),
    },
    {
      ...inTerminal,
      name: "timestamps",
      args: "[on|off]",
      summary: "Show the time beside messages",
      run: (args) => answerErrors(() => timestamps(deps, args)),
    },
    {
      ...inTerminal,
      name: "redraw",
      summary: "Draw the screen again",
      run: async () => ({ type: "terminal", request: { kind: "redraw" } }),
    },
    {
      name: "verbose",
      group: "Display",
      args: "[off|new|all|verbose]",
      summary: "How many tool calls are shown",
      whileBusy: true,
      ownerOnly: true,
      // In chats it is offered when the owner wants it there.
      isOffered: (surface) => surface === "terminal" || deps.settings.config.display.tool_progress_command,
      run: (args, context) => answerErrors(() => verbose(deps, args, context)),
    },
    {
      name: "footer",
      group: "Display",
      args: "[on|off|status]",
      summary: "Footer of replies in chats",
      whileBusy: true,
      ownerOnly: true,
      run: (args) => answerErrors(() => footer(deps, args)),
    },
  ];
}
