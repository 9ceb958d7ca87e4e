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
import { setTimeout as sleep } from "node:timers/promises";
import type { Destination, OutboundMessage, SendProof, SendResult, UnknownSend } from "../../core/platform.ts";

const PLACEHOLDER = "…";
/** More unaccounted ids than this would mean hundreds of calls: then it stays unknown. */
const MAX_PROBES = 400;
const MAX_WAITS = 20;

export interface Prober {
  send(to: Destination, message: OutboundMessage): Promise<SendResult>;
  /** `ok` also when the text stands there already. */
  edit(to: Destination, messageId: string, message: Omit<OutboundMessage, "idempotencyKey">): Promise<SendResult>;
  delete(to: Destination, messageId: string): Promise<SendResult>;
  /** Seen by this process: somebody's message, or one that it sent itself. */
  accounted(to: Destination, id: number): boolean;
  /** Messages of people are still coming in, and account for ids as they do. */
  arriving(): boolean;
  /** Sets the buttons: `same` when nothing changed, `other` when something did, `absent` when it is not the bot's. */
  probe(
    to: Destination,
    messageId: string,
    message: OutboundMessage,
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

async function placePlaceholder(
  prober: Prober,
  { to, message, mark, remember }: UnknownSend & { readonly message: OutboundMessage },
): Promise<string | null> {
  const placeholder: OutboundMessage = {
    text: PLACEHOLDER,
    silent: true,
    buttons: [[{ label: PLACEHOLDER, data: "look" }]],
    idempotencyKey: `${message.idempotencyKey}:look`,
  };
  const sent = await prober.send(to, placeholder);
  if (!sent.ok) {
    if (sent.kind === "refused") return null;
    throw new Error(sent.reason);
  }
  await remember?.(`${parseMark(mark ?? "0").after}/${sent.messageId}`);
  return sent.messageId;
}

export async function findSentText(
  prober: Prober,
  unknown: UnknownSend & { readonly message: OutboundMessage },
  signal: AbortSignal,
): Promise<SendProof> {
  const { to, message, mark, known } = unknown;
  if (mark === null) return { sent: "unknown" };
  const { after, placeholder: earlier } = parseMark(mark);
  const placeholder = earlier ?? (await placePlaceholder(prober, unknown));
  if (placeholder === null) return { sent: false };
  const ids: string[] = [];
  for (let id = after + 1; id < Number(placeholder) && ids.length <= MAX_PROBES; id++)
    if (!known.has(String(id)) && !prober.accounted(to, id)) ids.push(String(id));
  if (ids.length > MAX_PROBES) {
    if (prober.arriving()) throw new Error("people's messages are still arriving; it is looked for after them");
    await prober.delete(to, placeholder);
    return { sent: "unknown" };
  }
  for (const [index, messageId] of ids.entries()) {
    if (prober.accounted(to, Number(messageId))) continue;
    const found = await settled(() => prober.probe(to, messageId, message), signal);
    if (!found.ok) continue;
    if (!("same" in found) || found.same !== true) {
      await prober.delete(to, messageId);
      continue;
    }
    const written = await settled(() => prober.edit(to, messageId, message), signal);
    if (!written.ok) continue;
    for (const later of ids.slice(index + 1)) {
      if (prober.accounted(to, Number(later))) continue;
      const stray = await settled(() => prober.probe(to, later, message), signal);
      if (stray.ok) await prober.delete(to, later);
    }
    await prober.delete(to, placeholder);
    return { sent: true, messageId };
  }
  const written = await settled(() => prober.edit(to, placeholder, message), signal);
  return written.ok ? { sent: true, messageId: placeholder } : { sent: false };
}
