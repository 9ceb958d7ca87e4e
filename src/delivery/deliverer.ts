// The deliverer of processes other than the gateway: sends through the running gateway, or itself when none runs.
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Platform } from "../core/chat/platform.ts";
import type { Deliverer, DeliveryMessage, DeliveryTarget } from "../core/job.ts";
import type { JsonObject } from "../core/message.ts";
import type { SessionStore } from "../core/store/session.ts";
import { parseJson } from "../lib/json/parse-json.ts";
import { readDirectory, resolveChat } from "./api/channel-directory.ts";
import type { ChatEntry } from "./api/mirror.ts";
import { homeChannel, PLATFORM_NAMES } from "./api/targets.ts";
import type { SenderDeps } from "./send-without-gateway.ts";

/** These platforms receive requests and have no chats to send to. */
const NO_CHATS = ["api_server", "webhook"];
const ANSWER_MS = 10_000;
const OUTBOX_MS = 90_000;
const RETRY_MS = 200;

export interface DelivererDeps extends SenderDeps {
  readonly env: { readonly [name: string]: string | undefined };
  readonly store: SessionStore;
  readonly platforms: readonly Platform[];
  /** The running gateway's answer to a `deliver` request; null when none runs. */
  askGateway(
    request: { readonly target: DeliveryTarget; readonly message: DeliveryMessage },
    waitMs: number,
  ): Promise<JsonObject | null>;
  /** The lock of the outbox; null while another process holds it. */
  lockOutbox(): Promise<{ release(): void } | null>;
}

/** Appends the message to the session of the chat that it was sent to. */
async function mirrorToSession(deps: DelivererDeps, target: DeliveryTarget, message: DeliveryMessage): Promise<void> {
  if (message.mirrorFrom === undefined) return;
  const { findChatEntry, mirror } = await import("./api/mirror.ts");
  const text = await readFile(join(deps.homePath, "sessions", "sessions.json"), "utf8").catch(() => "{}");
  const entries = Object.values((parseJson(text) ?? {}) as { readonly [key: string]: ChatEntry });
  const entry = findChatEntry(entries, target);
  if (entry) await mirror(deps.store, entry.session_id, message.mirrorFrom, message.text);
}

type SendOutcome = { readonly busy: true } | { readonly busy: false; readonly problem: string | undefined };

async function sendDirectly(
  deps: DelivererDeps,
  platform: Platform,
  target: DeliveryTarget,
  message: DeliveryMessage,
): Promise<SendOutcome> {
  const lock = await deps.lockOutbox();
  if (!lock) return { busy: true };
  try {
    const { sendWithoutGateway } = await import("./send-without-gateway.ts");
    const problem = await sendWithoutGateway(deps, platform, target, message);
    if (problem === undefined) await mirrorToSession(deps, target, message);
    return { busy: false, problem };
  } finally {
    lock.release();
  }
}

/** Every attempt uses the same key, so a lost answer or a stopped gateway does not cause a second message. */
async function send(
  deps: DelivererDeps,
  platform: Platform,
  target: DeliveryTarget,
  message: DeliveryMessage,
): Promise<string | undefined> {
  const keyed = { ...message, key: message.key ?? randomUUID() };
  const deadline = Date.now() + OUTBOX_MS;
  for (;;) {
    const answer = await deps.askGateway({ target, message: keyed }, (message.waitMs ?? 0) + ANSWER_MS);
    if (answer) {
      const problem = answer.problem ?? answer.error;
      return typeof problem === "string" ? problem : undefined;
    }
    if (!platform.openSender) return `${platform.label} needs the running gateway: hermes gateway start`;
    const outcome = await sendDirectly(deps, platform, target, keyed);
    if (!outcome.busy) return outcome.problem;
    if (Date.now() > deadline) return "another process of this home holds the outbox and does not answer";
    await sleep(RETRY_MS);
  }
}

/** Sends what earlier processes could not send; does nothing while another process holds the outbox. */
async function flush(deps: DelivererDeps, platforms: ReadonlyMap<string, Platform>): Promise<void> {
  const lock = await deps.lockOutbox();
  if (!lock) return;
  try {
    const { sendWaiting } = await import("./send-without-gateway.ts");
    await sendWaiting(deps, platforms);
  } finally {
    lock.release();
  }
}

/** Runs tasks one after the other, in the order of the calls. */
function serialQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}

export function createDeliverer(deps: DelivererDeps): Deliverer {
  const platforms = new Map(
    deps.platforms.filter(({ name }) => !NO_CHATS.includes(name)).map((platform) => [platform.name, platform]),
  );
  const problem = (name: string): string | undefined => {
    const platform = platforms.get(name);
    const state = platform?.enabled(deps.settings(name, platform.settings));
    if (state?.ok) return undefined;
    return `${name} is not set up here${state ? `: ${state.reason}` : ""} (hermes gateway setup)`;
  };
  // One at a time: a process takes the outbox lock once, and each chat gets its messages in order.
  const inOrder = serialQueue();
  return {
    known: () => [...new Set([...PLATFORM_NAMES, ...platforms.keys()])],
    problem,
    home: (name) => {
      const variable = platforms.get(name)?.homeVariable;
      return homeChannel(deps.env, name, { section: deps.settings(name, []).section, variable });
    },
    resolve: async (name, reference) => resolveChat(await readDirectory(deps.homePath), name, reference),
    chats: async () => (await readDirectory(deps.homePath)).filter(({ platform }) => problem(platform) === undefined),
    send: async (target, message) => {
      const platform = platforms.get(target.platform);
      const failure = problem(target.platform);
      if (failure !== undefined || !platform) return failure ?? `There is no platform "${target.platform}".`;
      return inOrder(() => send(deps, platform, target, message));
    },
    flush: async () => {
      const usable = new Map([...platforms].filter(([name]) => problem(name) === undefined));
      if (usable.size > 0) await inOrder(() => flush(deps, usable));
    },
  };
}
