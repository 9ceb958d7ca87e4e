// The answer as a voice note, for chats that want it.

import type { InboxRow, NewOutgoing } from "../../core/store/mailbox.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import type { AnswerPlace } from "./answer.ts";
import { extractMedia } from "./media.ts";

/** Sent before the text; empty when it is not wanted or could not be created. */
export async function spokenAnswer(
  { voice, opened, log }: GatewayContext,
  { event }: InboxRow,
  text: string,
  { platform, to, key }: AnswerPlace,
): Promise<NewOutgoing[]> {
  const mode = voice.modeFor(event.source);
  const asked = mode === "all" || (mode === "voice_only" && event.attachments?.some(({ kind }) => kind === "voice"));
  if (!asked || !platform.capabilities.media.includes("voice")) return [];
  try {
    const path = await opened.say(extractMedia(text).text);
    if (path === null) return [];
    const payload = { type: "file" as const, kind: "voice" as const, path, name: "answer.ogg" };
    return [{ key: `${key}:voice`, platform: platform.name, to, payload }];
  } catch (error) {
    log("warning", `a voice note could not be created: ${errorMessage(error)}`);
    return [];
  }
}
