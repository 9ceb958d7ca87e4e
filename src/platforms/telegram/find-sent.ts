// Was a message delivered before the program died? Telegram has no way to read back, but it has edits that change nothing.
//
// Message ids only grow. Whatever was sent after the mark has an id above it, and a new message has an id above that. So a
// silent placeholder is sent first: the lost message, if it exists, lies between the mark and the placeholder. Each id in
// between that is not accounted for is edited to the very text in question. Telegram answers "not modified" if that text
// stands there already, refuses if the id is not the bot's own message in this chat, and otherwise turns a left-over of the
// bot into the answer. In each case the answer is on the screen exactly once. Is nothing found, the placeholder becomes it.
import { setTimeout as sleep } from "node:timers/promises";
import type { Destination, OutboundMessage, SendProof, SendResult, UnknownSend } from "../../core/platform.ts";

const PLACEHOLDER = "…";
/** More unaccounted ids than this would mean hundreds of calls: then it stays unknown. */
const MAX_PROBES = 250;
const MAX_WAITS = 20;

export interface Prober {
  send(to: Destination, message: OutboundMessage): Promise<SendResult>;
  /** `ok` also when the text stands there already. */
  edit(to: Destination, messageId: string, message: Omit<OutboundMessage, "idempotencyKey">): Promise<SendResult>;
  delete(to: Destination, messageId: string): Promise<SendResult>;
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

export async function findSentText(
  prober: Prober,
  unknown: UnknownSend & { readonly message: OutboundMessage },
  signal: AbortSignal,
): Promise<SendProof> {
  const { to, message, mark, known } = unknown;
  if (mark === null) return { sent: "unknown" };
  const placeholder: OutboundMessage = {
    text: PLACEHOLDER,
    silent: true,
    idempotencyKey: `${message.idempotencyKey}:look`,
  };
  const probe = await prober.send(to, placeholder);
  if (!probe.ok) {
    if (probe.kind === "refused") return { sent: false };
    throw new Error(probe.reason);
  }
  const last = Number(probe.messageId);
  const ids: string[] = [];
  for (let id = Number(mark) + 1; id < last && ids.length <= MAX_PROBES; id++)
    if (!known.has(String(id))) ids.push(String(id));
  if (ids.length > MAX_PROBES) {
    await prober.delete(to, probe.messageId);
    return { sent: "unknown" };
  }
  for (const messageId of ids) {
    const result = await settled(() => prober.edit(to, messageId, message), signal);
    if (!result.ok) continue;
    await prober.delete(to, probe.messageId);
    return { sent: true, messageId };
  }
  const written = await settled(() => prober.edit(to, probe.messageId, message), signal);
  return written.ok ? { sent: true, messageId: probe.messageId } : { sent: false };
}
