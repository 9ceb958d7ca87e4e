// /tools, /toolsets and /plugins: what the agent can use, and switching it on and off.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { answerErrors, type BuiltinCommand, columns, text, words } from "./builtin-command.ts";
import type { CommandDeps, ToolsetState } from "./command-deps.ts";
import { rows } from "./format.ts";

const LATER = "It takes effect in the next session: /new";

/** `✓` usable, `⌕` found by search, `!` something is missing, `·` off. */
function mark(tool: ToolsetState["tools"][number]): string {
  if (!tool.on) return "·";
  if (tool.searched && tool.reason === null) return "⌕";
  return tool.reason === null ? "✓" : "!";
}

function toolsetDetail(set: ToolsetState): string {
  return [
    set.description,
    ...set.tools.map((tool) => `${mark(tool)} ${tool.name}${tool.reason ? `: ${tool.reason}` : ""}`),
  ].join("\n");
}

async function offerTools(deps: CommandDeps, { source }: CommandContext): Promise<CommandAnswer> {
  const sets = (await deps.tools.list(source)).filter((set) => !set.fixed);
  const before = sets.filter((set) => set.on !== "no").map((set) => set.name);
  return {
    type: "choose",
    title: "Toolsets (from the next session on)",
    choices: sets.map((set) => ({
      label: set.name,
      value: set.name,
      description: set.description,
      detail: toolsetDetail(set),
      current: set.on !== "no",
    })),
    multiple: {
      args: (chosen) => {
        const on = chosen.filter((name) => !before.includes(name)).map((name) => `+${name}`);
        const off = before.filter((name) => !chosen.includes(name)).map((name) => `-${name}`);
        return ["switch", ...on, ...off].join(" ");
      },
    },
  };
}

async function switchTools(
  deps: CommandDeps,
  args: readonly string[],
  { source }: CommandContext,
): Promise<CommandAnswer> {
  const on = args.filter((word) => word.startsWith("+")).map((word) => word.slice(1));
  const off = args.filter((word) => word.startsWith("-")).map((word) => word.slice(1));
  if (on.length + off.length === 0) return text("Nothing was changed.");
  const notes = await deps.tools.switch(source, { on, off });
  const changes = [
    on.length > 0 ? `On: ${on.join(", ")}` : "",
    off.length > 0 ? `Off: ${off.join(", ")}` : "",
    ...notes,
    LATER,
  ];
  return text(changes.filter((line) => line !== "").join("\n"));
}

async function tools(deps: CommandDeps, args: string, context: CommandContext): Promise<CommandAnswer> {
  const [verb = "", ...names] = words(args);
  if (verb === "") return offerTools(deps, context);
  if (verb === "list") return toolsets(deps, context);
  if (verb === "switch") return switchTools(deps, names, context);
  if (verb !== "enable" && verb !== "disable")
    return text("Usage: /tools, /tools list, /tools enable NAME, /tools disable NAME");
  if (names.length === 0) return text(`${verb} which toolset? See /tools list`);
  return switchTools(
    deps,
    names.map((name) => `${verb === "enable" ? "+" : "-"}${name}`),
    context,
  );
}

async function toolsets(deps: CommandDeps, { source, width }: CommandContext): Promise<CommandAnswer> {
  const sets = await deps.tools.list(source);
  const line = (set: ToolsetState) => {
    const state = set.fixed ? "always on" : set.on === "no" ? "off" : set.on === "partly" ? "partly on" : "on";
    const missing = set.tools.flatMap((tool) => (tool.on && tool.reason ? [`${tool.name}: ${tool.reason}`] : []));
    return [state, set.tools.map((tool) => `${mark(tool)} ${tool.name}`).join(" "), ...missing].join("; ");
  };
  return columns(
    rows(
      sets.map((set) => [set.name, line(set)] as const),
      width,
    ),
  );
}

async function plugins(deps: CommandDeps, args: string, { width }: CommandContext): Promise<CommandAnswer> {
  const [verb = "", name = ""] = words(args);
  if (verb === "enable" || verb === "disable") {
    if (name === "") return text(`${verb} which plugin? See /plugins`);
    return text(`${await deps.plugins.setEnabled(name, verb === "enable")} It takes effect at the next start.`);
  }
  if (verb !== "" && verb !== "list") return text("Usage: /plugins, /plugins enable NAME, /plugins disable NAME");
  const found = await deps.plugins.list();
  if (found.length === 0) return text("There are no plugins. Install one: hermes plugins install");
  if (verb === "list" || width === undefined)
    return columns(
      rows(
        found.map((each) => [each.name, [each.status, each.description, ...each.remarks].join("; ")] as const),
        width,
      ),
    );
  return {
    type: "choose",
    title: "Plugins (Enter enables)",
    choices: found.map((each) => ({
      label: each.name,
      value: `enable ${each.name}`,
      description: `${each.status}: ${each.description}`,
      detail: [`${each.name} ${each.version}`, each.description, ...each.remarks].join("\n"),
      current: !["disabled", "not enabled"].includes(each.status),
    })),
    actions: [{ key: "d", label: "disable", args: (value) => value.replace("enable", "disable") }],
  };
}

export function toolCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  const shared = { group: "Tools and skills", surface: "terminal", whileBusy: true, ownerOnly: true } as const;
  return [
    {
      ...shared,
      name: "tools",
      args: "[list|enable NAME|disable NAME]",
      summary: "Switch toolsets on and off",
      run: (args, context) => answerErrors(() => tools(deps, args, context)),
    },
    {
      ...shared,
      name: "toolsets",
      summary: "Toolsets with their tools, and what is missing",
      run: (_, context) => answerErrors(() => toolsets(deps, context)),
    },
    {
      ...shared,
      name: "plugins",
      args: "[list|enable NAME|disable NAME]",
      summary: "Plugins of this home",
      run: (args, context) => answerErrors(() => plugins(deps, args, context)),
    },
  ];
}
