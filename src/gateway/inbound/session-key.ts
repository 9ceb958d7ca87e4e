// The session key of a message, and the tenant whose memory its session uses.
import { createHash } from "node:crypto";
import type { Source } from "../../core/chat/platform.ts";

export interface KeyRules {
  /** In groups, each user has a session. */
  readonly groupPerUser: boolean;
  /** In threads, each user has a session. */
  readonly threadPerUser: boolean;
}

function isPersonal(source: Source, rules: KeyRules): boolean {
  if (source.chatKind === "dm") return true;
  return source.threadId ? rules.threadPerUser : rules.groupPerUser;
}

/** The key of `sessions.json`; the same shape as in v0.14. */
export function sessionKey(source: Source, rules: KeyRules): string {
  const { platform, chatKind, chatId, threadId } = source;
  if (chatKind === "dm") {
    const place = [chatId, threadId].filter(Boolean);
    return ["agent", "main", platform, "dm", ...place].join(":");
  }
  const participant = isPersonal(source, rules) ? (source.userIdAlt ?? source.userId) : null;
  return ["agent", "main", platform, chatKind, chatId, threadId, participant].filter(Boolean).join(":");
}

/** True when several users share the session: each message then starts with a name. */
export function isShared(source: Source, rules: KeyRules): boolean {
  return !isPersonal(source, rules);
}

function safe(text: string): string {
  if (/^[\w-]{1,64}$/.test(text)) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${text.replaceAll(/[^\w-]/g, "_").slice(0, 40)}-${digest}`;
}

/**
 * The tenant of memory, sessions and search: a user, or a chat that several users share. Different sources never get the
 * same key, whatever characters the platform uses in its ids.
 */
export function tenantKey(source: Source, rules: KeyRules): string {
  if (isShared(source, rules))
    return `${source.platform}-chat-${safe([source.chatId, source.threadId].filter(Boolean).join(":"))}`;
  return `${source.platform}-user-${safe(source.userIdAlt ?? source.userId ?? "nobody")}`;
}
