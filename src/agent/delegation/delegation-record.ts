// A stored record of the running subagents, so that after a restart the parent gets their partial results.
import type { JsonObject } from "../../core/message.ts";
import { contentText } from "../../core/message.ts";
import type { SessionLog } from "../../core/store/session.ts";

export interface DelegatedChild {
  readonly index: number;
  readonly goal: string;
  readonly sessionId: string;
}

type OpenDelegations = { [callId: string]: readonly DelegatedChild[] };

const metaKey = (conversationId: string) => `delegation:${conversationId}`;

async function read(store: SessionLog, conversationId: string): Promise<OpenDelegations> {
  const text = await store.getMeta(metaKey(conversationId));
  if (text === null || text === "") return {};
  try {
    return JSON.parse(text) as OpenDelegations;
  } catch {
    // A damaged record costs the report of lost children, not the conversation.
    return {};
  }
}

/** One writer per conversation: calls of one conversation come from one process. */
export class DelegationRecord {
  readonly #store: SessionLog;
  #last: Promise<void> = Promise.resolve();

  constructor(store: SessionLog) {
    this.#store = store;
  }

  begin(conversationId: string, callId: string, children: readonly DelegatedChild[]): Promise<void> {
    return this.#change(conversationId, (open) => {
      open[callId] = children;
    });
  }

  end(conversationId: string, callId: string): Promise<void> {
    return this.#change(conversationId, (open) => {
      delete open[callId];
    });
  }

  #change(conversationId: string, edit: (open: OpenDelegations) => void): Promise<void> {
    const work = this.#last.then(async () => {
      const open = await read(this.#store, conversationId);
      edit(open);
      await this.#store.setMeta(metaKey(conversationId), JSON.stringify(open));
    });
    this.#last = work.catch(() => undefined);
    return work;
  }
}

async function abandonedChild(store: SessionLog, child: DelegatedChild): Promise<JsonObject> {
  const messages = await store.getConversation(child.sessionId);
  const lastAnswer = messages.findLast(
    (message) => message.role === "assistant" && contentText(message.content).trim() !== "",
  );
  const row = await store.getSession(child.sessionId);
  if (row !== null && row.ended_at === null) await store.endSession(child.sessionId, "abandoned");
  return {
    task_index: child.index,
    status: "abandoned",
    exit_reason: "abandoned",
    summary: contentText(lastAnswer?.content),
    session_id: child.sessionId,
    api_calls: row?.api_call_count ?? 0,
    error: "The process ended while this subagent was at work. What it did so far is in its session.",
  };
}

/** The result of a delegation whose process died: what its children had done. Undefined for other calls. */
export async function abandonedAnswer(
  store: SessionLog,
  conversationId: string,
  callId: string,
): Promise<string | undefined> {
  const children = (await read(store, conversationId))[callId];
  if (children === undefined) return undefined;
  const results: JsonObject[] = [];
  for (const child of children) results.push(await abandonedChild(store, child));
  await new DelegationRecord(store).end(conversationId, callId);
  return JSON.stringify({ results });
}
