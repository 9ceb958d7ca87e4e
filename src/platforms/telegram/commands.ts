// Registers slash commands in Telegram's menu, only when they have changed.
import { createHash } from "node:crypto";
import type { PlatformContext } from "../../core/chat/platform.ts";
import { describeApiError, type TelegramClient } from "./client.ts";

const KEY = "commands";
const MAX_COMMANDS = 100;

export interface MenuCommand {
  readonly name: string;
  readonly summary: string;
}

/** The menu allows lower-case letters, digits and underscores. */
export function buildMenu(commands: readonly MenuCommand[]): { command: string; description: string }[] {
  return commands
    .map(({ name, summary }) => ({
      command: name.toLowerCase().replaceAll("-", "_"),
      description: summary.slice(0, 256) || name,
    }))
    .filter(({ command }) => /^[a-z0-9_]{1,32}$/.test(command))
    .slice(0, MAX_COMMANDS);
}

/** A failure is logged and does not stop the bot: commands also work as text. */
export async function syncMenu(
  client: TelegramClient,
  commands: readonly MenuCommand[],
  context: PlatformContext,
): Promise<void> {
  const menu = buildMenu(commands);
  if (menu.length === 0) return;
  const stamp = createHash("sha256").update(JSON.stringify(menu)).digest("hex");
  try {
    if ((await context.memory.get(KEY)) === stamp) return;
    await (await client.api()).setMyCommands(menu);
    await context.memory.set(KEY, stamp);
  } catch (error) {
    context.log("warning", `Telegram's menu was not updated: ${describeApiError(error).text}`);
  }
}
