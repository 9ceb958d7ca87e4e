// Everything the conversation screen shows, with the settings, the skin and the language of the user.
import { loadMarkdownLexer } from "../../lib/markdown/lexer.ts";
import type { Block, TurnView } from "./block.ts";
import type { MarkdownStyle } from "./markdown/render.ts";
import type { ViewSettings } from "./settings.ts";
import { type StatusData, statusLine } from "./status-bar.ts";
import { loadTexts } from "./texts/load-texts.ts";
import type { Texts } from "./texts/texts.ts";
import type { Background } from "./theme/color.ts";
import { detectBackground, detectColorDepth, detectHyperlinks } from "./theme/detect.ts";
import { loadSkin } from "./theme/load-skin.ts";
import { createTheme, type Theme } from "./theme/theme.ts";
import { type Notice, noticeBlock } from "./turn/notices.ts";
import { createTurnView, type TurnStyle } from "./turn/turn-view.ts";
import { type RecapMessage, type RecapStyle, recapBlock, userMessageBlock } from "./user-message.ts";
import { type WelcomeData, welcomeBlock } from "./welcome.ts";

export interface ScreenViewOptions {
  readonly settings: ViewSettings;
  /** The home, for skins of the user. */
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** The terminal's own report of its background. */
  readonly background?: Background | undefined;
  /** The driver can write hyperlinks. Lines then contain OSC 8 beside SGR. */
  readonly hyperlinks?: boolean | undefined;
  now?(): number;
}

export interface ScreenView {
  readonly settings: ViewSettings;
  readonly theme: Theme;
  readonly texts: Texts;
  /** What is wrong with the skin, for the user. */
  readonly problems: readonly string[];
  turn(): TurnView;
  /** `at` in milliseconds. */
  userMessage(text: string, at?: number): Block;
  welcome(data: WelcomeData): Block;
  /** Undefined when there is nothing to show, or `display.resume_display` is `minimal`. */
  recap(messages: readonly RecapMessage[]): Block | undefined;
  notice(notice: Notice): Block;
  /** One line. */
  status(data: StatusData, width: number): string;
}

const DIFF_LINES = 40;
const DIFF_LINES_VERBOSE = 200;

/** The same layout without any style. */
function withoutStyles(theme: Theme): Theme {
  return { ...theme, hyperlinks: false, sgr: () => "" };
}

function turnStyle(
  settings: ViewSettings,
  theme: Theme,
  texts: Texts,
  parts: { lexer: MarkdownStyle["lexer"]; now(): number },
): TurnStyle {
  const { lexer, now } = parts;
  return {
    theme,
    texts,
    markdown: { lexer, theme: settings.markdown === "strip" ? withoutStyles(theme) : theme },
    markdownMode: settings.markdown,
    thinking: settings.thinking,
    toolProgress: settings.toolProgress,
    tools: {
      theme,
      texts,
      previewLength: settings.previewLength,
      inlineDiffs: settings.inlineDiffs,
      maxDiffLines: settings.toolOutput ? DIFF_LINES_VERBOSE : DIFF_LINES,
      expanded: settings.toolOutput,
      subagentTree: settings.subagentTree,
    },
    busy: settings.busy,
    activity: settings.activity,
    compact: settings.compact,
    now,
  };
}

/** Loads the skin, the language and the Markdown lexer. Syntax colours are loaded with the first code block. */
export async function loadScreenView(options: ScreenViewOptions): Promise<ScreenView> {
  const { settings, home, env } = options;
  const now = options.now ?? Date.now;
  const [{ skin, problems }, texts, lexer] = await Promise.all([
    loadSkin(home, settings.skin),
    loadTexts(settings.language),
    loadMarkdownLexer(),
  ]);
  const theme = createTheme({
    skin,
    depth: detectColorDepth(env),
    background: detectBackground(env, options.background),
    hyperlinks: options.hyperlinks === true && detectHyperlinks(env),
  });
  const style = turnStyle(settings, theme, texts, { lexer, now });
  const { timestamps, timeZone, firstLines, lastLines } = settings;
  const messages: RecapStyle = { theme, texts, timestamps, timeZone, firstLines, lastLines, markdown: style.markdown };
  return {
    settings,
    theme,
    texts,
    problems,
    turn: () => createTurnView(style),
    userMessage: (text, at) => userMessageBlock(text, at, messages),
    welcome: (data) =>
      welcomeBlock(data, { theme, texts, compact: settings.compactBanner, hint: Math.floor(now() / 3_600_000) }),
    recap: (rows) => (settings.recap ? recapBlock(rows, messages) : undefined),
    notice: (notice) => noticeBlock(notice, theme),
    status: (data, width) =>
      statusLine(settings.showCost ? data : { ...data, costUsd: undefined }, width, { theme, texts }),
  };
}
