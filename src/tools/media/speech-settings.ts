// Chooses the services or programs for speech to text and text to speech, from the configuration and the environment.
import type { Config } from "../../core/config/config.ts";
import type { Home } from "../../core/home.ts";
import { which } from "../../lib/which.ts";
import type { SpeechService } from "./speak.ts";
import type { Transcriber } from "./transcribe.ts";

export interface SpeechHost {
  readonly home: Home;
  readonly config: Pick<Config, "stt" | "tts">;
}

const OPENAI = "https://api.openai.com/v1";
const WHISPER =
  "whisper {input_path} --model {model} --language {language} --output_format txt --output_dir {output_dir}";

type Found<T> = { readonly ok: true; readonly service: T } | { readonly ok: false; readonly reason: string };

const missing = (reason: string): { readonly ok: false; readonly reason: string } => ({ ok: false, reason });

/** OPENAI_API_KEY is sent to OpenAI only; other servers get VOICE_TOOLS_OPENAI_KEY or no key. */
function openaiKey(host: SpeechHost, baseUrl: string): string | undefined {
  const { VOICE_TOOLS_OPENAI_KEY: voiceKey, OPENAI_API_KEY: general } = host.home.env;
  return voiceKey || (baseUrl === OPENAI ? general : undefined) || undefined;
}

function localProgram(host: SpeechHost): Transcriber | undefined {
  const { local } = host.config.stt;
  const { HERMES_LOCAL_STT_COMMAND: given, HERMES_LOCAL_STT_LANGUAGE: language = "", PATH } = host.home.env;
  const command = given?.trim() || (which("whisper", PATH) ? WHISPER : "");
  if (command === "") return undefined;
  return { kind: "command", command, model: local.model, language: local.language || language };
}

function findService(host: SpeechHost, name: string): Transcriber | undefined {
  const { stt } = host.config;
  const { env } = host.home;
  const language = stt.local.language;
  if (name === "openai") {
    const baseUrl = stt.openai.base_url || env.STT_OPENAI_BASE_URL || OPENAI;
    const key = openaiKey(host, baseUrl);
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

/** Speech to text. `stt.provider: local` means a local program, or else the first service that has a key. */
export function findTranscriber(host: SpeechHost): Found<Transcriber> {
  const { stt } = host.config;
  if (!stt.enabled) return missing("speech to text is switched off (stt.enabled)");
  if (stt.provider !== "local") {
    const service = findService(host, stt.provider);
    return service ? { ok: true, service } : missing(`stt.provider is ${stt.provider}, but its key is not set`);
  }
  const names = ["groq", "openai", "mistral"];
  const service = localProgram(host) ?? names.map((name) => findService(host, name)).find((found) => found);
  return service
    ? { ok: true, service }
    : missing(
        "speech to text is not set up: install whisper, set HERMES_LOCAL_STT_COMMAND, or choose a service with stt.provider",
      );
}

export function findSpeechService(host: SpeechHost): Found<SpeechService> {
  const { tts } = host.config;
  if (tts.provider !== "openai") return missing("set tts.provider to openai and VOICE_TOOLS_OPENAI_KEY");
  const baseUrl = tts.openai.base_url || OPENAI;
  const key = openaiKey(host, baseUrl);
  if (!key && baseUrl === OPENAI) return missing("VOICE_TOOLS_OPENAI_KEY is not set");
  return { ok: true, service: { label: "OpenAI", baseUrl, key, model: tts.openai.model, voice: tts.openai.voice } };
}
