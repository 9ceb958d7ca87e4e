// One message to a chat without a gateway: signs in, sends, signs out.
import { randomUUID } from "node:crypto";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { DeliveryMessage, DeliveryTarget } from "../core/job.ts";
import type { Mailbox } from "../core/mailbox.ts";
import { mediaKindOf } from "../core/outgoing-media.ts";
import type { Platform, PlatformConnection, PlatformContext, SendResult } from "../core/platform.ts";
import { splitText } from "../core/split-text.ts";

import type { App } from "./app.ts";
import { settingsOf } from "./platform-settings.ts";

const TRIES = 3;
const LONGEST_PAUSE_MS = 15_000;
const SEND_MS = 120_000;

/** What a platform gets when nothing is to be received. */
export function senderContext(app: App, platform: Platform, mailbox: Mailbox, signal: AbortSignal): PlatformContext {
  const nobody = async () => {
    throw new Error("only the gateway receives");
  };
  return {
    ...settingsOf(app, platform.name, platform.settings),
    receive: nobody,
    receiveAll: nobody,
    deliver: nobody,
    memory: {
      get: (key) => mailbox.getMemory(platform.name, key),
      set: (key, value) => mailbox.setMemory(platform.name, key, value),
    },
    log: () => undefined,
    lost: () => undefined,
    now: Date.now,
    signal,
    homePath: app.home.path,
  };
}

/** Opens the platform for sending, hands it over, and closes it again. Rejects when it cannot be signed in to. */
export async function withSender<T>(
  app: App,
  platform: Platform,
  work: (connection: PlatformConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!platform.openSender) throw new Error(`${platform.label} has nothing to send by`);
  const { openMailbox } = await import("../store/open-mailbox.ts");
  const { mailbox } = await openMailbox(join(app.home.path, "runtime.db"), "in-process");
  const signal = AbortSignal.timeout(SEND_MS);
  try {
    const connection = await platform.openSender(senderContext(app, platform, mailbox, signal));
    try {
      return await work(connection, signal);
    } finally {
      await connection.close();
    }
  } finally {
    await mailbox.close();
  }
}

/** Repeats only what surely was not delivered. */
async function attempt(send: () => Promise<SendResult>): Promise<string | undefined> {
  for (let round = 1; ; round++) {
    const result = await send();
    if (result.ok) return undefined;
    if (result.kind === "unknown") return `it may or may not have been delivered: ${result.reason}`;
    if (result.kind === "refused" || round === TRIES) return result.reason;
    await sleep(Math.min(result.retryAfterMs ?? 1_000 * round, LONGEST_PAUSE_MS));
  }
}

/** Undefined when everything was delivered, else what went wrong. */
export async function sendAlone(
  app: App,
  platform: Platform,
  target: DeliveryTarget,
  message: DeliveryMessage,
): Promise<string | undefined> {
  const to = { chatId: target.chatId, ...(target.threadId ? { threadId: target.threadId } : {}) };
  const key = `alone:${randomUUID()}`;
  const parts =
    message.text.trim() === "" ? [] : splitText(message.text, { max: platform.maxLength, unit: platform.lengthUnit });
  return withSender(app, platform, async (connection, signal) => {
    for (const [index, text] of parts.entries()) {
      const problem = await attempt(() => connection.send(to, { text, idempotencyKey: `${key}:${index}` }, signal));
      if (problem !== undefined) return problem;
    }
    for (const [index, path] of message.media.entries()) {
      const file = { kind: mediaKindOf(path, message.mediaWish), path, name: basename(path) };
      const idempotencyKey = `${key}:f${index}`;
      const problem = connection.sendFile
        ? await attempt(async () => (await connection.sendFile?.(to, { ...file, idempotencyKey }, signal)) ?? NO_FILES)
        : NO_FILES.reason;
      if (problem !== undefined) return problem;
    }
    return undefined;
  });
}

const NO_FILES = { ok: false, kind: "refused", reason: "this platform takes no files" } as const;
