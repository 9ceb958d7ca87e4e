// Was a message delivered before the program died? Telegram has no way to read back, but it has edits that change nothing.
//
// Message ids only grow, and one chat is written to by one message at a time. So the lost message, if it exists, is the
// bot's first one in the chat above the mark; whatever else of the bot stands there are placeholders of searches that
// were cut off. A silent placeholder with a button is sent first: its id is above everything older. Then the ids from
// the mark up to it that are not accounted for are asked one by one, by an edit of their buttons to those of the lost
// message. "Not modified" says: a message of the bot with these buttons stands here; it is set to the text in question,
// which changes nothing if it is the lost one, and turns a left-over of the bot into the answer if not. An edit that
// succeeds has met a placeholder: it is removed, as are all that follow. The order matters: a placeholder that lost its
// button to an edit and was not removed, because the program died in between, looks like the lost message.
// If nothing is found, the placeholder becomes the answer. In each case the answer is on the screen exactly once.
//
// A file is looked for in the same way; instead of the text its caption is set, which only a file has. If it is not
// found, the placeholder is removed and the file is sent.
//
// In channels a bot may change what other people wrote, and what it may change would be taken for its own: nothing is
// looked for there.
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Destination,
  isFile,
  type OutboundFile,
  type OutboundMessage,
  type SendProof,
  type SendResult,
  type UnknownSend,
} from "../../core/platform.ts";

const PLACEHOLDER = "…";
/** More unaccounted ids than this would mean hundreds of calls: then it stays unknown. */
const MAX_PROBES = 400;
const MAX_WAITS = 20;

export interface Prober {
  /** Other people's posts can be changed there. */
  isChannel(to: Destination): Promise<boolean>;
  send(to: Destination, message: OutboundMessage): Promise<SendResult>;
  /** Sets the text, or a file's caption; `ok` also when it stands there already. */
  write(to: Destination, messageId: string, message: OutboundMessage | OutboundFile): Promise<SendResult>;
  delete(to: Destination, messageId: string): Promise<SendResult>;
  /** Seen by this process: somebody's message, or one that it sent itself. */
  accounted(to: Destination, id: number): boolean;
  /** Messages of people are still coming in, and account for ids as they do. */
  arriving(): boolean;
  /** Sets the buttons: `same` when nothing changed; refused when it is not the bot's, or not there. */
  probe(
    to: Destination,
    messageId: string,
    message: OutboundMessage | OutboundFile,
  ): Promise<SendResult & { readonly same?: boolean }>;
}

/** Waits as long as the platform asks; throws when no answer can be had, and the question is put again later. */
async function settled(call: () => Promise<SendResult>, signal: AbortSignal): Promise<SendResult> {
  for (let waits = 0; ; waits++) {
    const result = await call();
    if (result.ok || result.kind === "refused") return result;
    if (waits >= MAX_WAITS || signal.aborted) throw new Error(result.reason);
    const ms = result.kind === "retry" ? (result.retryAfterMs ?? 500) : 500;
    await sleep(ms, undefined, { signal });
  }
}

/** A mark is the highest id before the send, and once a search has begun, the id of its placeholder. */
function parseMark(mark: string): { after: number; placeholder: string | undefined } {
  const [after, placeholder] = mark.split("/");
  return { after: Number(after), placeholder };
}

/** Silent, and with a button, by which a left-over is told from a message. */
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

/** The ids that the message may have; null when there are too many to ask for. */
function candidates(prober: Prober, { to, known }: UnknownSend, after: number, before: number): string[] | null {
  const ids: string[] = [];
  for (let id = after + 1; id < before; id++) {
    if (known.has(String(id)) || prober.accounted(to, id)) continue;
    ids.push(String(id));
    if (ids.length > MAX_PROBES) return null;
  }
  return ids;
}

/** The one of them that is the message; placeholders of earlier searches are removed on the way. */
async function findAmong(
  ids: readonly string[],
  prober: Prober,
  { to, message }: UnknownSend,
  signal: AbortSignal,
): Promise<string | null> {
  for (const [index, messageId] of ids.entries()) {
    if (prober.accounted(to, Number(messageId))) continue;
    const found = await settled(() => prober.probe(to, messageId, message), signal);
    if (!found.ok) continue;
    if (!("same" in found) || found.same !== true) {
      await prober.delete(to, messageId);
      continue;
    }
    const written = await settled(() => prober.write(to, messageId, message), signal);
    if (!written.ok) continue;
    for (const later of ids.slice(index + 1)) {
      if (prober.accounted(to, Number(later))) continue;
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
    if (prober.arriving()) throw new Error("people's messages are still arriving; it is looked for after them");
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
