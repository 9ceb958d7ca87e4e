// Sends from the outbox without a gateway: signs in to the platform, sends, and signs out.
import { setTimeout as sleep } from "node:timers/promises";
import type { Platform, PlatformConnection, PlatformContext } from "../core/chat/platform.ts";
import type { PlatformSettings } from "../core/chat/platform-settings.ts";
import { UserError } from "../core/failure.ts";
import type { DeliveryMessage, DeliveryTarget } from "../core/job.ts";
import type { Mailbox, OutboxRow } from "../core/store/mailbox.ts";
import { errorMessage } from "../lib/error-message.ts";
import { deliveryRows, JOB_KEYS } from "./api/delivery-rows.ts";
import { sendRow } from "./api/send-row.ts";

const TRIES = 3;
const LONGEST_PAUSE_MS = 15_000;
const SEND_MS = 120_000;
const DAY_MS = 86_400_000;
const KEEP_MS = 7 * DAY_MS;

export interface SenderDeps {
  readonly homePath: string;
  settings(platform: string, names: Platform["settings"]): PlatformSettings;
  /** The text without secrets. */
  redact(text: string): string;
  openMailbox(): Promise<Mailbox>;
}

/** The context of a platform that only sends. */
function senderContext(deps: SenderDeps, platform: Platform, mailbox: Mailbox, signal: AbortSignal): PlatformContext {
  const refuse = async () => {
    throw new Error("only the gateway receives");
  };
  return {
    ...deps.settings(platform.name, platform.settings),
    receive: refuse,
    receiveAll: refuse,
    deliver: refuse,
    memory: {
      get: (key) => mailbox.getMemory(platform.name, key),
      set: (key, value, until) => mailbox.setMemory(platform.name, key, value, until),
    },
    newest: () => mailbox.newestMessages(platform.name),
    log: () => undefined,
    lost: () => undefined,
    now: Date.now,
    signal,
    homePath: deps.homePath,
  };
}

async function withMailbox<T>(deps: SenderDeps, work: (mailbox: Mailbox) => Promise<T>): Promise<T> {
  const mailbox = await deps.openMailbox();
  try {
    return await work(mailbox);
  } finally {
    await mailbox.close();
  }
}

/** Opens the platform for sending, runs `work` and closes the platform. Rejects when signing in fails. */
async function withSender<T>(
  deps: SenderDeps,
  platform: Platform,
  mailbox: Mailbox,
  work: (connection: PlatformConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (!platform.openSender) throw new Error(`${platform.label} cannot send without the gateway`);
  const signal = AbortSignal.timeout(SEND_MS);
  const connection = await platform.openSender(senderContext(deps, platform, mailbox, signal));
  try {
    return await work(connection, signal);
  } finally {
    await connection.close();
  }
}

interface SendContext {
  readonly mailbox: Mailbox;
  readonly signal: AbortSignal;
}

interface SendProblem {
  readonly reason: string;
  /** A retry would fail as well. */
  readonly permanent: boolean;
}

/** Retries the row until it is delivered, refused or out of attempts; undefined when it was delivered. */
async function sendUntilDone(
  first: OutboxRow,
  connection: PlatformConnection,
  context: SendContext,
): Promise<SendProblem | undefined> {
  const { mailbox, signal } = context;
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
      return { reason, permanent: true };
    }
    if (kind === "unknown" && row.payload.type !== "edit") row = { ...row, state: "sending" };
    else await mailbox.postponed(row.id, reason);
    if (round === TRIES || signal.aborted) return { reason, permanent: false };
    const pause = (kind === "retry" ? result.retryAfterMs : undefined) ?? 1_000 * round;
    await sleep(Math.min(pause, LONGEST_PAUSE_MS), undefined, { signal }).catch(() => undefined);
  }
}

type SendProblems = ReadonlyMap<string, SendProblem>;

/** In order: a row that cannot be sent yet also delays the later rows of the same chat. */
async function sendRows(
  rows: readonly OutboxRow[],
  connection: PlatformConnection,
  context: SendContext,
): Promise<SendProblems> {
  const failures = new Map<string, SendProblem>();
  const stuck = new Map<string, SendProblem>();
  for (const row of rows) {
    const failure = stuck.get(row.to.chatId) ?? (await sendUntilDone(row, connection, context));
    if (failure === undefined) continue;
    failures.set(row.key, failure);
    if (!failure.permanent) stuck.set(row.to.chatId, failure);
  }
  return failures;
}

async function sendThrough(
  deps: SenderDeps,
  platform: Platform,
  work: { readonly mailbox: Mailbox; readonly rows: readonly OutboxRow[] },
): Promise<SendProblems> {
  const { mailbox, rows } = work;
  if (rows.length === 0) return new Map();
  try {
    return await withSender(deps, platform, mailbox, (connection, signal) =>
      sendRows(rows, connection, { mailbox, signal }),
    );
  } catch (error) {
    const reason = deps.redact(errorMessage(error));
    return new Map(rows.map((row) => [row.key, { reason, permanent: error instanceof UserError }]));
  }
}

/** The rows with these keys, and rows of jobs that another process could not send. The gateway sends all others. */
async function waitingRows(mailbox: Mailbox, keys: ReadonlySet<string>): Promise<readonly OutboxRow[]> {
  const { outbox } = await mailbox.pending();
  return outbox.filter((row) => keys.has(row.key) || row.key.startsWith(JOB_KEYS));
}

/**
 * Sends one message; returns the problem when that fails. The caller must hold the outbox lock. A job's message that
 * cannot be sent yet stays in the outbox; any other is marked as failed, because the caller reports the problem.
 */
export async function sendWithoutGateway(
  deps: SenderDeps,
  platform: Platform,
  target: DeliveryTarget,
  message: DeliveryMessage,
): Promise<string | undefined> {
  const wanted = deliveryRows(platform, target, message);
  const keys = new Set(wanted.map(({ key }) => key));
  return withMailbox(deps, async (mailbox) => {
    // Otherwise only the gateway prunes, and it may never run in this home.
    await mailbox.prune(Date.now() - KEEP_MS);
    await mailbox.enqueue(wanted);
    const rows = (await waitingRows(mailbox, keys)).filter((row) => row.platform === platform.name);
    const failures = await sendThrough(deps, platform, { mailbox, rows });
    const unsent = rows.filter((row) => keys.has(row.key) && failures.has(row.key));
    const failure = failures.get(unsent[0]?.key ?? "");
    if (failure === undefined) return undefined;
    const { reason, permanent } = failure;
    if (message.jobId !== undefined && !permanent) return `${reason}; it will be sent later`;
    for (const row of unsent) await mailbox.failed(row.id, reason);
    return reason;
  });
}

/** Sends the rows of jobs that wait in the outbox. The caller must hold the outbox lock. */
export async function sendWaiting(deps: SenderDeps, platforms: ReadonlyMap<string, Platform>): Promise<void> {
  await withMailbox(deps, async (mailbox) => {
    const all = await waitingRows(mailbox, new Set());
    for (const platform of platforms.values()) {
      const rows = all.filter((row) => row.platform === platform.name);
      if (rows.length > 0 && platform.openSender) await sendThrough(deps, platform, { mailbox, rows });
    }
  });
}
