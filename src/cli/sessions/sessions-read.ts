// The subcommands of `hermes sessions` that only read: list, browse, search, show, stats.
import { UserError } from "../../core/failure.ts";
import { type Content, contentText } from "../../core/message.ts";
import type { MessageRow, SearchHit, SessionStore, SessionSummary } from "../../core/store/session.ts";
import { type Column, formatBytes, relativeTime, renderTable } from "../../lib/terminal/columns.ts";
import { pick } from "../../lib/terminal/picker.ts";
import { type CliContext, integerOption, textOption } from "../command.ts";
import { requireSession, withStore } from "../with-store.ts";

const HIDDEN_SOURCES = ["tool"];

function sourceFilter(context: CliContext): { source?: string | undefined; excludeSources?: readonly string[] } {
  const source = textOption(context, "source");
  return source ? { source } : { excludeSources: HIDDEN_SOURCES };
}

function sessionColumns(anyTitle: boolean): readonly Column<SessionSummary>[] {
  const preview: Column<SessionSummary> = {
    title: "Preview",
    flexible: true,
    minWidth: 10,
    value: (row) => row.preview,
  };
  const title: Column<SessionSummary> = { title: "Title", value: (row) => row.title ?? "—" };
  return [
    { title: "ID", value: (row) => row.id },
    ...(anyTitle ? [title] : []),
    preview,
    { title: "Source", value: (row) => row.source },
    { title: "Msgs", align: "right", value: (row) => String(row.message_count) },
    { title: "Last active", value: (row) => relativeTime(row.last_active) },
  ];
}

export function listSessions(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const limit = integerOption(context, "limit", { default: 20, min: 1 });
    const rows = await store.listSessions({ ...sourceFilter(context), limit, orderByLastActive: true });
    if (context.values.json) context.terminal.out(JSON.stringify(rows, null, 2));
    else if (rows.length === 0) context.terminal.out("No sessions yet. Start one with: hermes");
    else context.terminal.out(renderTable(context.terminal, sessionColumns(rows.some((row) => row.title)), rows));
    return 0;
  });
}

export async function browseSessions(context: CliContext): Promise<number> {
  const chosen = await withStore(context, async (store) => {
    const limit = integerOption(context, "limit", { default: 500, min: 1 });
    const rows = await store.listSessions({ ...sourceFilter(context), limit, orderByLastActive: true });
    if (!context.terminal.interactive) {
      context.terminal.err("hermes sessions browse needs a terminal. In a script use: hermes sessions list --json");
      return undefined;
    }
    const choices = rows.map((row) => ({
      label: `${row.title ?? row.preview}  ${relativeTime(row.last_active)}  ${row.source}  ${row.id}`,
      keywords: row.preview,
      value: row.id,
    }));
    return pick(context.terminal, "Sessions", choices);
  });
  if (chosen === undefined) return 1;
  return chosen === null ? 0 : context.again(["chat", "--resume", chosen]);
}

function highlighted(context: CliContext, hit: SearchHit): string {
  const snippet = (hit.snippet ?? "").replace(/\s+/gu, " ").trim();
  if (!context.terminal.interactive) return snippet;
  return snippet.replaceAll(/>>>(.*?)<<</gu, (_, match: string) => context.terminal.style("yellow", match));
}

export function searchSessions(context: CliContext): Promise<number> {
  const query = context.positionals.join(" ").trim();
  if (query === "")
    throw new UserError("which words?", { hint: "Give words: hermes sessions search WORDS…", exitCode: 2 });
  return withStore(context, async (store) => {
    const list = (name: string) =>
      textOption(context, name)
        ?.split(",")
        .map((word) => word.trim());
    const source = list("source");
    const role = list("role");
    const answer = await store.searchMessages(query, {
      ...(source ? { sourceFilter: source } : { excludeSources: HIDDEN_SOURCES }),
      roleFilter: role,
      limit: integerOption(context, "limit", { default: 20, min: 1 }),
      offset: integerOption(context, "offset", { default: 0 }),
    });
    if (answer.notice) context.terminal.err(`notice: ${answer.notice}`);
    if (context.values.json) {
      context.terminal.out(JSON.stringify(answer.hits, null, 2));
      return 0;
    }
    for (const hit of answer.hits) {
      const where = `${hit.session_id} · ${hit.role} · ${hit.source} · ${relativeTime(hit.timestamp)}`;
      context.terminal.out(`${context.terminal.style("dim", where)}\n  ${highlighted(context, hit)}\n`);
    }
    if (answer.hits.length === 0) context.terminal.out(`Nothing found for: ${query}`);
    return 0;
  });
}

/** The whole message as text; parts that are not text are named. */
function messageText(content: MessageRow["content"]): string {
  if (!Array.isArray(content)) return contentText(content as Content);
  const parts = content as readonly { readonly type?: string | undefined; readonly text?: string }[];
  return parts
    .map((part) => part?.text ?? (part?.type?.includes("image") ? "[image]" : JSON.stringify(part)))
    .join("\n");
}

function showMessage(context: CliContext, row: MessageRow): string {
  const time = new Date(row.timestamp * 1000).toISOString().replace("T", " ").slice(0, 19);
  const head = context.terminal.style("dim", `[${time}] ${row.role}${row.tool_name ? ` (${row.tool_name})` : ""}`);
  const text = messageText(row.content);
  const calls = (row.tool_calls ?? []).map((call) => {
    const { name = "?", arguments: args = "" } =
      (call as { function?: { name?: string | undefined; arguments?: string } }).function ?? {};
    return `  → ${name} ${args}`;
  });
  return [head, ...(text === "" ? [] : [text]), ...calls, ""].join("\n");
}

export function showSession(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const id = await requireSession(store, context.positionals[0]);
    if (context.values.json) {
      context.terminal.out(JSON.stringify(await store.exportSession(id), null, 2));
      return 0;
    }
    const session = await store.getSession(id);
    const started = new Date((session?.started_at ?? 0) * 1000).toISOString();
    context.terminal.out(
      `${context.terminal.style("bold", session?.title ?? id)}\n${id} · ${session?.source} · ${session?.model ?? "no model"} · ${started}\n`,
    );
    await showPages(context, store, id);
    return 0;
  });
}

async function showPages(context: CliContext, store: SessionStore, id: string): Promise<void> {
  let afterId = 0;
  for (;;) {
    const page = await store.getMessages(id, { afterId, limit: 200 });
    for (const row of page) context.terminal.out(showMessage(context, row));
    const last = page[page.length - 1];
    if (!last) return;
    afterId = last.id;
  }
}

export function sessionStats(context: CliContext): Promise<number> {
  return withStore(context, async (store) => {
    const stats = await store.stats();
    const health = await store.health();
    if (context.values.json) {
      context.terminal.out(JSON.stringify({ ...stats, health }, null, 2));
      return 0;
    }
    const lines = [
      `Sessions  ${stats.sessions}`,
      `Messages  ${stats.messages}`,
      `Database  ${formatBytes(stats.fileBytes)}${stats.walBytes > 0 ? ` (+ ${formatBytes(stats.walBytes)} write-ahead log)` : ""}, ${stats.indexLayout} index`,
      `Health    ${health.state}${health.notice ? `: ${health.notice}` : ""}`,
    ];
    context.terminal.out(lines.join("\n"));
    const sources = Object.entries(stats.bySource);
    if (sources.length > 0) {
      context.terminal.out(
        `\n${renderTable(
          context.terminal,
          [
            { title: "Source", value: ([name]: [string, number]) => name },
            { title: "Sessions", align: "right", value: ([, count]: [string, number]) => String(count) },
          ],
          sources,
        )}`,
      );
    }
    if (stats.byModel.length > 0) {
      context.terminal.out(
        renderTable(
          context.terminal,
          [
            { title: "Model", flexible: true, value: (row) => row.model },
            { title: "Sessions", align: "right", value: (row) => String(row.session_count) },
            { title: "Input", align: "right", value: (row) => String(row.total_input) },
            { title: "Output", align: "right", value: (row) => String(row.total_output) },
            {
              title: "Cost",
              align: "right",
              value: (row) => (row.total_cost === null ? "—" : `$${row.total_cost.toFixed(2)}`),
            },
          ],
          stats.byModel,
        ),
      );
    }
    return 0;
  });
}
