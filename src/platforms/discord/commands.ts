// Registers slash commands in Discord's menu, only when they have changed.
import { createHash } from "node:crypto";
import type { REST } from "discord.js";
import type { PlatformContext } from "../../core/chat/platform.ts";
import { errorMessage } from "../../lib/error-message.ts";

const KEY = "commands";

export interface ListedCommand {
  readonly name: string;
  readonly summary: string;
  readonly args?: string | undefined;
}

/** The default commands. */
export const BASIC_COMMANDS: readonly ListedCommand[] = [
  { name: "new", summary: "Start a new session" },
  { name: "stop", summary: "Interrupt the running turn" },
  { name: "help", summary: "List the commands" },
  { name: "status", summary: "Session, model, tokens" },
];

function toDescription(command: ListedCommand) {
  return {
    name: command.name.toLowerCase(),
    description: command.summary.slice(0, 100) || command.name,
    type: 1,
    ...(command.args
      ? { options: [{ type: 3, name: "args", description: command.args.slice(0, 100), required: false }] }
      : {}),
  };
}

/** A failure is logged and does not stop the bot: commands also work as text. */
export async function syncCommands(
  rest: REST,
  applicationId: string,
  commands: readonly ListedCommand[],
  context: PlatformContext,
): Promise<void> {
  const body = commands
    .filter(({ name }) => /^[\w-]{1,32}$/.test(name))
    .slice(0, 100)
    .map(toDescription);
  const stamp = `${applicationId}:${createHash("sha256").update(JSON.stringify(body)).digest("hex")}`;
  if ((await context.memory.get(KEY)) === stamp) return;
  try {
    await rest.put(`/applications/${applicationId}/commands`, { body });
    await context.memory.set(KEY, stamp);
  } catch (error) {
    const reason = errorMessage(error);
    context.log("warning", `slash commands were not registered: ${reason}`);
  }
}
