// Finds out whether a message was delivered before a crash. Telegram cannot list messages, but it reports edits that
// change nothing.
//
// Message ids only grow, and one message at a time is sent to a chat. So the lost message, if it exists, is the bot's
// first one in the chat above the mark; any others are placeholders of interrupted searches. The search first sends a
// silent placeholder with a button: its id is above all older ones. Then it tries each unknown id from the mark up to the
// placeholder, by setting its buttons to those of the lost message. "Not modified" means that a message of the bot with
// these buttons is there. The search sets its text, which changes nothing if it is the lost message and turns a left-over
// placeholder into the answer if not. An edit that succeeds has found a placeholder, which is deleted, as are all that
// follow. The order matters: a placeholder that lost its button and was not deleted because of a crash looks like the
// lost message. If nothing is found, the placeholder becomes the answer. In each case the answer appears exactly once.
//
// Files are searched for in the same way, by setting the caption, which only a file has. If the file is not found, the
// placeholder is deleted and the file is sent.
//
// In channels a bot may edit posts of others and would take them for its own, so there is no search in channels.
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Destination,
  isFile,
  type OutboundFile,
  type OutboundMessage,
  type SendProof,
  type SendResult,
  type UnknownSend,
} from "../../core/chat/platform.ts";

const PLACEHOLDER = "…";
/** With more unknown ids than this the search would need hundreds of calls: the outcome stays unknown. */
const MAX_PROBES = 400;
const MAX_WAITS = 20;

export interface Prober {
  /** True for a channel, where the bot can edit posts of others. */
  isChannel(to: Destination): Promise<boolean>;
  send(to: Destination, message: OutboundMessage): Promise<SendResult>;
  /** Sets the text, or a file's caption; `ok` also when it did not change. */
  write(to: Destination, messageId: string, message: OutboundMessage | OutboundFile): Promise<SendResult>;
  delete(to: Destination, messageId: string): Promise<SendResult>;
  /** True when this process has received or sent a message with this id. */
  isKnown(to: Destination, id: number): boolean;
  /** True while more updates may arrive, which make more ids known. */
  updatesArriving(): boolean;
  /** Sets the buttons: `same` when nothing changed; refused when the message is not the bot's or does not exist. */
  probe(
    to: Destination,
    messageId: string,
    message: OutboundMessage | OutboundFile,
  ): Promise<SendResult & { readonly same?: boolean }>;
}

/** Waits as long as the platform asks; throws when there is no answer, and the search is repeated later. */
async function settled(call: () => Promise<SendResult>, signal: AbortSignal): Promise<SendResult> {
  for (let waits = 0; ; waits++) {
    const result = await call();
    if (result.ok || result.kind === "refused") return result;
    if (waits >= MAX_WAITS || signal.aborted) throw new Error(result.reason);
    const ms = result.kind === "retry" ? (result.retryAfterMs ?? 500) : 500;
    await sleep(ms, undefined, { signal });
  }
}

/** A mark is the highest id before the send, and after the start of a search also the id of its placeholder. */
function parseMark(mark: string): { after: number; placeholder: string | undefined } {
  const [after, placeholder] = mark.split("/");
  return { after: Number(after), placeholder };
}

/** Silent, and with a button, which distinguishes a placeholder from a message. */
export function placeholderFor(key: string): OutboundMessage {
  return {
    text: PLACEHOLDER,
    silent: true,
    buttons: [[{ label: PLACEHOLDER, data: "look" }]],
    idempotencyKey: `${key}:look`,
  };
}

async function placePlaceholder(prober: Prober, { to, message, mark, remember }: UnknownSend): Promise<string | null> {
  const sent = await prober.send(to, placeholderFor(message.idempotencyKey));
  if (!sent.ok) {
    if (sent.kind === "refused") return null;
    throw new Error(sent.reason);
  }
  await remember?.(`${parseMark(mark ?? "0").after}/${sent.messageId}`);
  return sent.messageId;
}

/** The ids that the message may have; null when there are too many. */
function candidates(prober: Prober, { to, known }: UnknownSend, after: number, before: number): string[] | null {
  const ids: string[] = [];
  for (let id = after + 1; id < before; id++) {
    if (known.has(String(id)) || prober.isKnown(to, id)) continue;
    ids.push(String(id));
    if (ids.length > MAX_PROBES) return null;
  }
  return ids;
}

/** Finds the message among the ids and deletes placeholders of earlier searches. */
async function findAmong(
  ids: readonly string[],
  prober: Prober,
  { to, message }: UnknownSend,
  signal: AbortSignal,
): Promise<string | null> {
  for (const [index, messageId] of ids.entries()) {
    if (prober.isKnown(to, Number(messageId))) continue;
    const found = await settled(() => prober.probe(to, messageId, message), signal);
    if (!found.ok) continue;
    if (!("same" in found) || found.same !== true) {
      await prober.delete(to, messageId);
      continue;
    }
    const written = await settled(() => prober.write(to, messageId, message), signal);
    if (!written.ok) continue;
    for (const later of ids.slice(index + 1)) {
      if (prober.isKnown(to, Number(later))) continue;
      const stray = await settled(() => prober.probe(to, later, message), signal);
      if (stray.ok) await prober.delete(to, later);
    }
    return messageId;
  }
  return null;
}

export async function findSentMessage(prober: Prober, unknown: UnknownSend, signal: AbortSignal): Promise<SendProof> {
  const { to, message, mark } = unknown;
  if (mark === null || (await prober.isChannel(to))) return { sent: "unknown" };
  const { after, placeholder: earlier } = parseMark(mark);
  const placeholder = earlier ?? (await placePlaceholder(prober, unknown));
  if (placeholder === null) return { sent: false };
  const ids = candidates(prober, unknown, after, Number(placeholder));
  if (ids === null) {
    if (prober.updatesArriving()) throw new Error("updates are still arriving; the search follows");
    await prober.delete(to, placeholder);
    return { sent: "unknown" };
  }
  const messageId = await findAmong(ids, prober, unknown, signal);
  if (messageId !== null || isFile(message)) {
    await prober.delete(to, placeholder);
    return messageId === null ? { sent: false } : { sent: true, messageId };
  }
  const written = await settled(() => prober.write(to, placeholder, message), signal);
  return written.ok ? { sent: true, messageId: placeholder } : { sent: false };
}
