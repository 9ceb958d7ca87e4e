// /reload-mcp, and the prompts of MCP servers as slash commands.
import type { CommandAnswer, CommandContext, SlashCommand } from "../core/chat/command.ts";
import type { McpPrompt, McpServerStatus, McpServers } from "../core/mcp.ts";
import { answerErrors, type BuiltinCommand, isTerminal, text, words } from "./builtin-command.ts";
import type { CommandDeps } from "./command-deps.ts";
import { plural } from "./format.ts";

function describe({ name, state, reason, tools, held }: McpServerStatus): string {
  const waiting = held.length > 0 ? `; ${plural(held.length, "tool")} wait for hermes mcp configure ${name}` : "";
  return `${name}: ${state}${reason ? ` (${reason})` : ""}, ${plural(tools.length, "tool")}${waiting}`;
}

/** Asked because the prompt cache of every conversation that gets other tools is lost. */
async function agreed({ settings }: CommandDeps, context: CommandContext): Promise<boolean> {
  if (!settings.config.approvals.mcp_reload_confirm || !isTerminal(context) || !context.human?.present) return true;
  const { choice } = await context.human.approve(
    {
      action: "/reload-mcp: ends the MCP servers and connects again",
      reason: "new sessions may get other tools and start with an empty prompt cache; always: do not ask again",
      intent: "slash:reload-mcp",
      choices: ["once", "always", "deny"],
      toolName: "reload-mcp",
    },
    new AbortController().signal,
  );
  if (choice === "always") await settings.save("approvals.mcp_reload_confirm", false);
  return choice !== "deny";
}

async function reload(deps: CommandDeps, context: CommandContext): Promise<CommandAnswer> {
  if (!(await agreed(deps, context))) return text("Nothing was reloaded.");
  const statuses = await deps.mcp.reload();
  if (statuses.length === 0) return text("No MCP server is configured. Add one: hermes mcp add NAME");
  return text([...statuses.map(describe), "New sessions use them; this one keeps its tools: /new"].join("\n"));
}

export function mcpCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "reload-mcp",
      aliases: ["reload_mcp"],
      group: "Tools and skills",
      summary: "Connect to the MCP servers again",
      ownerOnly: true,
      run: (_, context) => answerErrors(() => reload(deps, context)),
    },
  ];
}

/** `name=value` words, and other words for the arguments that are left, in their order; the last one takes the rest. */
export function promptArguments(prompt: McpPrompt, args: string): { readonly [name: string]: string } | string {
  const values: { [name: string]: string } = {};
  const rest: string[] = [];
  for (const word of words(args)) {
    const [, name = "", value = ""] = /^([\w-]+)=(.*)$/s.exec(word) ?? [];
    if (prompt.arguments.some((each) => each.name === name)) values[name] = value;
    else rest.push(word);
  }
  const open = prompt.arguments.filter(({ name }) => values[name] === undefined);
  for (const [index, { name }] of open.entries()) {
    const taken = index === open.length - 1 ? rest.splice(0) : rest.splice(0, 1);
    if (taken.length > 0) values[name] = taken.join(" ");
  }
  const missing = prompt.arguments.filter(({ name, required }) => required && values[name] === undefined);
  return missing.length > 0 ? `It needs ${missing.map(({ name }) => `${name}=…`).join(" ")}` : values;
}

const commandName = ({ server, name }: McpPrompt): string =>
  `mcp_${server}_${name}`.toLowerCase().replaceAll(/[^a-z0-9_-]+/g, "_");

/** The text of a server is untrusted. */
export function mcpPromptCommands(servers: Pick<McpServers, "prompts" | "prompt">): readonly SlashCommand[] {
  return servers.prompts().map((prompt) => ({
    name: commandName(prompt),
    args: prompt.arguments.map(({ name, required }) => (required ? name : `[${name}]`)).join(" ") || undefined,
    summary: prompt.description || `Prompt ${prompt.name} of ${prompt.server}`,
    ownerOnly: true,
    run: (args) =>
      answerErrors(async () => {
        const values = promptArguments(prompt, args);
        if (typeof values === "string") return text(values);
        const answer = await servers.prompt(prompt.server, prompt.name, values);
        return { type: "send", text: answer, when: "now", prepared: { untrusted: true } };
      }),
  }));
}
