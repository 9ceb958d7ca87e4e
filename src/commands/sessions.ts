// Slash commands about sessions: new, clear, title, resume, handoff, history, status.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { type Content, contentText } from "../core/message.ts";
import type { SessionStore, SessionSummary } from "../core/store/session.ts";
import { oneLine } from "../lib/text/one-line.ts";
import { answerErrors, type BuiltinCommand, columns, isTerminal, text } from "./builtin-command.ts";
import type { CommandDeps } from "./command-deps.ts";
import { confirmed } from "./confirm.ts";
import { age, count, plural, rows } from "./format.ts";
import { handoffCommand } from "./handoff.ts";

const PREVIEWED = 6;
const PREVIEW_CHARS = 120;

async function findSession(store: SessionStore, wanted: string): Promise<string | null> {
  const id =
    (await store.getSession(wanted))?.id ??
    (await store.resolveSessionByTitle(wanted)) ??
    (await store.resolveSessionId(wanted));
  return id ? store.resolveResumeSessionId(await store.getCompressionTip(id)) : null;
}

async function recentChoices(context: CommandContext): Promise<CommandAnswer> {
  const found = await context.store.listSessions({
    excludeSources: ["tool"],
    limit: context.width === undefined ? 15 : 200,
    orderByLastActive: true,
  });
  const others = found.filter((row) => row.id !== context.conversation.sessionId);
  if (others.length === 0) return text("There is no other session yet.");
  const now = Date.now() / 1000;
  return {
    type: "choose",
    title: "Sessions",
    choices: others.map((row) => ({
      label: oneLine(row.title ?? row.preview, 60) || row.id,
      value: row.id,
      description: `${age(now - row.last_active)} ago, ${plural(row.message_count, "message")}, ${row.source}`,
      detail: async () => preview(context, row),
    })),
    actions: [
      {
        key: "d",
        label: "delete",
        confirm: ({ label }) => `Delete the session "${label}" and its messages?`,
        args: (id) => `delete ${id}`,
      },
    ],
  };
}

/** The last messages of a session, for the list. */
async function preview({ store }: CommandContext, { id, model }: SessionSummary): Promise<string> {
  const messages = (await store.getConversation(id)).filter(
    (message) => ["user", "assistant"].includes(message.role) && contentText(message.content).trim() !== "",
  );
  const lines = messages.slice(-PREVIEWED).map((message) => {
    return `${message.role === "user" ? "❯ " : ""}${oneLine(contentText(message.content), PREVIEW_CHARS)}`;
  });
  return [`${id}${model ? `, ${model}` : ""}`, "", ...lines].join("\n");
}

async function title(args: string, context: CommandContext): Promise<CommandAnswer> {
  const id = context.conversation.sessionId;
  if (args === "")
    return text((await context.store.getSessionTitle(id)) ?? "This session has no title yet. Set one with /title NAME");
  return text(`This session is now "${await context.conversation.setTitle(args)}".`);
}

async function history(_: string, context: CommandContext): Promise<CommandAnswer> {
  const messages = await context.store.getMessages(context.conversation.sessionId, { withoutUndone: true });
  const lines = messages
    .filter((row) => row.role === "user" || row.role === "assistant")
    .map(
      (row) =>
        `${row.role === "user" ? "you" : "hermes"}: ${typeof row.content === "string" ? row.content : contentText(row.content as Content)}`,
    )
    .filter((line) => !line.endsWith(": "));
  return text(lines.length > 0 ? lines.join("\n\n") : "There are no messages yet.");
}

async function status(deps: CommandDeps, context: CommandContext): Promise<CommandAnswer> {
  const { identity, caching, contextLength } = context.opened;
  const { conversation, store, width } = context;
  const session = await store.getSession(conversation.sessionId);
  const goal = await conversation.goal.get();
  const { agent } = deps.settings.config;
  const chain = (await store.ancestors(conversation.sessionId)).length;
  return columns(
    rows(
      [
        ["Session", `${conversation.sessionId}${session?.title ? ` "${session.title}"` : ""}`],
        ...(chain > 1 ? [["Compacted", `${chain - 1} times`] as const] : []),
        ["Model", `${identity.model} (${identity.provider}), window ${count(contextLength)}`],
        ...(caching ? [["Caching", caching.replace(/^.*prompt caching: /i, "")] as const] : []),
        ...(agent.reasoning_effort ? [["Thinking", agent.reasoning_effort] as const] : []),
        ["Messages", `${count(session?.message_count ?? 0)}, tool calls ${count(session?.tool_call_count ?? 0)}`],
        [
          "Tokens",
          `${count(session?.input_tokens ?? 0)} in, ${count(session?.output_tokens ?? 0)} out, ${count(session?.cache_read_tokens ?? 0)} from cache`,
        ],
        ...(goal
          ? [["Goal", `${goal.text} (${goal.status}, turn ${goal.turnsUsed} of ${goal.maxTurns})`] as const]
          : []),
        ...(context.yolo ? [["Approvals", "off (/yolo)"] as const] : []),
        ["Profile", deps.home.profile],
      ],
      width,
    ),
  );
}

/** Nothing is deleted: the old session can be resumed. */
async function startNew(deps: CommandDeps, title: string, context: CommandContext): Promise<CommandAnswer> {
  const effect = "ends this session and starts an empty one; /resume brings it back";
  if (!(await confirmed(deps.settings, context, { command: "new", effect }))) return text("This session continues.");
  return { type: "switch", sessionId: null, title: title || undefined };
}

async function clear(deps: CommandDeps, context: CommandContext): Promise<CommandAnswer> {
  const effect = "clears the screen and starts an empty session; /resume brings this one back";
  if (!(await confirmed(deps.settings, context, { command: "clear", effect }))) return text("This session continues.");
  return { type: "switch", sessionId: null, clear: true };
}

async function resume(args: string, context: CommandContext): Promise<CommandAnswer> {
  if (args === "" || args === "list") return recentChoices(context);
  const deleted = /^delete\s+(\S+)$/.exec(args)?.[1];
  if (deleted && deleted !== context.conversation.sessionId && isTerminal(context))
    return text(
      (await context.store.deleteSession(deleted)) ? `Deleted ${deleted}.` : `There is no session ${deleted}.`,
    );
  const id = await findSession(context.store, args);
  if (id === context.conversation.sessionId) return text("You are in this session already.");
  return id ? { type: "switch", sessionId: id } : text(`No session matches "${args}".`);
}

export function sessionCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "new",
      aliases: ["reset"],
      group: "Sessions",
      args: "[title]",
      summary: "Start a new session",
      ownerOnly: false,
      run: (title, context) => answerErrors(() => startNew(deps, title, context)),
    },
    {
      name: "clear",
      group: "Sessions",
      surface: "terminal",
      summary: "Clear the screen and start a new session",
      ownerOnly: false,
      run: (_, context) => answerErrors(() => clear(deps, context)),
    },
    {
      name: "title",
      group: "Sessions",
      args: "[name]",
      summary: "Show or set this session's title",
      whileBusy: true,
      ownerOnly: false,
      run: (args, context) => answerErrors(() => title(args, context)),
    },
    {
      name: "resume",
      aliases: ["sessions"],
      group: "Sessions",
      args: "[session]",
      summary: "Resume another session",
      ownerOnly: false,
      run: resume,
    },
    handoffCommand,
    {
      name: "history",
      group: "Sessions",
      summary: "Print this conversation",
      whileBusy: true,
      ownerOnly: false,
      run: history,
    },
    {
      name: "status",
      group: "Sessions",
      summary: "Session, model, tokens, goal",
      whileBusy: true,
      ownerOnly: false,
      run: (_, context) => status(deps, context),
    },
  ];
}
