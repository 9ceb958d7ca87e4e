// What a run of a job needs from the program.

import type { Role } from "../../core/chat/role.ts";
import type { Config } from "../../core/config/config.ts";
import type { Conversation, ConversationOptions } from "../../core/conversation.ts";
import type { Home } from "../../core/home.ts";
import type { Deliverer } from "../../core/job.ts";
import type { SessionStore } from "../../core/store/session.ts";
import type { LoadedSkill } from "./assemble.ts";

export interface JobHost {
  readonly home: Home;
  readonly config: Config;
  /** The folder for the documents of runs. */
  readonly output: string;
  openConversation(options: ConversationOptions): Promise<{ readonly conversation: Conversation }>;
  readonly sessions: Pick<SessionStore, "getSession" | "endSession">;
  loadSkill(name: string, signal: AbortSignal): Promise<LoadedSkill>;
  /** The rule that a text violates; undefined when it may be sent to a model. */
  scan(text: string): string | undefined;
  redact(text: string): string;
  deliverer(): Promise<Deliverer>;
  /** The file that a `MEDIA:` marker names; null when it does not exist or cannot be sent. */
  sendableFile(written: string): string | null;
  /** True for files with keys or passwords, which must not be sent. */
  isProtected(path: string, role: Role): Promise<boolean>;
  notice(text: string): void;
  /** The time zone of jobs that name none. */
  zone(): string;
  now(): number;
}

/** A job that was created in a shared chat has the rights of a guest. */
export function jobRole(job: { readonly origin: { readonly tenant?: string | undefined } | null }): Role {
  return job.origin?.tenant === undefined ? "owner" : "guest";
}
