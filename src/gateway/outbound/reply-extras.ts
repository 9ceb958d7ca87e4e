// The configured extras of an answer: streaming, reasoning, footer.
import type { App } from "../../app/app.ts";
import type { Platform } from "../../core/chat/platform.ts";
import type { OpenedConversation } from "../../core/conversation.ts";
import type { LiveSettings } from "./live-reply.ts";

const THOUGHT_LINES = 15;

type Config = App["config"];
type Values = { readonly [key: string]: unknown };

/** A value of `display` for one platform: the platform's value, else the general one. */
function displaySetting(config: Config, platform: string, key: string): unknown {
  const own = (config.display.platforms as { readonly [name: string]: Values | undefined })[platform]?.[key];
  return own ?? (config.display as unknown as Values)[key];
}

/** Whether progress messages are removed at the end of a turn. */
function cleansUp(config: Config, platform: string): boolean {
  return displaySetting(config, platform, "cleanup_progress") === true;
}

/** Whether answers are streamed: the platform's setting, else `streaming.enabled`. */
function streams(config: Config, platform: string): boolean {
  const own = (config.display.platforms as { readonly [name: string]: Values | undefined })[platform]?.streaming;
  return typeof own === "boolean" ? own : config.streaming.enabled;
}

/** The start of the model's reasoning; empty when it is not shown. */
export function reasoningText(config: Config, platform: string, reasoning: string): string {
  if (displaySetting(config, platform, "show_reasoning") !== true || reasoning.trim() === "") return "";
  const lines = reasoning.trim().split("\n");
  const shown = lines.slice(0, THOUGHT_LINES).map((line) => `> ${line}`);
  return `💭\n${shown.join("\n")}${lines.length > THOUGHT_LINES ? "\n> …" : ""}\n\n`;
}

export interface FooterFacts {
  readonly opened: OpenedConversation;
  /** Tokens of the last prompt. */
  readonly contextTokens: number;
  readonly cwd: string;
}

function readField(name: string, { opened, contextTokens, cwd }: FooterFacts): string {
  if (name === "model") return opened.identity.model;
  if (name === "cwd") return cwd;
  if (name === "context_pct" && contextTokens > 0 && opened.contextLength > 0)
    return `${Math.round((contextTokens / opened.contextLength) * 100)} %`;
  return "";
}

/** `model · 12 % · ~/work`; empty when the footer is off. */
export function footer(config: Config, platform: string, facts: FooterFacts): string {
  const general = config.display.runtime_footer;
  const own = displaySetting(config, platform, "runtime_footer");
  const chosen = typeof own === "object" && own !== null ? { ...general, ...(own as Values) } : general;
  const on = typeof own === "boolean" ? own : chosen.enabled === true;
  if (!on) return "";
  const fields = (chosen.fields as readonly string[])
    .map((name) => readField(name, facts))
    .filter((part) => part !== "");
  return fields.length === 0 ? "" : `\n\n${fields.join(" · ")}`;
}

/** How much of a running turn this platform's chats see. */
export function liveSettings(config: Config, platform: Platform): LiveSettings {
  const { streaming, display } = config;
  const own = (display.platforms as { readonly [name: string]: { tool_progress?: string | undefined } | undefined })[
    platform.name
  ];
  const older = (display.tool_progress_overrides as { readonly [name: string]: unknown })[platform.name];
  const progress = String(own?.tool_progress ?? older ?? platform.toolProgress) as LiveSettings["progress"];
  const { transport, edit_interval: seconds, buffer_threshold: chars, cursor } = streaming;
  const freshMs = streaming.fresh_final_after_seconds * 1000;
  const on = streams(config, platform.name) && transport !== "off";
  const stream = on ? { everyMs: seconds * 1000, chars, cursor, freshMs } : null;
  return { stream, progress, cleanUp: cleansUp(config, platform.name) };
}
