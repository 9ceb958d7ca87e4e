// `.restart_notify.json`: who asked for a restart in a chat, so that the next start can say that it is back.
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import type { DeliveryTarget } from "../../core/job.ts";
import type { Source } from "../../core/platform.ts";
import { atomicWrite } from "../../lib/atomic-write.ts";
import { parseJson } from "../../lib/json/parse-json.ts";

function pathOf(homePath: string): string {
  return join(homePath, ".restart_notify.json");
}

export async function noteRestart(homePath: string, { platform, chatId, threadId }: Source): Promise<void> {
  const file = { platform, chat_id: chatId, thread_id: threadId ?? null };
  await atomicWrite(pathOf(homePath), `${JSON.stringify(file)}\n`, 0o600);
}

/** The chat to tell, once. */
export async function takeRestart(homePath: string): Promise<DeliveryTarget | null> {
  const text = await readFile(pathOf(homePath), "utf8").catch(() => null);
  if (text === null) return null;
  await rm(pathOf(homePath), { force: true });
  const {
    platform,
    chat_id: chatId,
    thread_id: threadId,
  } = (parseJson(text) ?? {}) as { platform?: unknown; chat_id?: unknown; thread_id?: unknown };
  if (typeof platform !== "string" || !chatId) return null;
  return { platform, chatId: String(chatId), ...(threadId ? { threadId: String(threadId) } : {}) };
}
