// How this home listens and speaks: from `stt`, `tts` and the environment to one service or program each.
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import type { Speaking } from "../tools/media/speak.ts";
import type { Listening, Transcript } from "../tools/media/transcribe.ts";
import type { App } from "./app.ts";

const OPENAI = "https://api.openai.com/v1";
const WHISPER =
  "whisper {input_path} --model {model} --language {language} --output_format txt --output_dir {output_dir}";

type Found<T> = { readonly ok: true; readonly by: T } | { readonly ok: false; readonly reason: string };

const no = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });

function inPath(program: string, path: string): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      // Not in this folder.
      return false;
    }
  });
}

/** The key of OpenAI itself goes to OpenAI only; another server gets the one that was made for voice, or none. */
function openaiKey(app: App, baseUrl: string): string | undefined {
  const { VOICE_TOOLS_OPENAI_KEY: own, OPENAI_API_KEY: general } = app.home.env;
  return own || (baseUrl === OPENAI ? general : undefined) || undefined;
}

function localProgram(app: App): Listening | undefined {
  const { local } = app.config.stt;
  const { HERMES_LOCAL_STT_COMMAND: given, HERMES_LOCAL_STT_LANGUAGE: language = "", PATH = "" } = app.home.env;
  const command = given?.trim() || (inPath("whisper", PATH) ? WHISPER : "");
  if (command === "") return undefined;
  return { kind: "command", command, model: local.model, language: local.language || language };
}

function service(app: App, name: string): Listening | undefined {
  const { stt } = app.config;
  const { env } = app.home;
  const language = stt.local.language;
  if (name === "openai") {
    const baseUrl = stt.openai.base_url || env.STT_OPENAI_BASE_URL || OPENAI;
    const key = openaiKey(app, baseUrl);
    if (!key && baseUrl === OPENAI) return undefined;
    return { kind: "service", label: "OpenAI", baseUrl, key, model: stt.openai.model, language };
  }
  if (name === "groq" && env.GROQ_API_KEY) {
    const { model } = stt.groq as { readonly model?: string | undefined };
    const baseUrl = env.GROQ_BASE_URL || "https://api.groq.com/openai/v1";
    const chosen = model || env.STT_GROQ_MODEL || "whisper-large-v3-turbo";
    return { kind: "service", label: "Groq", baseUrl, key: env.GROQ_API_KEY, model: chosen, language };
  }
  if (name === "mistral" && env.MISTRAL_API_KEY)
    return {
      kind: "service",
      label: "Mistral",
      baseUrl: "https://api.mistral.ai/v1",
      key: env.MISTRAL_API_KEY,
      model: stt.mistral.model,
      language,
    };
  return undefined;
}

/** What listens here. `local` means: a program of this machine, else whichever service has a key. */
export function speechToText(app: App): Found<Listening> {
  const { stt } = app.config;
  if (!stt.enabled) return no("listening is switched off (stt.enabled)");
  if (stt.provider !== "local") {
    const by = service(app, stt.provider);
    return by ? { ok: true, by } : no(`stt.provider is ${stt.provider}, and its key is not set`);
  }
  const by =
    localProgram(app) ?? ["groq", "openai", "mistral"].map((name) => service(app, name)).find((found) => found);
  return by
    ? { ok: true, by }
    : no(
        "nothing that understands speech is set up: install whisper, set HERMES_LOCAL_STT_COMMAND, or choose a service with stt.provider",
      );
}

export function textToSpeech(app: App): Found<Speaking> {
  const { tts } = app.config;
  if (tts.provider !== "openai") return no("set tts.provider to openai and VOICE_TOOLS_OPENAI_KEY");
  const baseUrl = tts.openai.base_url || OPENAI;
  const key = openaiKey(app, baseUrl);
  if (!key && baseUrl === OPENAI) return no("VOICE_TOOLS_OPENAI_KEY is not set");
  return { ok: true, by: { label: "OpenAI", baseUrl, key, model: tts.openai.model, voice: tts.openai.voice } };
}

/** The words of a recording; the reason names what is missing. */
export async function listen(app: App, path: string): Promise<Transcript & { readonly unset?: boolean | undefined }> {
  const found = speechToText(app);
  if (!found.ok) return { ...found, unset: true };
  const [{ transcribe }, { runToEnd }, { commandEnvironment }] = await Promise.all([
    import("../tools/media/transcribe.ts"),
    import("../lib/process/run-to-end.ts"),
    import("./command-environment.ts"),
  ]);
  const env = commandEnvironment(app.home, app.config);
  const result = await transcribe(path, found.by, (argv, timeoutMs) =>
    runToEnd(argv, { cwd: app.home.path, env, timeoutMs }),
  );
  return result.ok ? result : { ok: false, reason: app.redact(result.reason) };
}

/** A voice note with these words; null when there is nothing to say. Throws when nothing can speak. */
export async function say(app: App, text: string): Promise<string | null> {
  const found = textToSpeech(app);
  if (!found.ok) throw new Error(found.reason);
  const { speak, spoken } = await import("../tools/media/speak.ts");
  const words = spoken(text);
  return words === "" ? null : speak(words, found.by, join(app.home.path, "cache", "audio"));
}
