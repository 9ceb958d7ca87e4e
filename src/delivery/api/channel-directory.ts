// channel_directory.json: the chats that messages can be sent to, by name. Written by the gateway, read by every process.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { DeliveryTarget, KnownChat } from "../../core/job.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

/** A chat as on disk; `id` is `chat` or `chat:thread`. */
interface Entry {
  readonly id?: unknown;
  readonly name?: unknown;
  readonly type?: unknown;
  readonly guild?: unknown;
  readonly thread_id?: unknown;
}

function filePath(homePath: string): string {
  return join(homePath, "channel_directory.json");
}

function parseChat(platform: string, entry: Entry): KnownChat[] {
  if (typeof entry?.id !== "string" || entry.id === "") return [];
  const threadId = entry.thread_id ? String(entry.thread_id) : undefined;
  const chatId = threadId && entry.id.endsWith(`:${threadId}`) ? entry.id.slice(0, -threadId.length - 1) : entry.id;
  return [
    {
      platform,
      chatId,
      threadId,
      name: String(entry.name ?? chatId),
      kind: String(entry.type ?? "dm"),
      guild: entry.guild ? String(entry.guild) : undefined,
    },
  ];
}

/** A missing or damaged file is an empty list: the gateway writes a new one. */
export async function readDirectory(homePath: string): Promise<readonly KnownChat[]> {
  let file: unknown;
  try {
    file = parseJson(await readFile(filePath(homePath), "utf8"));
  } catch {
    // The gateway rewrites it every few minutes.
    return [];
  }
  const platforms = (file as { platforms?: { readonly [name: string]: unknown } } | null)?.platforms ?? {};
  return Object.entries(platforms).flatMap(([platform, entries]) =>
    Array.isArray(entries) ? (entries as Entry[]).flatMap((entry) => parseChat(platform, entry)) : [],
  );
}

export async function writeDirectory(homePath: string, chats: readonly KnownChat[], now: number): Promise<void> {
  const platforms: { [name: string]: Entry[] } = {};
  for (const { platform, chatId, threadId, name, kind, guild } of chats) {
    const list = platforms[platform] ?? [];
    platforms[platform] = list;
    list.push({
      id: threadId ? `${chatId}:${threadId}` : chatId,
      name,
      guild,
      type: kind,
      thread_id: threadId ?? null,
    });
  }
  const file = { updated_at: new Date(now).toISOString(), platforms };
  await atomicWrite(filePath(homePath), `${JSON.stringify(file, null, 2)}\n`, 0o600);
}

function plain(text: string): string {
  return text.trim().replace(/^[#@]/, "").toLowerCase();
}

/** By id, name (`#general`, `Ada`), `Server/channel`, or a unique prefix of the name. */
export function findChat(chats: readonly KnownChat[], platform: string, reference: string): KnownChat | undefined {
  const here = chats.filter((chat) => chat.platform === platform);
  const wanted = plain(reference);
  const formatId = (chat: KnownChat) => (chat.threadId ? `${chat.chatId}:${chat.threadId}` : chat.chatId);
  const byId = here.find((chat) => formatId(chat) === reference.trim());
  if (byId || wanted === "") return byId;
  const named = here.filter((chat) => plain(chat.name) === wanted || `${plain(chat.name)} (${chat.kind})` === wanted);
  const full = here.filter((chat) => chat.guild && `${plain(chat.guild)}/${plain(chat.name)}` === wanted);
  const starting = here.filter((chat) => plain(chat.name).startsWith(wanted));
  // Two chats of the same name can only be addressed by id.
  for (const found of [named, full, starting]) if (found.length > 0) return found.length === 1 ? found[0] : undefined;
  return undefined;
}

/** True for ids of the platform, so that a chat can be addressed before it is in the directory. */
export function isRawId(platform: string, reference: string): boolean {
  if (platform === "telegram") return /^-?\d+$|^@\w+$/.test(reference);
  if (platform === "discord") return /^\d+$/.test(reference);
  if (platform === "email") return /^[^\s@]+@[^\s@]+$/.test(reference);
  if (platform === "signal" || platform === "sms") return /^\+\d{5,}$/.test(reference);
  return !reference.startsWith("#");
}

/** The chat of a reference, with its thread; undefined when there is none. */
export function resolveChat(
  chats: readonly KnownChat[],
  platform: string,
  reference: string,
): DeliveryTarget | undefined {
  const found = findChat(chats, platform, reference);
  if (!found) return isRawId(platform, reference) ? { platform, chatId: reference } : undefined;
  return { platform, chatId: found.chatId, threadId: found.threadId };
}
