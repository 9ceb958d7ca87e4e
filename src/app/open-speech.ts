// Speech of a running program: transcribes recordings and makes voice notes with what is configured.
import { join } from "node:path";
import { findSpeechService, findTranscriber } from "../tools/media/speech-settings.ts";
import type { Transcript } from "../tools/media/transcribe.ts";
import type { App } from "./app.ts";

export function textToSpeech(app: App): ReturnType<typeof findSpeechService> {
  return findSpeechService(app);
}

/** The text of a recording; `unset` when nothing is configured, with the reason. */
export async function listen(app: App, path: string): Promise<Transcript & { readonly unset?: boolean | undefined }> {
  const found = findTranscriber(app);
  if (!found.ok) return { ...found, unset: true };
  const [{ transcribe }, { runToEnd }, { configuredEnvironment }] = await Promise.all([
    import("../tools/media/transcribe.ts"),
    import("../lib/process/run-to-end.ts"),
    import("./command-environment.ts"),
  ]);
  const env = configuredEnvironment(app.home, app.config);
  const result = await transcribe(path, found.service, (argv, timeoutMs) =>
    runToEnd(argv, { cwd: app.home.path, env, timeoutMs }),
  );
  return result.ok ? result : { ok: false, reason: app.redact(result.reason) };
}

/** The path of a voice note with this text; null when the text has nothing to speak. Throws when nothing is configured. */
export async function say(app: App, text: string): Promise<string | null> {
  const found = findSpeechService(app);
  if (!found.ok) throw new Error(found.reason);
  const { speak, speakableText } = await import("../tools/media/speak.ts");
  const words = speakableText(text);
  return words === "" ? null : speak(words, found.service, join(app.home.path, "cache", "audio"));
}
