// Telegram: bots on grammY, by long poll or webhook.
import { setTimeout as sleep } from "node:timers/promises";
import type { Platform, PlatformConnection, PlatformContext } from "../../core/chat/platform.ts";
import { UserError } from "../../core/failure.ts";
import { describeApiError, TelegramClient } from "./client.ts";
import { type MenuCommand, syncMenu } from "./commands.ts";
import { TelegramConnection } from "./connection.ts";
import { HealthMonitor } from "./health-monitor.ts";
import { pollUntilAborted, UPDATE_KINDS } from "./poll.ts";
import { readSettings, TELEGRAM_SETTINGS, type TelegramSettings } from "./settings.ts";
import { startWebhookServer } from "./webhook.ts";

async function whoAmI(client: TelegramClient): Promise<{ id: number; username: string }> {
  try {
    const me = await (await client.api()).getMe();
    return { id: me.id, username: me.username };
  } catch (error) {
    const failure = describeApiError(error);
    if (failure.code === 401 || failure.code === 404)
      throw new UserError("Telegram rejected the bot token", {
        hint: "Get a token from @BotFather and set TELEGRAM_BOT_TOKEN in ~/.hermes/.env",
      });
    throw new Error(`Telegram cannot be reached: ${failure.text}`);
  }
}

interface Running {
  readonly client: TelegramClient;
  readonly settings: TelegramSettings;
  readonly context: PlatformContext;
  readonly monitor: HealthMonitor;
  connection: TelegramConnection;
}

async function startPolling(running: Running, signal: AbortSignal): Promise<() => Promise<void>> {
  const { client, settings, context, monitor, connection } = running;
  await (await client.api()).deleteWebhook();
  const work = pollUntilAborted(
    { client, settings, context, monitor, take: (updates) => connection.take(updates) },
    signal,
  );
  return () => work;
}

/** Asks Telegram whether its deliveries arrive. */
async function checkWebhook(running: Running, url: string): Promise<void> {
  const { client, context, monitor, settings } = running;
  try {
    const info = await (await client.api()).getWebhookInfo();
    const failing = (info.last_error_date ?? 0) * 1000 > context.now() - 2_000 * settings.webhookCheckSeconds;
    if (info.url !== url) monitor.miss("the webhook points elsewhere");
    else if (failing && info.pending_update_count > 0)
      monitor.miss(`deliveries fail: ${info.last_error_message ?? ""}`);
    else monitor.beat(context.now());
  } catch (error) {
    monitor.miss(describeApiError(error).text);
    client.rebuild();
  }
}

async function startWebhook(running: Running, signal: AbortSignal): Promise<() => Promise<void>> {
  const { client, settings, connection, monitor, context } = running;
  const { webhook } = settings;
  if (!webhook) return async () => undefined;
  const server = await startWebhookServer({
    ...webhook,
    take: async (update) => {
      await connection.take([update]);
      monitor.beat(context.now());
    },
  });
  try {
    const api = await client.api();
    await api.setWebhook(webhook.url, { secret_token: webhook.secret, allowed_updates: UPDATE_KINDS });
  } catch (error) {
    await server.close();
    throw new Error(`Telegram refused the webhook: ${describeApiError(error).text}`);
  }
  const watch = async () => {
    while (!signal.aborted) {
      await checkWebhook(running, webhook.url);
      await sleep(settings.webhookCheckSeconds * 1000, undefined, { signal }).catch(() => undefined);
    }
  };
  const watching = watch();
  return async () => {
    await server.close();
    await watching;
  };
}

async function connect(commands: readonly MenuCommand[], context: PlatformContext): Promise<PlatformConnection> {
  const settings = readSettings(context);
  const client = new TelegramClient(settings.token, settings.apiRoot);
  const bot = await whoAmI(client);
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, context.signal]);
  const quietMs =
    (settings.webhook ? 1.5 * settings.webhookCheckSeconds : settings.pollSeconds + settings.graceSeconds) * 1000;
  const monitor = new HealthMonitor(() => context.now(), quietMs, Math.max(settings.redSeconds * 1000, quietMs));
  monitor.beat(context.now());
  let halt: () => Promise<void> = async () => undefined;
  const stop = async () => {
    stopping.abort();
    await halt();
  };
  const connection = new TelegramConnection({ client, bot, settings, context, monitor, stop });
  await connection.remember();
  connection.learn((await context.newest?.()) ?? []);
  await connection.saveHighest();
  const running: Running = { client, settings, context, monitor, connection };
  halt = settings.webhook ? await startWebhook(running, signal) : await startPolling(running, signal);
  void syncMenu(client, commands, context);
  return connection;
}

/** Signs in for sending only; the gateway receives. */
async function openSender(context: PlatformContext): Promise<PlatformConnection> {
  const settings = readSettings(context);
  const client = new TelegramClient(settings.token, settings.apiRoot);
  const bot = await whoAmI(client);
  const monitor = new HealthMonitor(() => context.now(), Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);
  monitor.beat(context.now());
  const connection = new TelegramConnection({ client, bot, settings, context, monitor, stop: async () => undefined });
  await connection.remember();
  connection.learn((await context.newest?.()) ?? []);
  return connection;
}

/** The platform with these commands in the bot's menu. */
export function telegramWithMenu(commands: readonly MenuCommand[]): Platform {
  return { ...telegramPlatform, connect: (context) => connect(commands, context) };
}

export const telegramPlatform: Platform = {
  name: "telegram",
  label: "Telegram",
  maxLength: 4096,
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
    "You are answering on Telegram. Markdown is shown: bold, italic, code, links, lists and quotes; tables are turned into aligned text. Keep answers short enough for a phone. To send a file, put MEDIA:/absolute/path on a line of its own.",
  settings: TELEGRAM_SETTINGS,
  toolProgress: "new",
  rate: { perChat: 1, total: 25 },
  enabled: (context) => {
    const token = context.setting("TELEGRAM_BOT_TOKEN") ?? "";
    if (token === "") return { ok: false, reason: "TELEGRAM_BOT_TOKEN is not set" };
    if (!/^\d+:[\w-]{5,}$/.test(token))
      return { ok: false, reason: "TELEGRAM_BOT_TOKEN does not look like a bot token" };
    return { ok: true };
  },
  connect: (context) => connect([], context),
  openSender,
};
