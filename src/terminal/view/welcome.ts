// The first block of a conversation: what answers, where, with what, and one hint.
import { displayWidth, padToWidth } from "../../lib/text/text-width.ts";
import type { Block } from "./block.ts";
import { cachedBlock } from "./markdown/stream.ts";
import { cleanLine, cleanText, isolate } from "./text/clean.ts";
import { fitLine, type Line, paint, span } from "./text/span.ts";
import { wrap } from "./text/wrap.ts";
import type { TextKey } from "./texts/english.ts";
import type { Texts } from "./texts/texts.ts";
import type { Theme } from "./theme/theme.ts";

export interface WelcomeData {
  readonly version: string;
  readonly model: string;
  readonly provider: string;
  /** True when the built-in replies answer because no model is configured. */
  readonly offline: boolean;
  readonly folder: string;
  readonly branch?: string | undefined;
  readonly sessionId: string;
  readonly title?: string | undefined;
  /** Stored messages of a resumed session. */
  readonly resumedMessages?: number | undefined;
  readonly profile?: string | undefined;
  readonly toolCount: number;
  readonly skillCount: number;
}

export interface WelcomeStyle {
  readonly theme: Theme;
  readonly texts: Texts;
  /** One line instead of a table (`display.compact`). */
  readonly compact: boolean;
  /** Chooses the hint; the same number gives the same hint. */
  readonly hint: number;
}

const HINTS: readonly TextKey[] = [
  "hint.help",
  "hint.files",
  "hint.newline",
  "hint.editor",
  "hint.history",
  "hint.shell",
];

/** The end of a path matters more than its start. */
export function shortPath(path: string, width: number): string {
  const clean = cleanLine(path);
  if (displayWidth(clean) <= width) return clean;
  const parts = clean.split("/");
  let end = parts.pop() ?? "";
  for (let next = parts.pop(); next !== undefined; next = parts.pop()) {
    const longer = `${next}/${end}`;
    if (displayWidth(longer) + 2 > width) break;
    end = longer;
  }
  return `…/${end}`;
}

function rows(data: WelcomeData, texts: Texts, room: number): [label: TextKey, value: string][] {
  const model = data.provider === "" ? data.model : `${data.model} (${data.provider})`;
  const branch = data.branch === undefined ? "" : ` (${cleanLine(data.branch)})`;
  const resumed =
    data.resumedMessages === undefined ? "" : ` · ${texts.text("welcome.resumed", { count: data.resumedMessages })}`;
  const title = data.title === undefined ? data.sessionId : `${cleanLine(data.title)} · ${data.sessionId}`;
  const skills = data.skillCount > 0 ? ` · ${texts.text("welcome.skill_count", { count: data.skillCount })}` : "";
  return [
    ["welcome.model", cleanLine(model)],
    ["welcome.folder", shortPath(data.folder, Math.max(8, room - displayWidth(branch))) + branch],
    ["welcome.session", title + resumed],
    ...(data.profile === undefined ? [] : [["welcome.profile", cleanLine(data.profile)] as [TextKey, string]]),
    ["welcome.tools", texts.text("welcome.tool_count", { count: data.toolCount }) + skills],
  ];
}

function heading(data: WelcomeData, { theme }: WelcomeStyle): Line {
  return [
    span(cleanLine(theme.skin.branding.agent_name), theme.sgr("title")),
    span(data.version === "" ? "" : ` ${data.version}`, theme.sgr("dim")),
  ];
}

function compactLines(data: WelcomeData, width: number, style: WelcomeStyle): string[] {
  const { theme } = style;
  const branch = data.branch === undefined ? "" : ` (${cleanLine(data.branch)})`;
  const rest = ` · ${cleanLine(data.model)} · ${shortPath(data.folder, 40)}${branch}`;
  return [paint(fitLine([...heading(data, style), span(rest, theme.sgr("dim"))], width))];
}

export function welcomeBlock(data: WelcomeData, style: WelcomeStyle): Block {
  const { theme, texts } = style;
  return cachedBlock((width) => {
    const lines = style.compact ? compactLines(data, width, style) : [paint(fitLine(heading(data, style), width))];
    if (!style.compact) {
      const logo = cleanText(theme.skin.banner_logo)
        .split("\n")
        .filter((line) => line.trim() !== "");
      if (logo.length > 0 && logo.every((line) => displayWidth(line) <= width))
        lines.unshift(...logo.map((line) => paint([span(line, theme.sgr("title"))])));
      const labels = rows(data, texts, width).map(([key]) => texts.text(key));
      const labelWidth = Math.max(...labels.map((label) => displayWidth(label)));
      for (const [key, value] of rows(data, texts, width - labelWidth - 2)) {
        const label = span(`${padToWidth(texts.text(key), labelWidth)}  `, theme.sgr("dim"));
        lines.push(paint(fitLine([label, span(isolate(value))], width)));
      }
    }
    const welcome = theme.skin.branding.welcome;
    if (welcome !== "") lines.push(...wrap([span(cleanLine(welcome))], width));
    if (data.offline)
      lines.push(
        ...wrap([span(`${texts.text("welcome.offline")}. ${texts.text("welcome.setup")}.`, theme.sgr("warn"))], width),
      );
    const hint = HINTS[style.hint % HINTS.length] ?? "hint.help";
    lines.push(...wrap([span(texts.text(hint), theme.sgr("dim"))], width));
    return lines;
  });
}
