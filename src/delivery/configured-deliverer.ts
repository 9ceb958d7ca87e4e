// The deliverer outside the gateway: through the running gateway when there is one, else by itself.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "../app/app.ts";
import { allPlatforms } from "../app/platforms.ts";
import type { Deliverer, DeliveryMessage, DeliveryTarget } from "../core/job.ts";
import type { JsonObject } from "../core/message.ts";
import type { Platform } from "../core/platform.ts";
import { readDirectory, resolveChat } from "./channel-directory.ts";
import { homeChannel, PLATFORM_NAMES } from "./deliver.ts";
import type { ChatEntry } from "./mirror.ts";
import { readPlatformSettings } from "./platform-settings.ts";

/** These take requests and have no chats to send to. */
const NO_CHATS = ["api_server", "webhook"];
const ANSWER_MS = 10_000;
const OUTBOX_MS = 90_000;

/** The running gateway's word; null when none runs. */
async function byGateway(app: App, target: DeliveryTarget, message: DeliveryMessage): Promise<JsonObject | null> {
  const { askGateway } = await import("../gateway-control/gateway-process.ts");
  const request = JSON.stringify({ target, message });
  return askGateway(app.home, `deliver ${request}`, (message.waitMs ?? 0) + ANSWER_MS);
}

/** The chat's session remembers what was sent to it. */
async function remember(app: App, target: DeliveryTarget, message: DeliveryMessage): Promise<void> {
  if (message.mirrorFrom === undefined) return;
  const [{ entryOfChat, mirror }, { readFile }, { parseJson }] = await Promise.all([
    import("./mirror.ts"),
    import("node:fs/promises"),
    import("../lib/json/parse-json.ts"),
  ]);
  const text = await readFile(join(app.home.path, "sessions", "sessions.json"), "utf8").catch(() => "{}");
  const entries = Object.values((parseJson(text) ?? {}) as { readonly [key: string]: ChatEntry });
  const entry = entryOfChat(entries, target);
  if (entry) await mirror(app.store, entry.session_id, message.mirrorFrom, message.text);
}

/** By itself, when it gets hold of the outbox. */
async function alone(app: App, platform: Platform, target: DeliveryTarget, message: DeliveryMessage): Promise<Alone> {
  const { lockOutbox } = await import("../gateway-control/gateway-process.ts");
  const lock = await lockOutbox(app.home);
  if (!lock) return { busy: true };
  try {
    const { sendAlone } = await import("./send-alone.ts");
    const problem = await sendAlone(app, platform, target, message);
    if (problem === undefined) await remember(app, target, message);
    return { busy: false, problem };
  } finally {
    lock.release();
  }
}

type Alone = { readonly busy: true } | { readonly busy: false; readonly problem: string | undefined };

/** With one key all along: an answer that got lost, or a gateway that died over it, does not make a second message. */
async function send(
  app: App,
  platform: Platform,
  target: DeliveryTarget,
  message: DeliveryMessage,
): Promise<string | undefined> {
  const keyed = { ...message, key: message.key ?? randomUUID() };
  const deadline = Date.now() + OUTBOX_MS;
  for (;;) {
    const answer = await byGateway(app, target, keyed);
    if (answer) {
      const problem = answer.problem ?? answer.error;
      return typeof problem === "string" ? problem : undefined;
    }
    if (!platform.openSender) return `${platform.label} is reached through the gateway: hermes gateway start`;
    const result = await alone(app, platform, target, keyed);
    if (!result.busy) return result.problem;
    if (Date.now() > deadline) return "another program of this home has the outbox and does not answer";
    await sleep(200);
  }
}

/** What earlier processes could not send; nothing when somebody else has the outbox. */
async function flush(app: App, platforms: ReadonlyMap<string, Platform>): Promise<void> {
  const { lockOutbox } = await import("../gateway-control/gateway-process.ts");
  const lock = await lockOutbox(app.home);
  if (!lock) return;
  try {
    const { sendWaiting } = await import("./send-alone.ts");
    await sendWaiting(app, platforms);
  } finally {
    lock.release();
  }
}

export async function configuredDeliverer(app: App): Promise<Deliverer> {
  const loaded = (await allPlatforms(app)).filter(({ name }) => !NO_CHATS.includes(name));
  const platforms = new Map<string, Platform>(loaded.map((platform) => [platform.name, platform]));
  const problem = (name: string): string | undefined => {
    const platform = platforms.get(name);
    const state = platform?.enabled(readPlatformSettings(app, name, platform.settings));
    if (state?.ok) return undefined;
    return `${name} is not set up here${state ? `: ${state.reason}` : ""} (hermes gateway setup)`;
  };
  // One at a time: a process holds the outbox once, and a chat gets its messages in order.
  let line: Promise<unknown> = Promise.resolve();
  const inLine = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = line.then(work);
    line = turn.catch(() => undefined);
    return turn;
  };
  return {
    known: () => [...new Set([...PLATFORM_NAMES, ...platforms.keys()])],
    problem,
    home: (name) => {
      const variable = platforms.get(name)?.homeVariable;
      return homeChannel(app.home.env, name, { section: readPlatformSettings(app, name, []).section, variable });
    },
    resolve: async (name, reference) => resolveChat(await readDirectory(app.home.path), name, reference),
    chats: async () => (await readDirectory(app.home.path)).filter(({ platform }) => problem(platform) === undefined),
    send: async (target, message) => {
      const platform = platforms.get(target.platform);
      const failure = problem(target.platform);
      if (failure !== undefined || !platform) return failure ?? `There is no platform "${target.platform}".`;
      return inLine(() => send(app, platform, target, message));
    },
    flush: async () => {
      const usable = new Map([...platforms].filter(([name]) => problem(name) === undefined));
      if (usable.size > 0) await inLine(() => flush(app, usable));
    },
  };
}
