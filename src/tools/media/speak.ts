// Text to speech with an OpenAI-compatible service, as Ogg Opus, the format of voice notes.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";

const LIMIT_MS = 120_000;
const MAX_CHARS = 4_000;

export interface SpeechService {
  readonly label: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly model: string;
  readonly voice: string;
}

/** The text to be spoken: without code, addresses and Markdown marks. */
export function speakableText(text: string): string {
  return text
    .replaceAll(/```[\s\S]*?```/g, " ")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/https?:\/\/\S+/g, " ")
    .replaceAll(/[*_`#>|~]/g, "")
    .replaceAll(/[ \t]+/g, " ")
    .trim()
    .slice(0, MAX_CHARS);
}

/** Writes the recording to `folder` and returns its path. Throws when the service fails. */
export async function speak(text: string, service: SpeechService, folder: string): Promise<string> {
  const response = await fetch(`${service.baseUrl.replace(/\/+$/, "")}/audio/speech`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(service.key ? { authorization: `Bearer ${service.key}` } : {}) },
    body: JSON.stringify({ model: service.model, voice: service.voice, input: text, response_format: "opus" }),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  if (!response.ok) throw new Error(`${service.label} answered ${response.status}`);
  const path = join(folder, `audio_${randomBytes(6).toString("hex")}.ogg`);
  await atomicWrite(path, new Uint8Array(await response.arrayBuffer()), 0o600);
  return path;
}
