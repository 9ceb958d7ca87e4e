// Reads the messages of a channel after a given one, in pages of a hundred.
import type { APIMessage, REST } from "discord.js";

const PAGE = 100;

export interface MessagePage {
  /** Oldest first. */
  readonly messages: readonly APIMessage[];
  /** False when there are more messages. */
  readonly complete: boolean;
}

/** Rejects when the channel cannot be read. */
export async function readAfter(
  rest: REST,
  channelId: string,
  options: { readonly after: string; readonly pages: number; readonly signal?: AbortSignal | undefined },
): Promise<MessagePage> {
  const messages: APIMessage[] = [];
  let { after } = options;
  const { signal } = options;
  for (let page = 0; page < options.pages; page++) {
    const query = new URLSearchParams({ after, limit: String(PAGE) });
    const newestFirst = (await rest.get(`/channels/${channelId}/messages`, {
      query,
      ...(signal ? { signal } : {}),
    })) as APIMessage[];
    messages.push(...newestFirst.reverse());
    if (newestFirst.length < PAGE) return { messages, complete: true };
    after = messages.at(-1)?.id ?? after;
  }
  return { messages, complete: false };
}
