// Every chat platform of the product: one line each, its code imported only when the gateway starts.
import { CHAT_COMMANDS, NOT_IN_CHATS } from "../core/chat-commands.ts";
import type { JsonObject } from "../core/message.ts";
import type { Platform } from "../core/platform.ts";
import type { App } from "./app.ts";

export interface PlatformEntry {
  readonly name: string;
  /** `state` is the gateway's own account of itself. */
  load(app: App, state: () => JsonObject): Promise<Platform>;
}

/** Discord shows the commands in a menu of its own. */
async function loadDiscord(): Promise<Platform> {
  const [{ discordPlatform }, { BASIC_COMMANDS }, { slashCommands }] = await Promise.all([
    import("../platforms/discord/discord.ts"),
    import("../platforms/discord/commands.ts"),
    import("./slash.ts"),
  ]);
  const shared = slashCommands.filter(({ name }) => !NOT_IN_CHATS.includes(name));
  const listed = new Map([...BASIC_COMMANDS, ...shared, ...CHAT_COMMANDS].map((command) => [command.name, command]));
  return discordPlatform([...listed.values()]);
}

export const platformEntries: readonly PlatformEntry[] = [
  { name: "telegram", load: async () => (await import("../platforms/telegram/telegram.ts")).telegramPlatform },
  { name: "discord", load: () => loadDiscord() },
  { name: "email", load: async () => (await import("../platforms/email/email.ts")).emailPlatform },
  { name: "webhook", load: async () => (await import("../platforms/webhook/webhook.ts")).webhookPlatform },
  {
    name: "api_server",
    load: async (app, state) => (await import("./open-server.ts")).openApiServerPlatform(app, state),
  },
];
