// Which chats get voice notes: gateway_voice_mode.json, in v0.14's format.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Source } from "../../core/chat/platform.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

/** Voice notes never, only in answer to one, or always. */
export type VoiceMode = "off" | "voice_only" | "all";

const WORDS: { readonly [word: string]: VoiceMode } = { on: "voice_only", tts: "all", off: "off" };
const DESCRIPTIONS: { readonly [mode in VoiceMode]: string } = {
  off: "Answers are sent as text.",
  voice_only: "Voice notes are answered with a voice note and text.",
  all: "Every answer is sent as a voice note and text.",
};

export class VoiceModes {
  readonly #path: string;
  readonly #modes: Map<string, string>;

  private constructor(path: string, modes: Map<string, string>) {
    this.#path = path;
    this.#modes = modes;
  }

  static async open(homePath: string): Promise<VoiceModes> {
    const path = join(homePath, "gateway_voice_mode.json");
    const stored = parseJson(await readFile(path, "utf8").catch(() => "{}"));
    const entries = typeof stored === "object" && stored !== null ? Object.entries(stored) : [];
    return new VoiceModes(path, new Map(entries.map(([key, value]) => [key, String(value)])));
  }

  #key({ platform, chatId }: Source): string {
    return `${platform}:${chatId}`;
  }

  modeFor(source: Source): VoiceMode {
    const mode = this.#modes.get(this.#key(source));
    return mode === "voice_only" || mode === "all" ? mode : "off";
  }

  /** `/voice on|tts|off|status`. `problem` says why speech is not available; undefined when it is. */
  async command(args: string, source: Source, problem: string | undefined): Promise<string> {
    const word = args.trim().toLowerCase();
    const chosen = WORDS[word];
    if (word === "join" || word === "leave") return "Voice channels are not supported here.";
    if (chosen === undefined && word !== "" && word !== "status")
      return "Usage: /voice on (answer voice notes by voice), /voice tts (all answers), /voice off or /voice status";
    if (chosen !== undefined) {
      if (chosen !== "off" && problem !== undefined) return `Speech is not available: ${problem}`;
      this.#modes.set(this.#key(source), chosen);
      await atomicWrite(this.#path, `${JSON.stringify(Object.fromEntries(this.#modes), null, 2)}\n`, 0o600);
    }
    return DESCRIPTIONS[this.modeFor(source)];
  }
}
