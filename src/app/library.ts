// The library: `createHermes({ home })` opens a home for use from a program.
import { join, resolve } from "node:path";
import type { CommandAnswer } from "../core/chat/command.ts";
import type { Conversation, ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import type { Human } from "../core/human.ts";
import type { Review } from "../core/review.ts";
import { endReason } from "../core/store/end-reason.ts";
import type { SessionStore } from "../core/store/session.ts";
import type { UsageLedger } from "../core/store/usage.ts";
import { type Jobs, openJobs } from "../cron/job-service.ts";
import { hostWith, openHome } from "../home/api.ts";

export interface HermesOptions {
  /** The home directory. Default: HERMES_HOME, else `~/.hermes`. */
  readonly home?: string | undefined;
  /** The environment to use instead of `process.env`: provider keys and HERMES_* variables. */
  readonly env?: { readonly [name: string]: string | undefined };
  /** Settings that override config.yaml for this program: `{ model: { default: "…" } }`. */
  readonly config?: { readonly [key: string]: unknown };
  readonly cwd?: string | undefined;
  /** The session database to use instead of `state.db` of the home; created with its folder when missing. */
  readonly database?: string | undefined;
  /** Receives notices, for example about degraded storage or an unreadable key file. */
  onNotice?(text: string): void;
}

export interface Hermes {
  readonly home: string;
  readonly sessions: SessionStore;
  readonly usage: UsageLedger;
  /** Scheduled jobs. They run while a gateway runs, or when the program calls `jobs.tick()` every minute. */
  readonly jobs: Jobs;
  /** Lasting changes that wait for the user's decision. */
  readonly review: Review;
  /** Opens a new conversation, or resumes the session `resume`. */
  conversation(options?: ConversationOptions): Promise<Conversation & { readonly about: OpenedConversation }>;
  /**
   * Runs a slash command of the terminal for a conversation: `/usage`, `/undo`, `/model NAME`. The answer is data. Text is
   * ready to be shown; `send` is a message to send, `switch` a session to resume, `model` a model to open it with, and
   * `choose` a list whose values are arguments of the same command.
   */
  command(
    conversation: Conversation & { readonly about: OpenedConversation },
    line: string,
    options?: { readonly human?: Human | undefined; readonly width?: number | undefined },
  ): Promise<CommandAnswer>;
  /** Asks one question in a new conversation and closes it. */
  ask(
    text: string,
    options?: ConversationOptions,
  ): Promise<{ text: string; sessionId: string; events: readonly AgentEvent[] }>;
  close(): Promise<void>;
}

/** Opens a home. Makes no network requests until a message is sent. */
export async function createHermes(options: HermesOptions = {}): Promise<Hermes> {
  const { openApp } = await import("./compose.ts");
  // With the home's own `.env`, not that of the default home.
  const { home: found } = openHome([], hostWith(options));
  const path = options.home ? resolve(options.home) : found.path;
  const home = { ...found, path, root: options.home ? path : found.root };
  const app = await openApp(home, {
    host: "worker",
    database: options.database ? resolve(options.cwd ?? process.cwd(), options.database) : undefined,
    ...(options.config ? { overrides: options.config } : {}),
    ...(options.onNotice ? { onNotice: options.onNotice } : {}),
  });
  const conversation: Hermes["conversation"] = async (request = {}) => {
    const about = await app.openConversation({ source: "library", ...request });
    const close = about.conversation.close.bind(about.conversation);
    return Object.assign(about.conversation, {
      about,
      close: (closing: Parameters<Conversation["close"]>[0] = {}) =>
        close({ reason: closing.reason ?? endReason("library_close") }),
    });
  };
  return {
    home: join(path),
    sessions: app.store,
    usage: app.ledger,
    jobs: openJobs(() => app.cron()),
    review: {
      list: async (all) => (await app.review()).list(all),
      find: async (id) => (await app.review()).find(id),
      accept: async (id) => (await app.review()).accept(id),
      discard: async (id) => (await app.review()).discard(id),
    },
    conversation,
    command: async ({ about }, line, given = {}) => {
      const { runCommand } = await import("./commands/run-command.ts");
      return runCommand(app, { opened: about, line, busy: about.conversation.running, ...given });
    },
    ask: async (text, request) => {
      const talk = await conversation(request);
      const events: AgentEvent[] = [];
      for await (const event of talk.send(text, { signal: new AbortController().signal })) events.push(event);
      const ended = events.at(-1);
      await talk.close({ reason: endReason("library_close", ended?.type === "ended" ? ended.end : undefined) });
      return { text: ended?.type === "ended" ? ended.text : "", sessionId: talk.sessionId, events };
    },
    close: () => app.close(),
  };
}
