// Finds the session that -r and -c name.
import { UserError } from "../core/failure.ts";
import type { SessionIndex, SessionLog } from "../core/store/session.ts";

/** By exact id, then by title (the newest), then by unique id prefix. Returns the newest session of its compaction chain. */
async function resolveSession(store: SessionLog & SessionIndex, wanted: string): Promise<string> {
  const id =
    (await store.getSession(wanted))?.id ??
    (await store.resolveSessionByTitle(wanted)) ??
    (await store.resolveSessionId(wanted));
  if (!id)
    throw new UserError(`no session "${wanted}"`, {
      hint: "See: hermes sessions list, or pick one with: hermes sessions browse",
    });
  return store.resolveResumeSessionId(await store.getCompressionTip(id));
}

/** Undefined for a new session. */
export async function sessionToResume(
  store: SessionLog & SessionIndex,
  options: { resume?: string | undefined; continue?: string | undefined },
): Promise<string | undefined> {
  if (options.resume) return resolveSession(store, options.resume);
  if (options.continue === undefined) return undefined;
  if (options.continue !== "") return resolveSession(store, options.continue);
  const [latest] = await store.searchSessions({ source: "cli", limit: 1 });
  if (!latest) throw new UserError("there is no session to resume", { hint: "Start one with: hermes" });
  return store.resolveResumeSessionId(await store.getCompressionTip(latest.id));
}
