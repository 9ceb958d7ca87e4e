// What linear output needs: texts of the user's language, and Markdown that is drawn block by block.
import type { Config } from "../../core/config/config.ts";
import { loadMarkdownLexer } from "../../lib/markdown/lexer.ts";
import { MarkdownStream } from "./markdown/stream.ts";
import { loadTexts } from "./texts/load-texts.ts";
import { ENGLISH_TEXTS, type Texts } from "./texts/texts.ts";
import { detectBackground, detectColorDepth } from "./theme/detect.ts";
import { loadSkin } from "./theme/load-skin.ts";
import { createTheme } from "./theme/theme.ts";

export interface PlainView {
  readonly texts: Texts;
  /** A stream for one answer; undefined when the text is printed as it was written. */
  markdown(): MarkdownStream | undefined;
}

export interface PlainViewOptions {
  readonly display: Config["display"];
  readonly home: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** The output is a terminal: Markdown is drawn. A file or a pipe gets it as it was written. */
  readonly terminal: boolean;
}

/** Used where nothing was loaded: English, text as written. */
export const RAW_VIEW: PlainView = { texts: ENGLISH_TEXTS, markdown: () => undefined };

export async function loadPlainView({ display, home, env, terminal }: PlainViewOptions): Promise<PlainView> {
  const texts = await loadTexts(display.language);
  const mode = display.final_response_markdown;
  if (!terminal || mode === "raw") return { texts, markdown: () => undefined };
  const [{ skin }, lexer] = await Promise.all([loadSkin(home, display.skin), loadMarkdownLexer()]);
  const depth = mode === "strip" ? "none" : detectColorDepth(env);
  const theme = createTheme({ skin, depth, background: detectBackground(env) });
  return { texts, markdown: () => new MarkdownStream({ lexer, theme }) };
}
