// Opens the session store of the home for a command and closes it afterwards.
import { openHomeStore } from "../app/open-store.ts";
import { UserError } from "../core/failure.ts";
import type { SessionStore } from "../core/store/session.ts";
import type { CliContext } from "./command.ts";

export async function withStore<T>(context: CliContext, work: (store: SessionStore) => Promise<T>): Promise<T> {
  const store = await openHomeStore(context.home, { onNotice: (text) => context.terminal.err(`notice: ${text}`) });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** Finds a session by id, unique id prefix or title. */
export async function requireSession(store: SessionStore, text: string | undefined): Promise<string> {
  if (!text)
    throw new UserError("which session?", {
      hint: "Give an id, the start of one, or a title. See: hermes sessions list",
      exitCode: 2,
    });
  const id = (await store.resolveSessionId(text)) ?? (await store.resolveSessionByTitle(text));
  if (!id) {
    throw new UserError(`no session matches "${text}"`, {
      hint: "An id prefix must be unique. See: hermes sessions list, or hermes sessions search WORDS",
    });
  }
  return id;
}
