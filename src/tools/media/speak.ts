// Text to speech by an OpenAI-compatible service, as Ogg Opus: what chat platforms show as a voice note.
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { atomicWrite } from "../../lib/atomic-write.ts";

const LIMIT_MS = 120_000;
const MAX_CHARS = 4_000;

export interface Speaking {
  readonly label: string;
  readonly baseUrl: string;
  readonly key: string | undefined;
  readonly model: string;
  readonly voice: string;
}

/** Words as they are said: without code, links' addresses and marks. */
export function spoken(text: string): string {
  return text
    .replaceAll(/```[\s\S]*?```/g, " ")
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/https?:\/\/\S+/g, " ")
    .replaceAll(/[*_`#>|~]/g, "")
    .replaceAll(/[ \t]+/g, " ")
    .trim()
    .slice(0, MAX_CHARS);
}

/** The path of the recording. Throws when there is none. */
export async function speak(text: string, by: Speaking, folder: string): Promise<string> {
  const response = await fetch(`${by.baseUrl.replace(/\/+$/, "")}/audio/speech`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(by.key ? { authorization: `Bearer ${by.key}` } : {}) },
    body: JSON.stringify({ model: by.model, voice: by.voice, input: text, response_format: "opus" }),
    signal: AbortSignal.timeout(LIMIT_MS),
  });
  if (!response.ok) throw new Error(`${by.label} answered ${response.status}`);
  const path = join(folder, `audio_${randomBytes(6).toString("hex")}.ogg`);
  await atomicWrite(path, new Uint8Array(await response.arrayBuffer()), 0o600);
  return path;
}
