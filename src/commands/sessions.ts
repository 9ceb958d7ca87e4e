// Slash commands about sessions: new, title, resume, handoff, history, status.
import type { CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { type Content, contentText } from "../core/message.ts";
import type { SessionStore } from "../core/store/session.ts";
import { type BuiltinCommand, text } from "./builtin-command.ts";
import { handoffCommand } from "./handoff.ts";

async function findSession(store: SessionStore, wanted: string): Promise<string | null> {
  const id =
    (await store.getSession(wanted))?.id ??
    (await store.resolveSessionByTitle(wanted)) ??
    (await store.resolveSessionId(wanted));
  return id ? store.resolveResumeSessionId(await store.getCompressionTip(id)) : null;
}

async function recentChoices(context: CommandContext): Promise<CommandAnswer> {
  const rows = await context.store.listSessions({ excludeSources: ["tool"], limit: 15, orderByLastActive: true });
  const others = rows.filter((row) => row.id !== context.conversation.sessionId);
  if (others.length === 0) return text("There is no other session yet.");
  return {
    type: "choose",
    title: "Sessions",
    choices: others.map((row) => ({ label: `${row.title ?? row.preview}  (${row.id})`, value: row.id })),
  };
}

async function title(args: string, context: CommandContext): Promise<CommandAnswer> {
  const id = context.conversation.sessionId;
  if (args === "")
    return text((await context.store.getSessionTitle(id)) ?? "This session has no title yet. Set one with /title NAME");
  if (!(await context.store.getSession(id)))
    return text("The session starts with your first message; set a title after that.");
  await context.store.setSessionTitle(id, args);
  return text(`This session is now "${await context.store.getSessionTitle(id)}".`);
}

async function history(_: string, context: CommandContext): Promise<CommandAnswer> {
  const rows = await context.store.getMessages(context.conversation.sessionId);
  const lines = rows
    .filter((row) => row.role === "user" || row.role === "assistant")
    .map(
      (row) =>
        `${row.role === "user" ? "you" : "hermes"}: ${typeof row.content === "string" ? row.content : contentText(row.content as Content)}`,
    )
    .filter((line) => !line.endsWith(": "));
  return text(lines.length > 0 ? lines.join("\n\n") : "There are no messages yet.");
}

async function status(_: string, context: CommandContext): Promise<CommandAnswer> {
  const { identity, caching } = context.opened;
  const session = await context.store.getSession(context.conversation.sessionId);
  const lines = [
    `Session   ${context.conversation.sessionId}${session?.title ? ` "${session.title}"` : ""}`,
    `Model     ${identity.model} (${identity.provider})`,
    ...(caching ? [`Caching   ${caching}`] : []),
    `Messages  ${session?.message_count ?? 0}, tool calls ${session?.tool_call_count ?? 0}`,
    `Tokens    ${session?.input_tokens ?? 0} in, ${session?.output_tokens ?? 0} out, ${session?.cache_read_tokens ?? 0} from cache`,
  ];
  return { type: "text", text: lines.join("\n"), columns: true };
}

export const sessionCommands: readonly BuiltinCommand[] = [
  {
    name: "new",
    aliases: ["reset"],
    args: "[title]",
    summary: "Start a new session",
    ownerOnly: false,
    run: async (args) => ({ type: "switch", sessionId: null, title: args || undefined }),
  },
  {
    name: "title",
    args: "[name]",
    summary: "Show or set this session's title",
    whileBusy: true,
    ownerOnly: false,
    run: title,
  },
  {
    name: "resume",
    aliases: ["sessions"],
    args: "[session]",
    summary: "Resume another session",
    ownerOnly: false,
    run: async (args, context) => {
      if (args === "") return recentChoices(context);
      const id = await findSession(context.store, args);
      return id ? { type: "switch", sessionId: id } : text(`No session matches "${args}".`);
    },
  },
  handoffCommand,
  { name: "history", summary: "Print this conversation", whileBusy: true, ownerOnly: false, run: history },
  { name: "status", summary: "Session, model, tokens", whileBusy: true, ownerOnly: false, run: status },
];
