// A delivery as rows of the outbox: its text in parts, then its files. The same delivery always gets the same keys.
import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { detectMediaKind } from "../../core/chat/outgoing-media.ts";
import type { Platform } from "../../core/chat/platform.ts";
import { splitText } from "../../core/chat/split-text.ts";
import type { DeliveryMessage, DeliveryTarget } from "../../core/job.ts";
import type { NewOutgoing } from "../../core/store/mailbox.ts";

/** Key prefix of deliveries of jobs: any process that holds the outbox may send them. */
export const JOB_KEYS = "job:";

function buildKey({ platform, chatId, threadId }: DeliveryTarget, message: DeliveryMessage): string {
  const kind = message.jobId === undefined ? "message:" : `${JOB_KEYS}${message.jobId}:`;
  if (message.key === undefined) return `${kind}${randomUUID()}`;
  return `${kind}${message.key}:${platform}:${chatId}:${threadId ?? ""}`;
}

export function deliveryRows(platform: Platform, target: DeliveryTarget, message: DeliveryMessage): NewOutgoing[] {
  const to = { chatId: target.chatId, threadId: target.threadId || undefined };
  const key = buildKey(target, message);
  const limits = { max: platform.maxLength, unit: platform.lengthUnit };
  const texts = message.text.trim() === "" ? [] : splitText(message.text, limits);
  return [
    ...texts.map((text, index): NewOutgoing => {
      return { key: `${key}:${index}`, platform: platform.name, to, payload: { type: "text", text } };
    }),
    ...message.media.map((path, index): NewOutgoing => {
      const payload = {
        type: "file",
        kind: detectMediaKind(path, message.mediaOptions),
        path,
        name: basename(path),
      } as const;
      return { key: `${key}:f${index}`, platform: platform.name, to, payload };
    }),
  ];
}
