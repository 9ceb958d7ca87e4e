// `hermes chat`: reads the flags, opens the program, and starts the terminal surface.
import { resolve } from "node:path";
import type { App } from "../app/app.ts";
import { openApp } from "../app/compose.ts";
import type { ConversationOptions } from "../core/conversation.ts";
import { absentHuman, type Human } from "../core/human.ts";
import { shellQuote } from "../lib/text/shell-quote.ts";
import { showControlCharacters } from "../lib/text/visible-text.ts";
import { type ChatArgs, chatOptions, joinNames, parseChatArgs, parseSkills, parseToolsets } from "./chat-options.ts";
import { type CliCommand, type CliContext, textOption } from "./command.ts";
import { sessionToResume } from "./resume.ts";

async function conversationOptions(
  context: CliContext,
  app: App,
  human: Human,
  maxTurns: number | undefined,
): Promise<ConversationOptions> {
  const session = await sessionToResume(app.store, {
    resume: textOption(context, "resume"),
    continue: textOption(context, "continue"),
  });
  return {
    human,
    source: textOption(context, "source") ?? context.home.env.HERMES_SESSION_SOURCE ?? "cli",
    skills: parseSkills(context),
    resume: session,
    model: textOption(context, "model"),
    provider: textOption(context, "provider"),
    toolsets: parseToolsets(context),
    maxTurns,
    ignoreRules: Boolean(context.values["ignore-rules"]),
    passSessionId: Boolean(context.values["pass-session-id"]),
    checkpoints: Boolean(context.values.checkpoints),
  };
}

/** What a pipe gives to `-q` and `-z`; a conversation reads its input itself. */
async function pipedText(context: CliContext, mode: ChatArgs["mode"]): Promise<string> {
  if (mode === "interactive") return "";
  const { attachPiped, readPipedInput } = await import("./piped-input.ts");
  const { terminal } = context;
  return attachPiped(
    await readPipedInput(
      () => terminal.streams.stdin,
      (text) => terminal.err(`notice: ${text}`),
    ),
  );
}

async function run(context: CliContext): Promise<number> {
  const options = parseChatArgs(context);
  const attached = await pipedText(context, options.mode);
  const interactive = options.mode === "interactive";
  if (interactive && context.terminal.interactive) await (await import("./setup/first-run.ts")).offerSetup(context);
  const app = await openApp(context.home, {
    host: interactive ? "worker" : "in-process",
    ignoreUserConfig: Boolean(context.values["ignore-user-config"]),
    yolo: Boolean(context.values.yolo),
    acceptHooks: Boolean(context.values["accept-hooks"]),
    ...(interactive && context.terminal.interactive
      ? {
          consentToHook: ({ event, command }: { event: string; command: string }) =>
            context.terminal.confirm(`Run "${showControlCharacters(command)}" at every ${event}?`),
        }
      : {}),
    onNotice: (text) =>
      options.mode === "oneshot" ? undefined : context.terminal.err(`notice: ${context.terminal.forErr(text)}`),
  });
  try {
    if (options.mode !== "oneshot")
      for (const warning of app.warnings) context.terminal.err(`warning: ${context.terminal.forErr(warning)}`);
    const surface = context.surfaces.terminal;
    const verbose = Boolean(context.values.verbose);
    const forHuman = (human: Human) => conversationOptions(context, app, human, options.maxTurns);
    const { home, terminal } = context;
    if (options.mode === "interactive")
      return await surface.interact({
        home,
        terminal,
        app,
        verbose,
        plain: Boolean(context.values.plain),
        options: forHuman,
      });
    const opened = await app.openConversation(await forHuman(absentHuman));
    const folder = textOption(context, "trajectory");
    return await surface.ask(terminal, app, opened, {
      ...options,
      attached,
      mode: options.mode,
      json: Boolean(context.values.json),
      verbose,
      trajectoryFolder: folder ? resolve(home.cwd, folder) : undefined,
    });
  } finally {
    await app.close();
  }
}

export const chatCommand: CliCommand = {
  name: "chat",
  summary: "Talk to Hermes (the default command)",
  args: "",
  maxPositionals: 0,
  extraHint: (words) => `To ask a question: hermes -q ${shellQuote(words.join(" "))}. See: hermes chat --help`,
  options: chatOptions,
  rewrite: joinNames,
  examples: [
    "hermes",
    'hermes chat -q "what changed in this repository today?"',
    'hermes -z "summarise README.md" -m anthropic/claude-sonnet-4.6',
    'git diff | hermes -z "write a commit message"',
    "hermes -c",
  ],
  run,
};
