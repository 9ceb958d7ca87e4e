// Sends one row of the outbox exactly once: a row that may already be delivered is searched for first.

import type { OutboundFile, OutboundMessage, PlatformConnection, SendResult } from "../../core/chat/platform.ts";
import type { Mailbox, OutboxRow } from "../../core/store/mailbox.ts";
import { errorMessage } from "../../lib/error-message.ts";

const KNOWN_MS = 3_600_000;

export interface RowSending {
  readonly mailbox: Mailbox;
  readonly signal: AbortSignal;
  now(): number;
  log(level: "info" | "warning" | "error", text: string): void;
  /** The row is already stored as `sending` with its mark, and was not sent yet. */
  readonly prepared?: boolean | undefined;
  /** Called with the mark of each attempt, used to search for the message when the outcome is unknown. */
  remember(mark: string | null): void;
}

/** A row in state `sending` may already be delivered: its process or its connection ended before the result was known. */
export function sendRow(row: OutboxRow, connection: PlatformConnection, sending: RowSending): Promise<SendResult> {
  const mayBeSent = row.state === "sending" && row.payload.type !== "edit";
  return mayBeSent ? recover(row, connection, sending) : attempt(row, connection, sending);
}

async function attempt(row: OutboxRow, connection: PlatformConnection, sending: RowSending): Promise<SendResult> {
  const { signal, mailbox } = sending;
  if (!sending.prepared) {
    const failure = await learnMark(row, connection, signal);
    if (failure) return failure;
    const mark = connection.mark?.(row.to) ?? null;
    await mailbox.sending(row.id, mark);
    sending.remember(mark);
  }
  const { payload } = row;
  if (payload.type === "edit") return sendEdit(row, connection, payload, signal);
  const message = outbound(row);
  if (!("path" in message)) return connection.send(row.to, message, signal);
  if (connection.sendFile) return connection.sendFile(row.to, message, signal);
  const text = `${message.caption ?? ""}\n[file: ${message.name}]`.trim();
  return connection.send(row.to, { text, idempotencyKey: row.key }, signal);
}

/** Gets a mark, without which a lost message cannot be found. Returns the failure, if any. */
async function learnMark(
  row: OutboxRow,
  connection: PlatformConnection,
  signal: AbortSignal,
): Promise<Extract<SendResult, { ok: false }> | undefined> {
  if (!needsMark(row, connection)) return undefined;
  const result = await connection.learnMark?.(row.to, row.key, signal);
  if (!result || result.ok) return undefined;
  return result.kind === "unknown" ? { ...result, kind: "retry" } : result;
}

/** True when a mark must be set first: without one the message could not be found after a crash. */
export function needsMark(
  row: Pick<OutboxRow, "to" | "payload" | "ephemeral">,
  connection: PlatformConnection,
): boolean {
  if (!connection.learnMark || row.ephemeral || row.payload.type === "edit") return false;
  return (connection.mark?.(row.to) ?? null) === null;
}

async function sendEdit(
  row: OutboxRow,
  connection: PlatformConnection,
  payload: Extract<OutboxRow["payload"], { type: "edit" }>,
  signal: AbortSignal,
): Promise<SendResult> {
  const { messageId, text, buttons } = payload;
  const message = { text, buttons };
  const edited = await connection.edit?.(row.to, messageId, message, signal);
  if (edited && (edited.ok || edited.kind !== "refused")) return edited;
  // The message was deleted: its text is sent as a new message.
  return connection.send(row.to, { ...message, idempotencyKey: row.key }, signal);
}

/** For a send with an unknown outcome: searches for the message and sends it again only when it is not there. */
async function recover(row: OutboxRow, connection: PlatformConnection, sending: RowSending): Promise<SendResult> {
  const { mailbox, signal, now, log } = sending;
  const message = outbound(row);
  let proof: Awaited<ReturnType<NonNullable<PlatformConnection["findSent"]>>> = { sent: "unknown" };
  try {
    if (connection.findSent) {
      // Counted from the row's creation, because no process may have run for days.
      const since = Math.min(now(), row.createdAt) - KNOWN_MS;
      const known = new Set(await mailbox.knownMessages(row.platform, since));
      const remember = async (mark: string) => {
        await mailbox.sending(row.id, mark);
        sending.remember(mark);
      };
      proof = await connection.findSent({ to: row.to, message, mark: row.mark, known, remember }, signal);
    }
  } catch (error) {
    return { ok: false, kind: "unknown", reason: errorMessage(error) };
  }
  if (proof.sent === true) return { ok: true, messageId: proof.messageId };
  if (proof.sent === false) return attempt({ ...row, state: "queued" }, connection, sending);
  log("warning", `message ${row.key} may have been delivered before a restart; it is sent again with a note`);
  if ("path" in message) return attempt({ ...row, state: "queued" }, connection, sending);
  const text = `(Sent again after a restart; you may have this already.)\n\n${message.text}`;
  const mark = connection.mark?.(row.to) ?? null;
  await mailbox.sending(row.id, mark);
  sending.remember(mark);
  const noted = await connection.send(row.to, { ...message, text }, signal);
  // The note may exceed the length limit.
  return noted.ok || noted.kind !== "refused" ? noted : connection.send(row.to, message, signal);
}

function outbound(row: OutboxRow): OutboundMessage | OutboundFile {
  const { payload, key } = row;
  if (payload.type === "file") {
    const { type: _, ...file } = payload;
    return { ...file, idempotencyKey: key };
  }
  const { text, buttons } = payload;
  return {
    text,
    buttons,
    replyTo: "replyTo" in payload ? payload.replyTo : undefined,
    silent: "silent" in payload ? payload.silent : undefined,
    idempotencyKey: key,
  };
}
