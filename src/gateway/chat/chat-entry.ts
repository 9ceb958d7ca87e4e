// Finds the session of a chat message and opens its conversation.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Source } from "../../core/chat/platform.ts";
import type { ConversationOptions, OpenedConversation } from "../../core/conversation.ts";
import type { Human } from "../../core/human.ts";
import type { InboxRow } from "../../core/store/mailbox.ts";
import { errorMessage } from "../../lib/error-message.ts";
import type { GatewayContext } from "../control/gateway-context.ts";
import { instructionsFor } from "../inbound/incoming.ts";
import { resetNotice, resetReason } from "../inbound/reset-policy.ts";
import type { SessionEntry } from "../inbound/session-index.ts";
import { isShared, tenantKey } from "../inbound/session-key.ts";

/** The user to ask in the chat, and the model chosen for it. */
export interface ChatChoice {
  readonly human: Human;
  readonly overrides: { readonly model?: string | undefined; readonly provider?: string };
}

/** The session for this message: the chat's current one, or a new one when the reset policy asks for it. */
export async function entryFor(
  gateway: GatewayContext,
  key: string,
  row: InboxRow,
): Promise<{ entry: SessionEntry; notice: string | null; fresh: boolean }> {
  const { source } = row.event;
  const known = gateway.index.get(key);
  if (!known) {
    const entry = gateway.index.start(key, source);
    gateway.newChat();
    return { entry, notice: null, fresh: true };
  }
  if (known.resume_pending) return { entry: known, notice: null, fresh: false };
  const policy = gateway.resetPolicy(source);
  const due = known.suspended ? "suspended" : resetReason(gateway.index.lastActive(known), policy, gateway.now());
  // A session with running processes is not reset.
  const reason = due !== null && due !== "suspended" && gateway.processes.alive(key) ? null : due;
  if (!reason) return { entry: known, notice: null, fresh: false };
  const { store, config } = gateway.opened.app;
  await gateway.agents.drop(key, "session_reset");
  const old = await store.getSession(known.session_id);
  if (old) await store.endSession(known.session_id, "session_reset");
  const active = (old?.message_count ?? 0) > 0;
  const change = { was_auto_reset: true, auto_reset_reason: reason, reset_had_activity: active };
  const entry = gateway.index.start(key, source, change);
  await sessionReset(gateway, entry, source);
  const { notify, notify_exclude_platforms: quiet } = config.session_reset;
  const shouldNotify = reason === "suspended" || (notify && active && !quiet.includes(source.platform));
  return { entry, notice: shouldNotify ? resetNotice(reason, policy) : null, fresh: true };
}

/** Saves the chat's session to disk before its message is finished. A failure is logged and does not delay the answer. */
export async function indexSaved(gateway: GatewayContext, key: string): Promise<void> {
  try {
    await gateway.index.saved(key);
  } catch (error) {
    gateway.log("error", `sessions.json was not written: ${errorMessage(error)}`);
  }
}

/** Runs the hooks for a new session. */
export async function sessionStarted(gateway: GatewayContext, entry: SessionEntry, source: Source): Promise<void> {
  const { session_id, session_key } = entry;
  await gateway.hooks.run("session:start", {
    platform: source.platform,
    user_id: source.userId,
    session_id,
    session_key,
  });
}

/** Runs the hooks for a chat that has moved to another session. */
export async function sessionReset(gateway: GatewayContext, entry: SessionEntry, source: Source): Promise<void> {
  const { platform, userId } = source;
  await gateway.hooks.run("session:end", { platform, user_id: userId, session_key: entry.session_key });
  await gateway.hooks.run("session:reset", { platform, user_id: userId, session_key: entry.session_key });
  await gateway.opened.app.hooks.run("on_session_reset", { session_id: entry.session_id, platform });
}

export async function openFor(
  gateway: GatewayContext,
  chat: ChatChoice,
  { entry, fresh = false }: { readonly entry: SessionEntry; readonly fresh?: boolean | undefined },
  row: InboxRow,
): Promise<OpenedConversation> {
  const { app } = gateway.opened;
  const { autoSkills } = row.event;
  const exists = !fresh && (await app.store.getSession(entry.session_id)) !== null;
  return app.openConversation({
    ...conversationOptionsFor(gateway, row, chat.human),
    ...(exists ? { resume: entry.session_id } : { sessionId: entry.session_id }),
    skills: exists ? undefined : autoSkills,
    ...chat.overrides,
  });
}

/** Users who are not owners, and chats that several users share, work in a folder of their own. */
function workspaceFor(gateway: GatewayContext, row: InboxRow): string | undefined {
  const { source } = row.event;
  const isOwners = gateway.roleFor(row) === "owner" && !isShared(source, gateway.keyRules);
  if (isOwners || source.chatKind === "webhook") return undefined;
  const folder = join(gateway.opened.app.home.path, "workspaces", gateway.tenant(source));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}

/** The options of a conversation for this message: whose memory, which tools, where jobs deliver to. */
export function conversationOptionsFor(gateway: GatewayContext, row: InboxRow, human: Human): ConversationOptions {
  const { source, channelPrompt } = row.event;
  const platform = gateway.platform(row.platform);
  const hint = platform ? instructionsFor(source, platform, isShared(source, gateway.keyRules)) : "";
  return {
    human,
    source: source.platform,
    platform: source.platform,
    userId: gateway.sharesHome(source) ? undefined : tenantKey(source, gateway.keyRules),
    cwd: workspaceFor(gateway, row),
    platformUserId: source.userId ?? undefined,
    titles: row.platform === "webhook" ? false : undefined,
    instructions: [hint, channelPrompt ?? ""].filter((part) => part !== "").join("\n\n"),
    origin: {
      platform: source.platform,
      chat_id: source.chatId,
      chat_name: source.chatName ?? null,
      thread_id: source.threadId ?? null,
    },
  };
}

export function chatSignature(
  gateway: GatewayContext,
  entry: SessionEntry,
  chat: Pick<ChatChoice, "overrides">,
): string {
  return JSON.stringify([entry.created_at, chat.overrides, gateway.opened.envRevision]);
}
