// One row of the outbox, sent once: what may have left already is looked for before it is sent again.
import type { Mailbox, OutboxRow } from "../../core/mailbox.ts";
import type { OutboundFile, OutboundMessage, PlatformConnection, SendResult } from "../../core/platform.ts";

const KNOWN_MS = 3_600_000;

export interface RowSending {
  readonly mailbox: Mailbox;
  readonly signal: AbortSignal;
  now(): number;
  log(level: "info" | "warning" | "error", text: string): void;
  /** The row was stored as on its way by us, together with its mark, and nothing has left yet. */
  readonly prepared?: boolean | undefined;
  /** Told of the mark of each attempt, for the search if its end stays unknown. */
  remember(mark: string | null): void;
}

/** A row that stands as `sending` may be on the screen already: an earlier process, or a broken line, left it so. */
export function sendRow(row: OutboxRow, connection: PlatformConnection, sending: RowSending): Promise<SendResult> {
  const inherited = row.state === "sending" && row.payload.type !== "edit";
  return inherited ? recover(row, connection, sending) : attempt(row, connection, sending);
}

async function attempt(row: OutboxRow, connection: PlatformConnection, sending: RowSending): Promise<SendResult> {
  const { signal, mailbox } = sending;
  if (!sending.prepared) {
    const unmarked = await learnt(row, connection, signal);
    if (unmarked) return unmarked;
    const mark = connection.mark?.(row.to) ?? null;
    await mailbox.sending(row.id, mark);
    sending.remember(mark);
  }
  const { payload } = row;
  if (payload.type === "edit") return lastWord(row, connection, payload, signal);
  const message = outbound(row);
  if (!("path" in message)) return connection.send(row.to, message, signal);
  if (connection.sendFile) return connection.sendFile(row.to, message, signal);
  const text = `${message.caption ?? ""}\n[file: ${message.name}]`.trim();
  return connection.send(row.to, { text, idempotencyKey: row.key }, signal);
}

/** Without a mark a lost message cannot be found again. What went wrong while one was learnt; else nothing. */
async function learnt(
  row: OutboxRow,
  connection: PlatformConnection,
  signal: AbortSignal,
): Promise<Extract<SendResult, { ok: false }> | undefined> {
  if (!needsMark(row, connection)) return undefined;
  const result = await connection.learnMark?.(row.to, row.key, signal);
  if (!result || result.ok) return undefined;
  return result.kind === "unknown" ? { ...result, kind: "retry" } : result;
}

/** It would be looked for after a crash, and nobody could know where. */
export function needsMark(
  row: Pick<OutboxRow, "to" | "payload" | "ephemeral">,
  connection: PlatformConnection,
): boolean {
  if (!connection.learnMark || row.ephemeral || row.payload.type === "edit") return false;
  return (connection.mark?.(row.to) ?? null) === null;
}

async function lastWord(
  row: OutboxRow,
  connection: PlatformConnection,
  payload: Extract<OutboxRow["payload"], { type: "edit" }>,
  signal: AbortSignal,
): Promise<SendResult> {
  const { messageId, text, buttons } = payload;
  const message = { text, ...(buttons ? { buttons } : {}) };
  const edited = await connection.edit?.(row.to, messageId, message, signal);
  if (edited && (edited.ok || edited.kind !== "refused")) return edited;
  // The message is gone: its text is worth a message of its own.
  return connection.send(row.to, { ...message, idempotencyKey: row.key }, signal);
}

/** A send whose end nobody saw: looked for first; sent again only when it is not there. */
async function recover(row: OutboxRow, connection: PlatformConnection, sending: RowSending): Promise<SendResult> {
  const { mailbox, signal, now, log } = sending;
  const message = outbound(row);
  let proof: Awaited<ReturnType<NonNullable<PlatformConnection["findSent"]>>> = { sent: "unknown" };
  try {
    if (connection.findSent) {
      // What is above its mark came after it: also when nothing ran for days since.
      const since = Math.min(now(), row.createdAt) - KNOWN_MS;
      const known = new Set(await mailbox.knownMessages(row.platform, since));
      const remember = async (mark: string) => {
        await mailbox.sending(row.id, mark);
        sending.remember(mark);
      };
      proof = await connection.findSent({ to: row.to, message, mark: row.mark, known, remember }, signal);
    }
  } catch (error) {
    return { ok: false, kind: "unknown", reason: error instanceof Error ? error.message : String(error) };
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
  // A message that fills its limit has no room for the note.
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
    ...(buttons ? { buttons } : {}),
    ...("replyTo" in payload && payload.replyTo ? { replyTo: payload.replyTo } : {}),
    ...("silent" in payload && payload.silent ? { silent: true } : {}),
    idempotencyKey: key,
  };
}
