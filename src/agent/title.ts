// Generates the title of a session from its first exchange, in the background.
import type { Message } from "../core/message.ts";
import { contentText } from "../core/message.ts";
import type { ConversationState } from "./conversation-state.ts";

const EXCERPT = 500;
const MAX_TITLE_CHARS = 80;
const LAST_TURN_FOR_TITLES = 2;
const TASK =
  "Name this conversation in 3 to 7 words, in the language of the user. Answer with the name only: no quotes, no full stop.";

/** Quotes and a `Title:` prefix removed, one line, cut to 80 characters. */
export function cleanTitle(raw: string): string {
  const line = raw.trim().split("\n", 1)[0] ?? "";
  const plain = line
    .replace(/^#+\s*/, "")
    .replace(/^\s*["'“”‘’«»`*]+|["'“”‘’«»`*]+\s*$/g, "")
    .replace(/^title\s*:\s*/i, "")
    .replace(/^["'“”‘’«»`*]+|["'“”‘’«»`*]+$/g, "")
    .trim();
  return plain.length > MAX_TITLE_CHARS ? `${plain.slice(0, MAX_TITLE_CHARS - 3)}...` : plain;
}

export function wantsTitle(log: readonly Message[]): boolean {
  let users = 0;
  for (const message of log) if (message.role === "user") users += 1;
  return users > 0 && users <= LAST_TURN_FOR_TITLES;
}

/** Does nothing when the session has a title or the side model fails. */
export async function generateTitle(
  state: ConversationState,
  exchange: { user: string; answer: string },
  signal: AbortSignal,
): Promise<void> {
  const { store, side, redactor, log } = state;
  // A new session has no title in its first turn.
  const untitled = !log.resumed && state.turns === 1 && log.plannedTitle === undefined;
  if (state.titled || (!untitled && (await store.getSessionTitle(log.sessionId)) !== null)) return;
  const clean = (text: string) => (redactor?.redact(text) ?? text).slice(0, EXCERPT);
  const prompt = `${TASK}\n\nUser: ${clean(exchange.user)}\n\nAssistant: ${clean(exchange.answer)}`;
  const request = {
    task: "title_generation",
    prompt,
    maxOutputTokens: 500,
    temperature: 0.3,
    sessionId: log.sessionId,
  };
  const answer = await side.ask(request, signal);
  const title = answer.ok ? cleanTitle(answer.text) : "";
  if (title === "" || signal.aborted) return;
  const { sessionId } = log;
  if ((await store.getSessionTitle(sessionId)) !== null) return;
  const taken = (await store.getSessionByTitle(title)) !== null;
  await store.setSessionTitle(sessionId, taken ? await store.getNextTitleInLineage(title) : title);
  state.titled = true;
}

/** The last user message and its answer. */
export function lastExchange(log: readonly Message[], answer: string): { user: string; answer: string } {
  const asked = log.findLast((message) => message.role === "user");
  return { user: contentText(asked?.content), answer };
}
