// Which session a message belongs to, and whose memory that session may see.
import { createHash } from "node:crypto";
import type { Source } from "../../core/platform.ts";

export interface KeyRules {
  /** In groups, each person has a session. */
  readonly groupPerUser: boolean;
  /** In threads, each person has a session. */
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

/** Several people write in this session: each message starts with a name. */
export function isShared(source: Source, rules: KeyRules): boolean {
  return !isPersonal(source, rules);
}

function safe(text: string): string {
  if (/^[\w-]{1,64}$/.test(text)) return text;
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return `${text.replaceAll(/[^\w-]/g, "_").slice(0, 40)}-${digest}`;
}

/**
 * The name under which memory, sessions and search are kept apart: a person, or a chat that several people share.
 * Different sources never get the same name, whatever characters the platform puts into its ids.
 */
export function tenantKey(source: Source, rules: KeyRules): string {
  if (isShared(source, rules))
    return `${source.platform}-chat-${safe([source.chatId, source.threadId].filter(Boolean).join(":"))}`;
  return `${source.platform}-user-${safe(source.userIdAlt ?? source.userId ?? "nobody")}`;
}
