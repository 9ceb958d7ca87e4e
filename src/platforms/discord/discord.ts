// Discord: bots over the gateway socket, on discord.js's own transport.
import { setTimeout as sleep } from "node:timers/promises";
import type { WebSocketManager } from "@discordjs/ws";
import type { GatewayDispatchPayload, REST } from "discord.js";
import type { Platform, PlatformConnection, PlatformContext, PlatformHealth } from "../../core/chat/platform.ts";
import { UserError } from "../../core/failure.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { ChannelDirectory } from "./channel-directory.ts";
import { BASIC_COMMANDS, type ListedCommand, syncCommands } from "./commands.ts";
import { Dispatcher } from "./dispatcher.ts";
import { GatewaySession } from "./gateway-session.ts";
import { markAt, Outbound } from "./outbound.ts";
import { describeDiscordError, openRest } from "./rest-client.ts";
import { DISCORD_SETTINGS, readSettings } from "./settings.ts";

/** Intents: guilds, guild messages, direct messages, message content. */
const INTENTS = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);
/** Discord answers a heartbeat every 41 s: without an answer for longer the connection is dead. */
const QUIET_MS = 50_000;
const DEAD_MS = 65_000;
const CHECK_MS = 1_000;
const CLOSE_MS = 3_000;
/** A close code that keeps the session, so that the next start can resume it. */
const RESUMABLE_CLOSE_CODE = 4200;

interface Identity {
  readonly id: string;
  readonly name: string;
  readonly applicationId: string;
}

async function whoAmI(rest: REST): Promise<Identity> {
  try {
    const me = (await rest.get("/users/@me")) as { id: string; username: string };
    const app = (await rest.get("/applications/@me")) as { id: string };
    return { id: me.id, name: me.username, applicationId: app.id };
  } catch (error) {
    const { status, text } = describeDiscordError(error);
    if (status === 401)
      throw new UserError("Discord rejected the bot token", {
        hint: "Copy the token from the Bot page of the developer portal to DISCORD_BOT_TOKEN in ~/.hermes/.env",
      });
    throw new Error(`Discord cannot be reached: ${text}`);
  }
}

/** Close codes for which a reconnect does not help. */
function fatalReason(text: string): UserError | null {
  if (/Authentication failed/i.test(text))
    return new UserError("Discord rejected the bot token", { hint: "Set DISCORD_BOT_TOKEN to a valid token." });
  if (/disallowed intents/i.test(text))
    return new UserError("Discord does not allow this bot to read messages", {
      hint: "Enable Message Content Intent on the Bot page of the developer portal.",
    });
  return null;
}

/** The connection to Discord's gateway: handles events in order and reports its health. */
class GatewaySocket {
  readonly #context: PlatformContext;
  readonly #session: GatewaySession;
  readonly #dispatcher: Dispatcher;
  #manager: WebSocketManager | undefined;
  #work: Promise<void> = Promise.resolve();
  #provenAt: number;
  #problem: string | undefined;
  #broken = false;
  #watch: NodeJS.Timeout | undefined;

  constructor(context: PlatformContext, session: GatewaySession, dispatcher: Dispatcher) {
    this.#context = context;
    this.#session = session;
    this.#dispatcher = dispatcher;
    this.#provenAt = context.now();
  }

  async open(token: string, rest: REST): Promise<void> {
    const { WebSocketManager: Manager, WebSocketShardEvents: Events } = await import("@discordjs/ws");
    const manager = new Manager({
      token,
      rest,
      intents: INTENTS,
      shardCount: 1,
      helloTimeout: 20_000,
      readyTimeout: 20_000,
      handshakeTimeout: 20_000,
      retrieveSessionInfo: () => this.#session.current,
      updateSessionInfo: (_shard, info) => this.#session.update(info),
    });
    this.#manager = manager;
    manager.on(Events.Dispatch, ({ data }) => this.#take(data));
    manager.on(Events.HeartbeatComplete, () => this.#prove());
    manager.on(Events.Closed, ({ code }) => {
      this.#problem = `the connection was closed (${code})`;
    });
    manager.on(Events.Error, ({ error }) => this.#lastError(error));
    await manager.connect();
    this.#prove();
    this.#watch = setInterval(() => this.#checkHeartbeat(), CHECK_MS);
    this.#watch.unref();
  }

  #prove(): void {
    this.#provenAt = this.#context.now();
    this.#problem = undefined;
  }

  #lastError(error: Error): void {
    this.#problem = error.message;
    const fatal = fatalReason(error.message);
    if (fatal) this.#reportLost(fatal.message, true);
  }

  #reportLost(reason: string, fatal = false): void {
    if (this.#broken) return;
    this.#broken = true;
    this.#context.lost(reason, { fatal });
  }

  #checkHeartbeat(): void {
    if (this.#context.now() - this.#provenAt > DEAD_MS) this.#reportLost("no heartbeat was answered");
  }

  /** In order. When an event cannot be stored, later ones are not handled either, so that Discord repeats them all. */
  #take(payload: GatewayDispatchPayload): void {
    this.#prove();
    this.#work = this.#work.then(async () => {
      if (this.#broken) return;
      try {
        const stored = await this.#dispatcher.handle(payload);
        await this.#session.handled(payload.s, stored);
      } catch (error) {
        this.#reportLost(`an event could not be stored: ${errorMessage(error)}`);
      }
    });
  }

  health(): PlatformHealth {
    const quiet = this.#context.now() - this.#provenAt;
    const reason = this.#problem ?? (quiet > QUIET_MS ? "no heartbeat was answered" : undefined);
    const state = this.#broken || quiet > DEAD_MS ? "red" : reason ? "degraded" : "ok";
    return { state, provenAt: this.#provenAt, reason };
  }

  async close(): Promise<void> {
    clearInterval(this.#watch);
    const timeout = () => sleep(CLOSE_MS, undefined, { ref: false });
    // Unfinished events are requested again after the next start.
    await Promise.race([this.#work, timeout()]);
    await this.#session.close();
    const left = Promise.resolve(this.#manager?.destroy({ code: RESUMABLE_CLOSE_CODE, reason: "the gateway stops" }));
    // A dead connection does not answer the close frame.
    await Promise.race([left.catch(() => undefined), timeout()]);
  }
}

async function connect(commands: readonly ListedCommand[], context: PlatformContext): Promise<PlatformConnection> {
  const settings = readSettings(context);
  const rest = await openRest(settings.token, settings.apiRoot);
  const bot = await whoAmI(rest);
  const repository = new ChannelDirectory(rest, context.homePath);
  const session = new GatewaySession(context);
  await session.load();
  const socket = new GatewaySocket(context, session, new Dispatcher({ rest, repository, bot, settings, context }));
  try {
    await socket.open(settings.token, rest);
  } catch (error) {
    await socket.close();
    const text = errorMessage(error);
    throw fatalReason(text) ?? new Error(`Discord cannot be reached: ${text}`);
  }
  if (settings.syncCommands) await syncCommands(rest, bot.applicationId, commands, context);
  const out = new Outbound({ rest, repository, settings, bot });
  let closing: Promise<void> | undefined;
  return {
    account: bot.id,
    accountName: bot.name,
    send: (to, message, signal) => out.send(to, message, signal),
    edit: (to, id, message, signal) => out.edit(to, id, message, signal),
    delete: (to, id, signal) => out.delete(to, id, signal),
    sendFile: (to, file, signal) => out.sendFile(to, file, signal),
    typing: (to) => out.typing(to),
    react: (to, id, mood) => out.react(to, id, mood),
    answerPress: async (press, text) => {
      if (!text || !press.pressId) return;
      const body = { content: text, flags: 64 };
      await rest.post(`/webhooks/${bot.applicationId}/${press.pressId}`, { body, auth: false }).catch(() => undefined);
    },
    download: (attachment, signal) => out.download(attachment, signal),
    channels: () => repository.all(),
    mark: () => markAt(context.now()),
    findSent: (unknown, signal) => out.findSent(unknown, signal),
    health: () => socket.health(),
    close: () => {
      closing ??= socket.close();
      return closing;
    },
  };
}

/** Sends by REST, without the socket of the gateway. */
async function openSender(context: PlatformContext): Promise<PlatformConnection> {
  const settings = readSettings(context);
  const rest = await openRest(settings.token, settings.apiRoot);
  const bot = await whoAmI(rest);
  const repository = new ChannelDirectory(rest, context.homePath);
  const out = new Outbound({ rest, repository, settings, bot });
  return {
    account: bot.id,
    accountName: bot.name,
    send: (to, message, signal) => out.send(to, message, signal),
    sendFile: (to, file, signal) => out.sendFile(to, file, signal),
    channels: () => repository.all(),
    mark: () => markAt(context.now()),
    findSent: (unknown, signal) => out.findSent(unknown, signal),
    health: () => ({ state: "ok", provenAt: context.now() }),
    close: async () => undefined,
  };
}

/** `commands` are shown in Discord's menu. */
export function discordPlatform(commands: readonly ListedCommand[] = BASIC_COMMANDS): Platform {
  return {
    name: "discord",
    label: "Discord",
    maxLength: 2000,
    lengthUnit: "utf16",
    capabilities: {
      edit: true,
      delete: true,
      buttons: true,
      threads: true,
      typing: true,
      reactions: true,
      media: ["image", "video", "audio", "voice", "document"],
    },
    promptHint:
      "You are answering on Discord. Bold, italic, lists, quotes, code blocks and headings are shown; tables are not: use lists. To send a file, put MEDIA:/absolute/path on a line of its own.",
    settings: DISCORD_SETTINGS,
    toolProgress: "all",
    rate: { perChat: 1, total: 40 },
    enabled: (context) => {
      const token = context.setting("DISCORD_BOT_TOKEN") ?? "";
      if (token === "") return { ok: false, reason: "DISCORD_BOT_TOKEN is not set" };
      if (!/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token))
        return { ok: false, reason: "DISCORD_BOT_TOKEN does not look like a bot token" };
      return { ok: true };
    },
    connect: (context) => connect(commands, context),
    openSender,
  };
}
