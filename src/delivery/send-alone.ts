// Messages to chats without a gateway: through the same outbox, by a sender that signs in, sends and signs out.
import { setTimeout as sleep } from "node:timers/promises";
import type { App } from "../app/app.ts";
import { UserError } from "../core/failure.ts";
import type { DeliveryMessage, DeliveryTarget } from "../core/job.ts";
import type { Mailbox, OutboxRow } from "../core/mailbox.ts";
import type { Platform, PlatformConnection, PlatformContext } from "../core/platform.ts";
import { privateDatabase } from "../home/home-layout.ts";
import { deliveryRows, JOB_KEYS } from "./delivery-rows.ts";
import { readPlatformSettings } from "./platform-settings.ts";
import { sendRow } from "./send-row.ts";

const TRIES = 3;
const LONGEST_PAUSE_MS = 15_000;
const SEND_MS = 120_000;
const DAY_MS = 86_400_000;
const KEEP_MS = 7 * DAY_MS;

/** What a platform gets when nothing is to be received. */
function senderContext(app: App, platform: Platform, mailbox: Mailbox, signal: AbortSignal): PlatformContext {
  const nobody = async () => {
    throw new Error("only the gateway receives");
  };
  return {
    ...readPlatformSettings(app, platform.name, platform.settings),
    receive: nobody,
    receiveAll: nobody,
    deliver: nobody,
    memory: {
      get: (key) => mailbox.getMemory(platform.name, key),
      set: (key, value, until) => mailbox.setMemory(platform.name, key, value, until),
    },
    newest: () => mailbox.newestMessages(platform.name),
    log: () => undefined,
    lost: () => undefined,
    now: Date.now,
    signal,
    homePath: app.home.path,
  };
}

async function withMailbox<T>(app: App, work: (mailbox: Mailbox) => Promise<T>): Promise<T> {
  const { openMailbox } = await import("../store/open-mailbox.ts");
  const { mailbox } = await openMailbox(privateDatabase(app.home, "runtime.db"), "in-process");
  try {
    return await work(mailbox);
  } finally {
    await mailbox.close();
  }
}

/** Opens the platform for sending, hands it over, and closes it again. Rejects when it cannot be signed in to. */
async function withSender<T>(
  app: App,
  platform: Platform,
  mailbox: Mailbox,
  work: (connection: PlatformConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!platform.openSender) throw new Error(`${platform.label} has nothing to send by`);
  const signal = AbortSignal.timeout(SEND_MS);
  const connection = await platform.openSender(senderContext(app, platform, mailbox, signal));
  try {
    return await work(connection, signal);
  } finally {
    await connection.close();
  }
}

interface Place {
  readonly mailbox: Mailbox;
  readonly signal: AbortSignal;
}

interface SendProblem {
  readonly reason: string;
  /** It will never work: nobody need try again. */
  readonly forGood: boolean;
}

/** Sends the row until it has an end or the tries are used up; undefined when it was delivered. */
async function sendUntilDone(
  first: OutboxRow,
  connection: PlatformConnection,
  place: Place,
): Promise<SendProblem | undefined> {
  const { mailbox, signal } = place;
  let row = first;
  const remember = (mark: string | null) => {
    row = { ...row, mark };
  };
  for (let round = 1; ; round++) {
    const result = await sendRow(row, connection, { mailbox, signal, now: Date.now, log: () => undefined, remember });
    if (result.ok) {
      await mailbox.sent(row.id, result.messageId);
      return undefined;
    }
    const { kind, reason } = result;
    if (kind === "refused" || Date.now() - row.createdAt > DAY_MS) {
      await mailbox.failed(row.id, reason);
      return { reason, forGood: true };
    }
    if (kind === "unknown" && row.payload.type !== "edit") row = { ...row, state: "sending" };
    else await mailbox.postponed(row.id, reason);
    if (round === TRIES || signal.aborted) return { reason, forGood: false };
    const pause = (kind === "retry" ? result.retryAfterMs : undefined) ?? 1_000 * round;
    await sleep(Math.min(pause, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
  }
}

type SendProblems = ReadonlyMap<string, SendProblem>;

/** In order; what cannot be sent for now holds up what follows it in the same chat. */
async function sendRows(
  rows: readonly OutboxRow[],
  connection: PlatformConnection,
  place: Place,
): Promise<SendProblems> {
  const failures = new Map<string, SendProblem>();
  const stuck = new Map<string, SendProblem>();
  for (const row of rows) {
    const failure = stuck.get(row.to.chatId) ?? (await sendUntilDone(row, connection, place));
    if (failure === undefined) continue;
    failures.set(row.key, failure);
    if (!failure.forGood) stuck.set(row.to.chatId, failure);
  }
  return failures;
}

async function bySender(
  app: App,
  platform: Platform,
  work: { readonly mailbox: Mailbox; readonly rows: readonly OutboxRow[] },
): Promise<SendProblems> {
  const { mailbox, rows } = work;
  if (rows.length === 0) return new Map();
  try {
    return await withSender(app, platform, mailbox, (connection, signal) =>
      sendRows(rows, connection, { mailbox, signal }),
    );
  } catch (error) {
    const reason = app.redact(error instanceof Error ? error.message : String(error));
    return new Map(rows.map((row) => [row.key, { reason, forGood: error instanceof UserError }]));
  }
}

/** Rows of jobs that another process left, and those named here; the rest is the gateway's. */
async function waitingRows(mailbox: Mailbox, keys: ReadonlySet<string>): Promise<readonly OutboxRow[]> {
  const { outbox } = await mailbox.pending();
  return outbox.filter((row) => keys.has(row.key) || row.key.startsWith(JOB_KEYS));
}

/**
 * Sends by itself what the gateway would. Only whoever holds the outbox may call this. What could not be sent for now
 * stays there when it is a job's; anything else is given up, because whoever asked is told so.
 */
export async function sendAlone(
  app: App,
  platform: Platform,
  target: DeliveryTarget,
  message: DeliveryMessage,
): Promise<string | undefined> {
  const wanted = deliveryRows(platform, target, message);
  const keys = new Set(wanted.map(({ key }) => key));
  return withMailbox(app, async (mailbox) => {
    // Where no gateway ever runs, nobody else does it.
    await mailbox.prune(Date.now() - KEEP_MS);
    await mailbox.enqueue(wanted);
    const rows = (await waitingRows(mailbox, keys)).filter((row) => row.platform === platform.name);
    const failures = await bySender(app, platform, { mailbox, rows });
    const unsent = rows.filter((row) => keys.has(row.key) && failures.has(row.key));
    const failure = failures.get(unsent[0]?.key ?? "");
    if (failure === undefined) return undefined;
    const { reason, forGood } = failure;
    if (message.jobId !== undefined && !forGood) return `${reason}; it is sent when that works`;
    for (const row of unsent) await mailbox.failed(row.id, reason);
    return reason;
  });
}

/** Sends what jobs left in the outbox. Only whoever holds the outbox may call this. */
export async function sendWaiting(app: App, platforms: ReadonlyMap<string, Platform>): Promise<void> {
  await withMailbox(app, async (mailbox) => {
    const all = await waitingRows(mailbox, new Set());
    for (const platform of platforms.values()) {
      const rows = all.filter((row) => row.platform === platform.name);
      if (rows.length > 0 && platform.openSender) await bySender(app, platform, { mailbox, rows });
    }
  });
}
