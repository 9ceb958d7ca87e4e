// `.restart_notify.json`: the chat that requested a restart, to notify it after the start.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Source } from "../../core/chat/platform.ts";
import type { DeliveryTarget } from "../../core/job.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

function filePath(homePath: string): string {
  return join(homePath, ".restart_notify.json");
}

export async function noteRestart(homePath: string, { platform, chatId, threadId }: Source): Promise<void> {
  const file = { platform, chat_id: chatId, thread_id: threadId ?? null };
  await atomicWrite(filePath(homePath), `${JSON.stringify(file)}\n`, 0o600);
}

/** Returns the chat to notify and deletes the file. */
export async function takeRestart(homePath: string): Promise<DeliveryTarget | null> {
  const text = await readFile(filePath(homePath), "utf8").catch(() => null);
  if (text === null) return null;
  await rm(filePath(homePath), { force: true });
  const {
    platform,
    chat_id: chatId,
    thread_id: threadId,
  } = (parseJson(text) ?? {}) as { platform?: unknown; chat_id?: unknown; thread_id?: unknown };
  if (typeof platform !== "string" || !chatId) return null;
  return { platform, chatId: String(chatId), threadId: threadId ? String(threadId) : undefined };
}
