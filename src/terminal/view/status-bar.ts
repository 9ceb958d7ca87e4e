// The status bar: one line from plain data that leaves out the less important parts in a narrow terminal.

import { bar } from "../../lib/terminal/charts.ts";
import { displayWidth } from "../../lib/text/text-width.ts";
import { formatCost, formatElapsed, formatTokens } from "./text/amounts.ts";
import { cleanLine, isolate } from "./text/clean.ts";
import { fitLine, type Line, lineWidth, paint, span } from "./text/span.ts";
import type { Texts } from "./texts/texts.ts";
import type { Role, Theme } from "./theme/theme.ts";
import { shortPath } from "./welcome.ts";

export interface StatusData {
  readonly model: string;
  /** Tokens in the window, and the size at which the conversation is compacted. */
  readonly contextTokens?: number | undefined;
  readonly contextLimit?: number | undefined;
  /** Cost of the session in dollars; undefined when it is not shown or not known. */
  readonly costUsd?: number | undefined;
  readonly costEstimated?: boolean | undefined;
  readonly title?: string | undefined;
  readonly folder: string;
  readonly branch?: string | undefined;
  /** What Enter does; shown while a turn runs. */
  readonly busyMode: "interrupt" | "queue" | "steer";
  /** Milliseconds since the running turn began; undefined when none runs. */
  readonly turnMs?: number | undefined;
  readonly queued?: number | undefined;
  readonly background?: number | undefined;
  readonly compactions?: number | undefined;
  readonly yolo?: boolean | undefined;
  readonly profile?: string | undefined;
}

export interface StatusStyle {
  readonly theme: Theme;
  readonly texts: Texts;
}

interface Part {
  readonly line: Line;
  /** Parts with a lower number are left out first. */
  readonly keep: number;
  /** Another form for narrow terminals, and when it is used in the order of `keep`. */
  readonly short?: Line | undefined;
  readonly shortAt?: number | undefined;
}

const BAR_CELLS = 10;
const MODEL_CELLS = 30;
/** The model is always shown. */
const MODEL_KEEP = 10;
const SEPARATOR = " │ ";

/** The colour of the window's use in percent. */
export function pressureRole(percent: number): Role {
  if (percent >= 95) return "statusCritical";
  if (percent > 80) return "statusBad";
  return percent >= 50 ? "statusWarn" : "statusGood";
}

function contextPart({ contextTokens: used, contextLimit: limit }: StatusData, theme: Theme): Part[] {
  if (used === undefined || limit === undefined || limit <= 0) return [];
  const percent = Math.round((used / limit) * 100);
  const role = theme.sgr(pressureRole(percent));
  const shownPercent = span(`${percent}%`, role);
  return [
    {
      keep: 8,
      line: [
        span(`${formatTokens(used)}/${formatTokens(limit)} `, theme.sgr("statusText")),
        span(bar(used / limit, BAR_CELLS), role),
        span(" "),
        shownPercent,
      ],
      short: [shownPercent],
      shortAt: 4.5,
    },
  ];
}

function folderPart({ folder, branch }: StatusData, theme: Theme): Part {
  const branchText = branch === undefined ? "" : ` (${cleanLine(branch)})`;
  const line = (width: number): Line => [
    span(isolate(shortPath(folder, width)), theme.sgr("statusText")),
    span(isolate(branchText), theme.sgr("statusDim")),
  ];
  return { keep: 3, line: line(40), short: line(16), shortAt: 2.4 };
}

function titlePart({ title }: StatusData, theme: Theme): Part[] {
  if (title === undefined || title === "") return [];
  const line: Line = [span(isolate(cleanLine(title)), theme.sgr("statusText"))];
  return [{ keep: 4, line: fitLine(line, 30), short: fitLine(line, 14), shortAt: 2.2 }];
}

function workParts(data: StatusData, { theme, texts }: StatusStyle): Part[] {
  const parts: Part[] = [];
  const dim = theme.sgr("statusDim");
  if (data.turnMs !== undefined)
    parts.push({ keep: 7, line: [span(formatElapsed(data.turnMs), theme.sgr("statusStrong"))] });
  if (data.yolo) parts.push({ keep: 9, line: [span(texts.text("status.yolo"), theme.sgr("statusCritical"))] });
  if ((data.background ?? 0) > 0)
    parts.push({
      keep: 5,
      line: [span(texts.text("status.background", { count: data.background ?? 0 }), theme.sgr("statusText"))],
    });
  if ((data.queued ?? 0) > 0)
    parts.push({
      keep: 6,
      line: [span(texts.text("status.queued", { count: data.queued ?? 0 }), theme.sgr("statusText"))],
    });
  if (data.turnMs !== undefined) parts.push({ keep: 2, line: [span(texts.text(`status.busy.${data.busyMode}`), dim)] });
  return parts;
}

function statusParts(data: StatusData, style: StatusStyle): Part[] {
  const { theme, texts } = style;
  const compactions = data.compactions ?? 0;
  const compactionRole: Role = compactions >= 10 ? "statusBad" : compactions >= 5 ? "statusWarn" : "statusDim";
  const cost = data.costUsd === undefined ? undefined : `${data.costEstimated ? "≈" : ""}${formatCost(data.costUsd)}`;
  const shortModel = cleanLine(data.model).split("/").at(-1) ?? "";
  const model = fitLine([span(cleanLine(data.model), theme.sgr("statusStrong"))], MODEL_CELLS);
  return [
    { keep: MODEL_KEEP, line: model, shortAt: 2.6, short: fitLine([span(shortModel, theme.sgr("statusStrong"))], 20) },
    ...contextPart(data, theme),
    ...(cost === undefined ? [] : [{ keep: 6, line: [span(cost, theme.sgr("statusText"))] }]),
    ...(compactions > 0
      ? [{ keep: 1, line: [span(texts.text("status.compacted", { count: compactions }), theme.sgr(compactionRole))] }]
      : []),
    ...workParts(data, style),
    ...titlePart(data, theme),
    ...(data.profile === undefined ? [] : [{ keep: 1, line: [span(cleanLine(data.profile), theme.sgr("statusDim"))] }]),
    folderPart(data, theme),
  ];
}

function totalWidth(lines: readonly Line[]): number {
  return (
    lines.reduce((sum, line) => sum + lineWidth(line), 0) + displayWidth(SEPARATOR) * Math.max(0, lines.length - 1)
  );
}

/** The status bar as one line of at most `width` cells. */
export function statusLine(data: StatusData, width: number, style: StatusStyle): string {
  const parts = statusParts(data, style).map((part) => ({ ...part, shown: part.line }));
  const room = width - 1;
  const tooWide = () => totalWidth(parts.filter(({ shown }) => shown.length > 0).map(({ shown }) => shown)) > room;
  const steps = parts.flatMap((part) => [
    ...(part.short ? [{ at: part.shortAt ?? part.keep, part, shown: part.short }] : []),
    ...(part.keep < MODEL_KEEP ? [{ at: part.keep, part, shown: [] as Line }] : []),
  ]);
  for (const { part, shown } of steps.sort((one, other) => one.at - other.at)) if (tooWide()) part.shown = shown;
  const separator = span(SEPARATOR, style.theme.sgr("statusDim"));
  const line = parts
    .filter(({ shown }) => shown.length > 0)
    .flatMap(({ shown }, index) => (index === 0 ? [...shown] : [separator, ...shown]));
  return paint(fitLine([span(" "), ...line], width));
}
