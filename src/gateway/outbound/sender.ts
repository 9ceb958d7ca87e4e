// Sends the outbox: one message at a time per chat, in order, within the platform's rate limit, each exactly once.
import { setTimeout as sleep } from "node:timers/promises";
import type {
  Destination,
  OutboundMessage,
  Platform,
  PlatformConnection,
  SendResult,
} from "../../core/chat/platform.ts";
import type { Mailbox, NewOutgoing, OutboxRow } from "../../core/store/mailbox.ts";
import { needsMark, sendRow } from "../../delivery/api/send-row.ts";
import { errorMessage } from "../../lib/error-message.ts";
import { Bucket } from "./bucket.ts";

const DAY_MS = 86_400_000;
const MAX_PAUSE_MS = 60_000;
const NOT_CONNECTED_MS = 500;
const MAX_LANES = 2_000;
/** Typing indicators per second and platform: with many turns they would use up its rate limit. */
const TYPING_RATE = 10;

export interface PlatformRoute {
  readonly platform: Platform;
  /** Undefined while the platform is not connected. */
  connection(): PlatformConnection | undefined;
  readonly rate?: { readonly perChat: number; readonly total: number } | undefined;
}

interface Waiter {
  resolve(messageId: string | null): void;
}

interface ChatQueue {
  readonly rows: OutboxRow[];
  readonly bucket: Bucket | null;
  /** An edit that is skipped when a newer one follows. */
  readonly edits: Map<string, () => Promise<SendResult | undefined>>;
  working: boolean;
  notBefore: number;
  /** The row that was stored as `sending` in advance. */
  prepared: number | null;
  /** The result of the first row until it is stored: a failed write must not cause a second message. */
  result: SendResult | null;
}

type Store = (sending?: { readonly mark: string | null }) => Promise<readonly OutboxRow[]>;

export interface SenderParts {
  readonly mailbox: Mailbox;
  route(platform: string): PlatformRoute | undefined;
  log(level: "info" | "warning" | "error", text: string): void;
  /** Masks secrets in texts for users. */
  redact(text: string): string;
  readonly signal: AbortSignal;
  now(): number;
}

export class Sender {
  readonly #parts: SenderParts;
  readonly #lanes = new Map<string, ChatQueue>();
  readonly #totals = new Map<string, Bucket>();
  readonly #typing = new Map<string, Bucket>();
  readonly #waiters = new Map<number, Waiter[]>();
  #inFlight = 0;

  constructor(parts: SenderParts) {
    this.#parts = parts;
  }

  /** Number of messages and edits that wait or are being sent. */
  get pending(): number {
    let count = this.#inFlight;
    for (const lane of this.#lanes.values()) count += lane.rows.length + lane.edits.size;
    return count;
  }

  add(rows: readonly OutboxRow[]): void {
    for (const row of rows) {
      const lane = this.#lane(row.platform, row.to);
      lane.rows.push(row);
      void this.#work(row.platform, row.to, lane);
    }
  }

  /** Stores rows and sends them. A first row that can be sent at once is stored as `sending`, which saves a write. */
  async storeAndSend(outgoing: readonly NewOutgoing[], store: Store): Promise<void> {
    const [first] = outgoing;
    const lane = first ? this.#lane(first.platform, first.to) : undefined;
    const connection = first ? this.#parts.route(first.platform)?.connection() : undefined;
    const sendNow =
      first && lane && connection && this.#canSendNow(first.platform, lane) && !needsMark(first, connection);
    if (!sendNow) return this.add(await store());
    // Reserves the chat until the rows are stored: the mark is valid only for the next message.
    lane.working = true;
    try {
      const rows = await store({ mark: connection.mark?.(first.to) ?? null });
      lane.prepared = rows.find((row) => row.state === "sending")?.id ?? null;
      lane.rows.push(...rows.map((row) => ({ ...row, state: "queued" as const })));
      lane.rows.sort((a, b) => a.id - b.id);
    } finally {
      lane.working = false;
      void this.#work(first.platform, first.to, lane);
    }
  }

  #canSendNow(platform: string, lane: ChatQueue): boolean {
    if (lane.working || lane.rows.length > 0 || lane.edits.size > 0) return false;
    if (lane.notBefore > this.#parts.now() || this.#parts.signal.aborted) return false;
    return (lane.bucket?.ready ?? true) && (this.#totals.get(platform)?.ready ?? true);
  }

  /** Resolves with the message's id when it was sent; with null when it cannot be sent. */
  whenSent(row: OutboxRow): Promise<string | null> {
    return new Promise((resolve) => {
      this.#waiters.set(row.id, [...(this.#waiters.get(row.id) ?? []), { resolve }]);
    });
  }

  /** Shows the typing indicator, within its rate limit. */
  typing(platform: string, to: Destination): void {
    let bucket = this.#typing.get(platform);
    if (!bucket) {
      bucket = new Bucket(TYPING_RATE, TYPING_RATE);
      this.#typing.set(platform, bucket);
    }
    if (bucket.tryTake()) void this.#parts.route(platform)?.connection()?.typing?.(to);
  }

  /** Edits a sent message soon; a newer edit replaces one that waits. */
  editSoon(
    platform: string,
    to: Destination,
    change: { messageId: string; message: Omit<OutboundMessage, "idempotencyKey"> },
  ): void {
    const lane = this.#lane(platform, to);
    lane.edits.set(change.messageId, async () =>
      this.#parts.route(platform)?.connection()?.edit?.(to, change.messageId, change.message, this.#parts.signal),
    );
    void this.#work(platform, to, lane);
  }

  /** Drops waiting edits of this message: the final one follows. */
  cancelEdit(platform: string, to: Destination, messageId: string): void {
    this.#lane(platform, to).edits.delete(messageId);
  }

  #lane(platform: string, to: Destination): ChatQueue {
    const key = `${platform}:${to.chatId}`;
    let lane = this.#lanes.get(key);
    if (!lane) {
      const route = this.#parts.route(platform);
      const rate = route?.rate ?? route?.platform.rate;
      if (rate && !this.#totals.has(platform)) this.#totals.set(platform, new Bucket(rate.total, rate.total));
      // Platforms limit the average rate and accept short bursts.
      const bucket = rate ? new Bucket(rate.perChat, Math.max(3, rate.perChat)) : null;
      lane = { rows: [], bucket, edits: new Map(), working: false, notBefore: 0, prepared: null, result: null };
      this.#lanes.set(key, lane);
    }
    return lane;
  }

  async #work(platform: string, to: Destination, lane: ChatQueue): Promise<void> {
    if (lane.working) return;
    lane.working = true;
    const { signal, log, now } = this.#parts;
    let failures = 0;
    while (!signal.aborted && (lane.rows.length > 0 || lane.edits.size > 0)) {
      try {
        await this.#waitForRateLimit(platform, lane);
        if (signal.aborted) break;
        await this.#step(lane);
        failures = 0;
      } catch (error) {
        // The mailbox could not be written: queued messages stay and are retried.
        const why = errorMessage(error);
        if (!signal.aborted) log("error", `sending to ${platform}:${to.chatId} is delayed: ${why}`);
        lane.notBefore = now() + Math.min(500 * 2 ** failures, MAX_PAUSE_MS);
        failures = Math.min(failures + 1, 10);
      }
    }
    // A lane holds the rate limit of its chat; idle lanes are removed when there are too many.
    if (!signal.aborted && this.#lanes.size > MAX_LANES) this.#lanes.delete(`${platform}:${to.chatId}`);
    lane.working = false;
  }

  async #step(lane: ChatQueue): Promise<void> {
    const row = lane.rows[0];
    if (!row) return this.#editOne(lane);
    if (!(await this.#deliver(row, lane))) return;
    lane.rows.shift();
    lane.result = null;
  }

  async #waitForRateLimit(platform: string, lane: ChatQueue): Promise<void> {
    const { signal, now } = this.#parts;
    const wait = lane.notBefore - now();
    if (wait > 0) await sleep(wait, undefined, { signal }).catch(() => undefined);
    await lane.bucket?.take(signal);
    await this.#totals.get(platform)?.take(signal);
  }

  async #editOne(lane: ChatQueue): Promise<void> {
    const [messageId, edit] = lane.edits.entries().next().value ?? [];
    if (messageId === undefined || !edit) return;
    lane.edits.delete(messageId);
    this.#inFlight += 1;
    const result = await edit().finally(() => {
      this.#inFlight -= 1;
    });
    if (result && !result.ok && result.kind === "retry" && result.retryAfterMs)
      lane.notBefore = this.#parts.now() + result.retryAfterMs;
  }

  /** True when the row was sent or has failed. */
  async #deliver(row: OutboxRow, lane: ChatQueue): Promise<boolean> {
    const route = this.#parts.route(row.platform);
    const connection = route?.connection();
    if (!route || !connection) {
      if (!route) return this.#end(row, { ok: false, kind: "refused", reason: `${row.platform} is not set up here` });
      if (this.#parts.now() - row.createdAt > DAY_MS)
        return this.#end(row, { ok: false, kind: "refused", reason: "not connected for a day" });
      lane.notBefore = this.#parts.now() + NOT_CONNECTED_MS;
      return false;
    }
    this.#inFlight += 1;
    try {
      const { mailbox, signal, now, log } = this.#parts;
      const remember = (mark: string | null) => this.#remember(row, mark);
      const prepared = lane.prepared === row.id;
      if (prepared) lane.prepared = null;
      const result = lane.result ?? (await sendRow(row, connection, { mailbox, signal, now, log, remember, prepared }));
      if (result.ok || result.kind === "refused") {
        lane.result = result;
        return await this.#end(row, result);
      }
      if (result.kind === "unknown" && row.payload.type !== "edit")
        lane.rows[0] = { ...(lane.rows[0] ?? row), state: "sending" };
      else await this.#parts.mailbox.postponed(row.id, result.reason);
      return await this.#postpone(row, lane, result);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async #postpone(row: OutboxRow, lane: ChatQueue, result: Extract<SendResult, { ok: false }>): Promise<boolean> {
    if (this.#parts.now() - row.createdAt > DAY_MS)
      return this.#end(row, { ok: false, kind: "refused", reason: `given up after a day: ${result.reason}` });
    const current = lane.rows[0] ?? row;
    lane.rows[0] = { ...current, attempts: current.attempts + 1 };
    const pause = Math.min(500 * 2 ** Math.min(current.attempts, 10), MAX_PAUSE_MS);
    lane.notBefore = this.#parts.now() + ((result.kind === "retry" ? result.retryAfterMs : undefined) ?? pause);
    return false;
  }

  /** Tells the chat that a file could not be sent. The reason comes from the platform and may contain secrets. */
  async #reportUnsentFile({ key, platform, to }: OutboxRow, name: string, reason: string): Promise<void> {
    const text = this.#parts.redact(`⚠️ ${name} could not be sent: ${reason}`);
    const payload = { type: "text" as const, text };
    this.add(await this.#parts.mailbox.enqueue([{ key: `${key}:missing`, platform, to, payload }]));
  }

  /** Records the mark of the attempt, used to search for the message when the outcome is unknown. */
  #remember(row: OutboxRow, mark: string | null): void {
    const lane = this.#lane(row.platform, row.to);
    const first = lane.rows[0];
    if (first?.id === row.id) lane.rows[0] = { ...first, mark };
  }

  async #end(row: OutboxRow, result: SendResult): Promise<true> {
    const { mailbox, log } = this.#parts;
    if (result.ok) await mailbox.sent(row.id, result.messageId);
    else {
      await mailbox.failed(row.id, result.reason);
      log("error", `a message to ${row.platform}:${row.to.chatId} could not be delivered: ${result.reason}`);
      if (row.payload.type === "file") await this.#reportUnsentFile(row, row.payload.name, result.reason);
    }
    for (const waiter of this.#waiters.get(row.id) ?? []) waiter.resolve(result.ok ? result.messageId : null);
    this.#waiters.delete(row.id);
    return true;
  }
}
