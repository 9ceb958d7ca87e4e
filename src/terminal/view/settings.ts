// The `display.*` settings as the screen uses them.
import type { Config } from "../../core/config/config.ts";
import type { MarkdownMode } from "./markdown/stream.ts";
import type { BusySign, Indicator } from "./turn/spinner.ts";
import type { ThinkingMode } from "./turn/thinking.ts";
import type { ToolProgress } from "./turn/turn-view.ts";

type Display = Config["display"];
type Details = "hidden" | "collapsed" | "expanded";

export interface ViewSettings {
  readonly skin: string;
  readonly language: string;
  readonly markdown: MarkdownMode;
  readonly thinking: ThinkingMode;
  readonly toolProgress: ToolProgress;
  readonly toolOutput: boolean;
  readonly subagentTree: boolean;
  /** Show notices that are not warnings. */
  readonly activity: boolean;
  readonly previewLength: number;
  readonly inlineDiffs: boolean;
  readonly showCost: boolean;
  readonly timestamps: boolean;
  readonly busy: BusySign;
  readonly firstLines: number;
  readonly lastLines: number;
  readonly compactBanner: boolean;
  readonly compact: boolean;
  readonly recap: boolean;
  /** Above or below the composer. */
  readonly statusBar: "top" | "bottom" | "off";
  readonly timeZone?: string | undefined;
}

function isDetails(value: unknown): value is Details {
  return value === "hidden" || value === "collapsed" || value === "expanded";
}

function thinkingMode(display: Display, details: Details): ThinkingMode {
  if (display.show_reasoning) return "full";
  const mode = display.thinking_mode;
  if (mode === "collapsed" || mode === "truncated" || mode === "full") return mode;
  return details === "expanded" ? "full" : details;
}

function statusBarPlace(value: string | boolean): ViewSettings["statusBar"] {
  if (value === false || value === "off") return "off";
  return value === "bottom" ? "bottom" : "top";
}

/** `verbose` is the command line's flag, which wins over `display.tool_progress`. */
export function viewSettings(display: Display, options: { verbose: boolean; timeZone?: string }): ViewSettings {
  const section = (name: string): Details => {
    const value = (display.sections as { readonly [section: string]: unknown })[name];
    return isDetails(value) ? value : display.details_mode;
  };
  const progress: ToolProgress = options.verbose ? "verbose" : display.tool_progress;
  const tools = section("tools");
  const { first_lines: firstLines, last_lines: lastLines } = display.user_message_preview;
  return {
    skin: display.skin,
    language: display.language,
    markdown: display.final_response_markdown,
    thinking: thinkingMode(display, section("thinking")),
    toolProgress: tools === "hidden" && !options.verbose ? "off" : progress,
    toolOutput: progress === "verbose" || tools === "expanded",
    subagentTree: section("subagents") !== "hidden",
    activity: section("activity") !== "hidden",
    previewLength: display.tool_preview_length,
    inlineDiffs: display.inline_diffs,
    showCost: display.show_cost,
    timestamps: display.timestamps,
    busy: { indicator: display.tui_status_indicator as Indicator, personality: display.personality },
    firstLines,
    lastLines,
    compactBanner: display.compact,
    compact: display.tui_compact,
    recap: display.resume_display === "full",
    statusBar: statusBarPlace(display.tui_statusbar),
    timeZone: options.timeZone || undefined,
  };
}
