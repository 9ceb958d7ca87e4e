// The send_message tool: sends a message to another chat, by name or id. The gate checks every message.
import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Static } from "typebox";
import { isSendable, takeMarkers } from "../core/chat/outgoing-media.ts";
import type { Role } from "../core/chat/role.ts";
import type { Gate } from "../core/gate.ts";
import type { DeliveryMessage, DeliveryTarget } from "../core/job.ts";
import { Type } from "../core/tool/schema.ts";
import {
  defineTool,
  gateContext,
  jsonResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolError,
} from "../core/tool/tool.ts";

const WAIT_MS = 20_000;
const SUMMARY_CHARS = 300;

/** A chat in the list for the model. */
export interface MessageTarget {
  /** The value for `target`. */
  readonly target: string;
  readonly name: string;
  readonly kind: string;
}

export interface SendMessageParts {
  /** Every chat that this conversation may write to. */
  targets(): Promise<readonly MessageTarget[]>;
  /** The chat with this name or id, or why there is none. */
  find(target: string): Promise<DeliveryTarget | { readonly error: string }>;
  /** Returns undefined when the message was sent or queued durably, or else the problem. */
  send(
    target: DeliveryTarget,
    message: Pick<DeliveryMessage, "text" | "media" | "mediaOptions" | "waitMs">,
  ): Promise<string | undefined>;
  /** True for files that are never sent: keys and passwords; for a guest also the home. */
  isProtected(path: string, role: Role): Promise<boolean>;
  readonly gate: Gate;
}

const parameters = Type.Object({
  action: Type.Optional(Type.String({ description: "send (default) or list" })),
  target: Type.Optional(
    Type.String({
      description: "telegram (its home channel), telegram:NAME, telegram:ID or telegram:ID:THREAD; see list",
    }),
  ),
  message: Type.Optional(
    Type.String({ description: "The text. MEDIA:/absolute/path on a separate line sends a file too" }),
  ),
});

type Args = Static<typeof parameters>;

function findFile(written: string): string | null {
  const path = written.startsWith("~/") ? join(homedir(), written.slice(2)) : written;
  return isSendable(path) && isAbsolute(path) && statSync(path, { throwIfNoEntry: false })?.isFile() ? path : null;
}

function formatTarget({ platform, chatId, threadId }: DeliveryTarget): string {
  return `${platform}:${chatId}${threadId ? `:${threadId}` : ""}`;
}

async function findRefusal(
  parts: SendMessageParts,
  to: string,
  content: { readonly text: string; readonly paths: readonly string[] },
  context: ToolContext,
): Promise<string | undefined> {
  const about = gateContext("send_message", context);
  for (const path of content.paths)
    if (await parts.isProtected(path, context.human.guest ? "guest" : "owner"))
      return `${path} contains keys or passwords or belongs to the owner, and is never sent. Nothing was sent.`;
  const files = content.paths.length > 0 ? ` with ${content.paths.join(", ")}` : "";
  const summary = `to ${to}${files}: ${content.text.slice(0, SUMMARY_CHARS)}`;
  const verdict = await parts.gate.check({ kind: "send", to, summary }, about);
  return verdict.allowed ? undefined : verdict.message;
}

async function send(parts: SendMessageParts, args: Args, context: ToolContext): Promise<ToolResult> {
  const { target: wanted = "", message = "" } = args;
  if (wanted.trim() === "") return toolError("Name a target.", { hint: 'List the chats with action "list".' });
  if (message.trim() === "") return toolError("There is no message to send.");
  const target = await parts.find(wanted.trim());
  if ("error" in target) return toolError(target.error, { hint: 'List the chats with action "list".' });
  const { text, paths, options } = takeMarkers(message, findFile);
  const missing = /MEDIA:\s*\S+/.exec(text)?.[0];
  if (missing !== undefined)
    return toolError(`${missing}: there is no such file, or files of this kind are not sent. Nothing was sent.`);
  const to = formatTarget(target);
  const denial = await findRefusal(parts, to, { text, paths }, context);
  if (denial !== undefined) return toolError(denial);
  const problem = await parts.send(target, { text, media: paths, mediaOptions: options, waitMs: WAIT_MS });
  return problem === undefined
    ? jsonResult({ success: true, target: to })
    : toolError(`The message to ${to} was not delivered: ${problem}`);
}

export function sendMessageTool(parts: SendMessageParts): Tool {
  return defineTool({
    name: "send_message",
    toolset: "messaging",
    notForSubagents: "a subagent must not send messages",
    description:
      'Send a message to a user or channel on a connected chat platform, in addition to your reply here. Find the chat with action "list" before you use a name.',
    parameters,
    mutates: true,
    overlap: "alone",
    timeoutMs: 180_000,
    preview: ({ action, target }) => (action === "list" ? "list" : `to ${target ?? "?"}`),
    run: async (args, context) => {
      const action = args.action ?? "send";
      if (action === "list") {
        const targets = await parts.targets();
        return jsonResult({
          targets: targets.map(({ target, name, kind }) => ({ target, name, kind })),
          ...(targets.length === 0 ? { note: "No chat is known yet and no home channel is set." } : {}),
        });
      }
      return action === "send"
        ? send(parts, args, context)
        : toolError(`There is no action "${action}"; use send or list.`);
    },
  });
}
