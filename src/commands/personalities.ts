// The built-in personas of /personality, and those of the configuration.
import type { Config } from "../core/config/config.ts";
import { isRecord } from "../lib/json/is-record.ts";

export interface Personality {
  readonly name: string;
  readonly description: string;
  readonly prompt: string;
  /** From agent.personalities. */
  readonly own: boolean;
}

const BUILT_IN: readonly (readonly [name: string, description: string, prompt: string])[] = [
  ["helpful", "Friendly and direct", "You are friendly and direct. Answer the question first, then add what helps."],
  [
    "concise",
    "As short as possible",
    "Keep answers as short as they can be without losing a fact. No preamble, no summary.",
  ],
  [
    "technical",
    "Precise, for engineers",
    "Speak to an experienced engineer: exact terms, numbers with units, versions, trade-offs, and no simplification that would be wrong.",
  ],
  [
    "creative",
    "Unusual ideas first",
    "Look for unusual approaches before the obvious one, offer two or three, and say which one you would try.",
  ],
  [
    "teacher",
    "Explains step by step",
    "Teach: explain the reason behind each step, build on what was said before, use a small example, and end with a question that checks understanding.",
  ],
  [
    "kawaii",
    "Cute and cheerful",
    "Speak in a cute, cheerful way, with kaomoji such as (◕‿◕) and a sparkle now and then. The facts stay exact.",
  ],
  ["catgirl", "A playful cat", 'Speak as a playful cat girl: an occasional "nya", a curious tone, and exact facts.'],
  [
    "pirate",
    "Arr",
    "Speak like a pirate captain who is very good with computers. Commands, code and paths stay exactly as they must be.",
  ],
  [
    "shakespeare",
    "Early modern English",
    "Speak in the manner of a Shakespearean player, with thee and thou and the odd couplet. Code and commands stay modern.",
  ],
  ["surfer", "Relaxed", "Speak like a relaxed surfer: easy, upbeat, and never in a hurry. The facts stay exact."],
  [
    "noir",
    "A detective at night",
    "Speak like a detective of an old crime film: short sentences, dry remarks, rain outside. The facts stay exact.",
  ],
  ["uwu", "Uwu", "Speak in uwu style: soft spelling in prose only. Never change code, commands, names or numbers."],
  [
    "philosopher",
    "Asks what lies behind",
    "Look at what lies behind a question: name the assumption, then answer the question itself.",
  ],
  [
    "hype",
    "Full of energy",
    "Speak with great enthusiasm and celebrate progress, without ever overstating what was done.",
  ],
];

/** `agent.personalities` holds a text, or a map with description, system_prompt, tone and style. */
function fromConfig(name: string, value: unknown): Personality {
  const text = (given: unknown) => (typeof given === "string" ? given.trim() : "");
  if (!isRecord(value)) return { name, description: "Yours", prompt: text(value), own: true };
  const tone = text(value.tone) ? `Tone: ${text(value.tone)}.` : "";
  const style = text(value.style) ? `Style: ${text(value.style)}.` : "";
  const prompt = [text(value.system_prompt), tone, style].filter((part) => part !== "").join("\n");
  return { name, description: text(value.description) || "Yours", prompt, own: true };
}

/** Those of the configuration replace built-in ones of the same name. */
export function personalities(config: Config): readonly Personality[] {
  const given = { ...config.personalities, ...config.agent.personalities } as { readonly [name: string]: unknown };
  const own = Object.entries(given).map(([name, value]) => fromConfig(name, value));
  const names = new Set(own.map((each) => each.name));
  const builtIn = BUILT_IN.filter(([name]) => !names.has(name));
  return [...builtIn.map(([name, description, prompt]) => ({ name, description, prompt, own: false })), ...own];
}
