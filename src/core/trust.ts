// How far text can be trusted: the user's own, files of the workspace, or text that somebody else may have written.

/**
 * `own`: written by the user or by Hermes itself. `workspace`: files and local commands of the workspace, which the user
 * may or may not have written. `untrusted`: anything that somebody else may have written.
 */
export type Trust = "own" | "workspace" | "untrusted";

export interface Provenance {
  readonly trust: Trust;
  /** Where the text came from, as shown to the user; undefined for `own`. */
  readonly origin?: string | undefined;
}

export const OWN: Provenance = { trust: "own" };

const ORDER: readonly Trust[] = ["own", "workspace", "untrusted"];

/** The less trusted of two; the first one when they are equal. */
export function lessTrusted(a: Provenance, b: Provenance): Provenance {
  return ORDER.indexOf(b.trust) > ORDER.indexOf(a.trust) ? b : a;
}

/** Tools whose results contain only what Hermes, the user or the model itself wrote. */
const OWN_TOOLS = new Set([
  "clarify",
  "cronjob",
  "image_generate",
  "memory",
  "patch",
  "recall_context",
  "send_message",
  "skill_manage",
  "skill_view",
  "skills_list",
  "text_to_speech",
  "todo",
  "write_file",
]);

/** The trust of a stored result of which only the tool's name is known, for example one that v0.14 wrote. */
export function trustByToolName(name: string | null | undefined): Provenance {
  if (name && OWN_TOOLS.has(name)) return OWN;
  return { trust: "untrusted", origin: name ? `the result of ${name}` : "the result of a tool" };
}

/**
 * Whether lasting changes need the user's approval. Without a user who sees what happens, files of the workspace are
 * not trusted either.
 */
export function isTainted({ trust }: Provenance, userPresent: boolean): boolean {
  return trust === "untrusted" || (trust === "workspace" && !userPresent);
}
