// Every chat platform of the product: one line each, its code imported only when the gateway starts.
import { CHAT_COMMANDS, type ChatCommand, NOT_IN_CHATS } from "../commands/chat-only.ts";
import type { JsonObject } from "../core/message.ts";
import type { Platform } from "../core/platform.ts";
import type { App } from "./app.ts";

export interface PlatformEntry {
  readonly name: string;
  /** `state` is the gateway's own account of itself. */
  load(app: App, state: () => JsonObject): Promise<Platform>;
}

/** Telegram and Discord show the commands in menus of their own. */
async function menuCommands(): Promise<readonly ChatCommand[]> {
  const { slashCommands } = await import("./slash.ts");
  const shared: readonly ChatCommand[] = slashCommands.filter(({ name }) => !NOT_IN_CHATS.includes(name));
  const listed = new Map([...shared, ...CHAT_COMMANDS].map((command) => [command.name, command]));
  return [...listed.values()];
}

async function loadDiscord(): Promise<Platform> {
  return (await import("../platforms/discord/discord.ts")).discordPlatform(await menuCommands());
}

async function loadTelegram(): Promise<Platform> {
  return (await import("../platforms/telegram/telegram.ts")).telegramWithMenu(await menuCommands());
}

/** Every platform of this home: the product's own, then those that plugins bring. */
export async function allPlatforms(app: App, state: () => JsonObject = () => ({})): Promise<readonly Platform[]> {
  const own = platformEntries.map((entry) => entry.load(app, state));
  return [...(await Promise.all(own)), ...(await app.pluginPlatforms())];
}

export const platformEntries: readonly PlatformEntry[] = [
  { name: "telegram", load: () => loadTelegram() },
  { name: "discord", load: () => loadDiscord() },
  { name: "email", load: async () => (await import("../platforms/email/email.ts")).emailPlatform },
  { name: "webhook", load: async () => (await import("../platforms/webhook/webhook.ts")).webhookPlatform },
  {
    name: "api_server",
    load: async (app, state) => (await import("./open-server.ts")).openApiServerPlatform(app, state),
  },
];
