// Events that are not part of the answer, as sentences: retry, failover, compaction, budget, errors.
import type { AgentEvent } from "../../../core/event.ts";
import type { Block } from "../block.ts";
import { cachedBlock } from "../markdown/stream.ts";
import { formatDuration, formatTokens } from "../text/amounts.ts";
import { cleanText, expandTabs } from "../text/clean.ts";
import { span } from "../text/span.ts";
import { withPrefix, wrap } from "../text/wrap.ts";
import type { Texts } from "../texts/texts.ts";
import type { Theme } from "../theme/theme.ts";

export type NoticeLevel = "info" | "warning" | "error";

export interface Notice {
  readonly level: NoticeLevel;
  readonly text: string;
}

const MARKS: { readonly [level in NoticeLevel]: string } = { info: "·", warning: "!", error: "✗" };

/** Sentences end without a full stop where another text follows. */
function phrase(text: string): string {
  return text.trim().replace(/[.。]$/u, "");
}

/** The notice of an event; undefined for events that are no notice. */
export function eventNotice(event: AgentEvent, texts: Texts): Notice | undefined {
  switch (event.type) {
    case "restarted":
      return { level: "info", text: texts.text("notice.restarted") };
    case "retrying": {
      const values = {
        reason: phrase(event.failure.message),
        time: formatDuration(event.inMs),
        attempt: event.attempt,
      };
      return { level: "warning", text: texts.text("notice.retry", values) };
    }
    case "fallback": {
      const values = { from: event.from.model, to: event.to.model, reason: phrase(event.failure.message) };
      return { level: "warning", text: texts.text("notice.failover", values) };
    }
    case "compressed": {
      const values = { before: formatTokens(event.beforeTokens), after: formatTokens(event.afterTokens) };
      return { level: "info", text: texts.text("notice.compacted", values) };
    }
    case "notice":
      return { level: event.level, text: event.text };
    default:
      return undefined;
  }
}

/** What the end of a turn says beyond the answer. */
export function endNotices(event: Extract<AgentEvent, { type: "ended" }>, texts: Texts): Notice[] {
  const notices: Notice[] = [];
  if (event.end === "interrupted") notices.push({ level: "warning", text: texts.text("notice.interrupted") });
  if (event.end === "budget")
    // The last call only wrote the summary.
    notices.push({ level: "warning", text: texts.text("notice.budget", { count: Math.max(1, event.modelCalls - 1) }) });
  if (event.failure && event.end === "failed") {
    const { message, hint } = event.failure;
    notices.push({ level: "error", text: hint === undefined ? message : `${message}\n${hint}` });
  }
  if (event.note !== undefined) notices.push({ level: "info", text: event.note });
  return notices;
}

export function noticeBlock({ level, text }: Notice, theme: Theme): Block {
  const role = level === "info" ? "dim" : level === "warning" ? "warn" : "error";
  const first = [span(` ${MARKS[level]} `, theme.sgr(role))];
  const clean = expandTabs(cleanText(text));
  return cachedBlock((width) =>
    withPrefix({ first, rest: [span("   ")], width: 3 }, width, (room) => wrap([span(clean, theme.sgr(role))], room)),
  );
}
