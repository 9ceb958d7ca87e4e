// Builds the messages that a chat gets at the end of a turn.
import { existsSync } from "node:fs";
import type { Destination, Platform } from "../../core/chat/platform.ts";
import { splitText } from "../../core/chat/split-text.ts";
import type { AgentEvent } from "../../core/event.ts";
import type { NewOutgoing, OutboxPayload } from "../../core/store/mailbox.ts";
import { extractMedia } from "./media.ts";

export interface AnswerPlace {
  readonly platform: Platform;
  readonly to: Destination;
  /** Prefix of the rows' keys: the same for every attempt of this answer. */
  readonly key: string;
  readonly replyTo?: string | undefined;
  readonly replyMode: "off" | "first" | "all";
  /** Id of a sent message that already shows a part of the answer. */
  readonly streamId?: string | null | undefined;
  readonly prefix?: string | undefined;
}

type Ended = Extract<AgentEvent, { type: "ended" }>;

/** The text for a turn that ended without an answer of the model. */
export function formatEnd(ended: Ended): string {
  if (ended.end === "failed") {
    const { failure } = ended;
    const hint = failure?.hint ? `\n${failure.hint}` : "";
    return `${ended.text ? `${ended.text}\n\n` : ""}⚠️ ${failure?.message ?? "The turn failed."}${hint}`;
  }
  if (ended.text.trim() !== "") return ended.note ? `${ended.text}\n\n⚠️ ${ended.note}` : ended.text;
  return ended.end === "interrupted"
    ? "Stopped."
    : "(The model gave no answer. Ask again, or try another model with /model.)";
}

export function outgoingText(text: string, place: AnswerPlace): NewOutgoing[] {
  const { platform, to, key, replyTo, replyMode } = place;
  const parts = splitText(place.prefix ? `${place.prefix}${text}` : text, {
    max: platform.maxLength,
    unit: platform.lengthUnit,
  });
  return parts.map((part, index) => {
    const quoted = replyTo !== undefined && (replyMode === "all" || (replyMode === "first" && index === 0));
    const payload: OutboxPayload =
      index === 0 && place.streamId
        ? { type: "edit", messageId: place.streamId, text: part }
        : { type: "text", text: part, replyTo: quoted ? replyTo : undefined };
    return { key: `${key}:${index}`, platform: platform.name, to, payload };
  });
}

/** Text first, then each file; files that the platform cannot send are named in the text. */
export function outgoingAnswer(text: string, place: AnswerPlace): NewOutgoing[] {
  const { platform, to, key } = place;
  const media = extractMedia(text);
  const can = media.files.filter((file) => platform.capabilities.media.includes(file.kind) && existsSync(file.path));
  const cannot = media.files.filter((file) => !can.includes(file));
  const words = [media.text, ...cannot.map((file) => `[file: ${file.path}]`)]
    .filter((part) => part !== "")
    .join("\n\n");
  const texts = words === "" && can.length > 0 ? [] : outgoingText(words, place);
  const files = can.map(
    (file, index): NewOutgoing => ({
      key: `${key}:f${index}`,
      platform: platform.name,
      to,
      payload: { type: "file", ...file },
    }),
  );
  return [...texts, ...files];
}
