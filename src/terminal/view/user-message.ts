// Messages of the user as they stay on the screen, and the recap of a resumed conversation.
import { displayWidth } from "../../lib/text/text-width.ts";
import type { Block } from "./block.ts";
import type { MarkdownStyle } from "./markdown/render.ts";
import { cachedBlock, MarkdownStream } from "./markdown/stream.ts";
import { formatTime } from "./text/amounts.ts";
import { cleanLine, cleanText, expandTabs } from "./text/clean.ts";
import { fitLine, type Line, paint, span } from "./text/span.ts";
import { withPrefix, wrap } from "./text/wrap.ts";
import type { Texts } from "./texts/texts.ts";
import type { Theme } from "./theme/theme.ts";

export interface MessageStyle {
  readonly theme: Theme;
  readonly texts: Texts;
  /** Show the time beside messages, in this zone. */
  readonly timestamps: boolean;
  readonly timeZone?: string | undefined;
  /** Lines of a long message that are shown, from its start and its end. */
  readonly firstLines: number;
  readonly lastLines: number;
}

/** A message is shortened only when that saves lines: the note about the rest takes one itself. */
function previewLines(lines: readonly string[], { firstLines, lastLines, texts }: MessageStyle): string[] {
  // At least one line is shown, whatever the settings say.
  const first = firstLines + lastLines === 0 ? 1 : firstLines;
  const hidden = lines.length - first - lastLines;
  if (hidden <= 2) return [...lines];
  const note = texts.text("user.more_lines", { count: hidden });
  return [...lines.slice(0, first), note, ...(lastLines === 0 ? [] : lines.slice(-lastLines))];
}

/** The user's message below the answer before it: the prompt symbol, the text, the time. */
export function userMessageBlock(text: string, at: number | undefined, style: MessageStyle): Block {
  const { theme } = style;
  const symbol = cleanLine(theme.skin.branding.prompt_symbol) || "❯";
  const prefix: Line = [span(`${symbol} `, theme.sgr("prompt"))];
  const clean = cleanText(text.trim()).split("\n").map(expandTabs);
  const shown = previewLines(clean, style).join("\n");
  const time = style.timestamps && at !== undefined ? formatTime(at, style.timeZone) : undefined;
  return cachedBlock((width) => {
    const symbolWidth = displayWidth(symbol) + 1;
    const lines = withPrefix(
      { first: prefix, rest: [span(" ".repeat(symbolWidth))], width: symbolWidth },
      width,
      (room) => wrap([span(shown, theme.sgr("strong"))], room),
    );
    return time === undefined ? lines : [paint(fitLine([span(time, theme.sgr("dim"))], width)), ...lines];
  });
}

/** One exchange of an earlier conversation. */
export interface RecapMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
  /** Names of the tools that were called. */
  readonly calls: readonly string[];
  readonly at?: number | undefined;
}

export interface RecapStyle extends MessageStyle {
  readonly markdown: MarkdownStyle;
}

const EXCHANGES = 10;
const USER_CHARS = 300;
const ASSISTANT_CHARS = 200;
const ASSISTANT_LINES = 3;

function shorten(text: string, chars: number, lines: number): string {
  const head = text.trim().split("\n").slice(0, lines).join("\n");
  const cut = [...head.slice(0, chars * 2)].slice(0, chars).join("");
  return cut.length < text.trim().length ? `${cut.trimEnd()} …` : cut;
}

function answerLines(text: string, width: number, style: RecapStyle): readonly string[] {
  const stream = new MarkdownStream(style.markdown);
  stream.append(shorten(text, ASSISTANT_CHARS, ASSISTANT_LINES));
  stream.finish();
  return stream.takeSettled().flatMap((block) => [...block.render(width)]);
}

function callsLine({ calls }: RecapMessage, width: number, { theme, texts }: RecapStyle): string {
  const names = [...new Set(calls)].map(cleanLine).join(", ");
  const line = texts.text("recap.calls", { count: calls.length, names });
  return paint(fitLine([span(`  ${line}`, theme.sgr("dim"))], width));
}

/** The last exchanges of a resumed conversation, shortened. Undefined when there is nothing to show. */
export function recapBlock(messages: readonly RecapMessage[], style: RecapStyle): Block | undefined {
  const { theme, texts } = style;
  const starts = messages.flatMap((message, index) => (message.role === "user" ? [index] : []));
  const from = starts.at(-EXCHANGES) ?? 0;
  const shown = messages.slice(from);
  const skipped = starts.filter((index) => index < from).length;
  if (shown.length === 0) return undefined;
  return cachedBlock((width) => {
    const title =
      skipped > 0
        ? `${texts.text("recap.title")} (${texts.text("recap.skipped", { count: skipped })})`
        : texts.text("recap.title");
    const lines = wrap([span(title, theme.sgr("label"))], width);
    for (const message of shown) {
      if (message.role === "user") lines.push("");
      if (message.role === "user")
        lines.push(...userMessageBlock(shorten(message.text, USER_CHARS, 10), message.at, style).render(width));
      else if (message.text.trim() !== "") lines.push(...answerLines(message.text, width, style));
      if (message.calls.length > 0) lines.push(callsLine(message, width, style));
    }
    return lines;
  });
}
