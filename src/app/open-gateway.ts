// Composes the gateway: the program, its mailbox, its platforms and its settings.
import { join } from "node:path";
import type { QuickCommands } from "../commands/quick-command.ts";
import type { Platform, PlatformContext } from "../core/chat/platform.ts";
import { readPlatformSettings } from "../core/chat/platform-settings.ts";
import type { Role } from "../core/chat/role.ts";
import type { Home } from "../core/home.ts";
import type { JsonObject } from "../core/message.ts";
import type { Mailbox } from "../core/store/mailbox.ts";
import { openPairing, type Pairing } from "../delivery/api/pairing.ts";
import { privateDatabase } from "../home/home-layout.ts";
import { lazy } from "../lib/async/lazy.ts";
import { errorMessage } from "../lib/error-message.ts";
import { isProtected } from "../security/protected-files.ts";
import type { App } from "./app.ts";
import { openApp } from "./compose.ts";
import { allPlatforms } from "./platforms.ts";

export interface OpenedGateway {
  readonly app: App;
  readonly mailbox: Mailbox;
  readonly pairing: Pairing;
  /** Every platform, set up or not. */
  platforms(state: () => JsonObject): Promise<readonly Platform[]>;
  /** Settings of a platform: the environment first, then its section of the configuration. */
  settings(platform: string, names: Platform["settings"]): Pick<PlatformContext, "setting" | "section">;
  /** True when a chat's session must be compacted before the next turn. */
  hygieneDue(
    sessionId: string,
    known: { readonly messages: number; readonly promptTokens: number; readonly contextLength: number },
  ): Promise<boolean>;
  /** Increases when `.env` or config.yaml has changed: conversations opened before have the old values. */
  readonly envRevision: number;
  /** Reads `.env` and config.yaml again when they have changed. */
  refreshEnv(): Promise<void>;
  /** Reads both files now; `problem` says why config.yaml is not used. */
  reload(): Promise<{ readonly changed: boolean; readonly problem?: string | undefined }>;
  /** True for files that must not be sent, such as keys and passwords; follows links. */
  isProtected(path: string, role: Role): Promise<boolean>;
  /** The words of a recording; `unset` when no transcription is configured. */
  listen(path: string): ReturnType<typeof import("./open-speech.ts").listen>;
  /** The file of a voice note; null when there is nothing to speak. Rejects when speech is not available. */
  say(text: string): Promise<string | null>;
  /** Why speech is not available; undefined when it is. */
  speechProblem(): Promise<string | undefined>;
  /** The slash commands of the configuration. */
  quickCommands(): Promise<QuickCommands>;
  /** Removes received files older than this from the cache. */
  sweepMedia(olderThanMs: number): Promise<void>;
  /** Sets the home channel in `.env`. */
  setHomeChannel(
    variable: string,
    to: { readonly chatId: string; readonly threadId?: string | undefined; readonly name?: string | undefined },
  ): Promise<void>;
  close(): Promise<void>;
}

export interface OpenGatewayOptions {
  /** `worker` keeps disk access off the event loop; tests use `in-process`. */
  readonly host?: "in-process" | "worker" | undefined;
  readonly acceptHooks?: boolean | undefined;
  onNotice?(text: string): void;
}

/** The files are checked at most this often. */
const REFRESH_MS = 250;

async function hygieneDue(
  app: App,
  sessionId: string,
  known: { messages: number; promptTokens: number; contextLength: number },
): Promise<boolean> {
  const { enabled, hygiene_hard_message_limit: hardMessageLimit } = app.config.compression;
  const count = known.messages;
  const near = known.promptTokens === 0 || known.promptTokens >= known.contextLength * 0.8;
  // Reads the messages only when compaction may be due.
  if (!enabled || count < 4 || (!near && count < hardMessageLimit)) return false;
  const { needsHygiene } = await import("../context/hygiene.ts");
  const messages = await app.store.getConversation(sessionId);
  const { promptTokens, contextLength } = known;
  return needsHygiene({ messages, contextLength, lastPromptTokens: promptTokens, enabled, hardMessageLimit });
}

async function setHomeChannel(
  home: Home,
  variable: string,
  to: { chatId: string; threadId?: string | undefined; name?: string | undefined },
): Promise<void> {
  const { setEnvValue } = await import("../config/env-write.ts");
  await setEnvValue(home, variable, to.chatId);
  await setEnvValue(home, `${variable}_NAME`, to.name ?? "Home");
  await setEnvValue(home, `${variable}_THREAD_ID`, to.threadId ?? "");
}

async function openQuickCommands(app: App): Promise<QuickCommands> {
  const [{ quickCommands }, { configuredEnvironment }] = await Promise.all([
    import("../commands/quick-command.ts"),
    import("./command-environment.ts"),
  ]);
  const { home, config } = app;
  return quickCommands(config.quick_commands, () => ({
    cwd: home.cwd,
    env: configuredEnvironment(home, config),
    redact: (text) => app.redact(text),
  }));
}

export async function openGateway(home: Home, options: OpenGatewayOptions = {}): Promise<OpenedGateway> {
  const host = options.host ?? "worker";
  const { openMailbox } = await import("../store/open-mailbox.ts");
  const { mailbox, ledger } = await openMailbox(privateDatabase(home, "runtime.db"), host, (error) =>
    options.onNotice?.(`spending could not be recorded: ${errorMessage(error)}`),
  );
  const app = await openApp(home, {
    host,
    approvals: "gateway",
    acceptHooks: options.acceptHooks,
    ...(ledger ? { ledger } : {}),
    ...(options.onNotice ? { onNotice: options.onNotice } : {}),
  });
  let envRevision = 0;
  let refreshing: { readonly at: number; readonly work: Promise<void> } | undefined;
  const reload = async () => {
    const report = await app.refreshSettings();
    if (report.changed) envRevision += 1;
    return report;
  };
  const refreshEnv = (): Promise<void> => {
    if (refreshing && performance.now() - refreshing.at < REFRESH_MS) return refreshing.work;
    const work = reload().then(() => undefined);
    refreshing = { at: performance.now(), work };
    return work;
  };
  return {
    app,
    mailbox,
    get envRevision() {
      return envRevision;
    },
    refreshEnv,
    reload,
    isProtected: (path, role) => isProtected(home, path, role),
    listen: async (path) => (await import("./open-speech.ts")).listen(app, path),
    say: async (text) => (await import("./open-speech.ts")).say(app, text),
    speechProblem: async () => {
      const found = (await import("./open-speech.ts")).textToSpeech(app);
      return found.ok ? undefined : found.reason;
    },
    quickCommands: lazy(() => openQuickCommands(app)),
    sweepMedia: async (maxAgeMs) => {
      const { sweepSpills } = await import("../home/spill-sweep.ts");
      for (const kind of ["images", "audio", "videos", "documents"])
        await sweepSpills(join(home.path, "cache", kind), { maxAgeMs, maxBytes: Number.POSITIVE_INFINITY });
    },
    pairing: openPairing(home.path),
    platforms: (state) => allPlatforms(app, state),
    settings: (platform, names) => readPlatformSettings(app, platform, names),
    hygieneDue: (sessionId, known) => hygieneDue(app, sessionId, known),
    setHomeChannel: async (variable, to) => {
      await setHomeChannel(home, variable, to);
      refreshing = undefined;
      await refreshEnv();
    },
    close: async () => {
      await app.close();
      await mailbox.close();
    },
  };
}
