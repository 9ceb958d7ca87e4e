// `hermes chat`: one question, a script's call, or the interactive conversation.
import { readFile } from "node:fs/promises";
import { extname, resolve } from "node:path";
import type { App } from "../app/app.ts";
import { openApp } from "../app/compose.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import { UserError } from "../core/failure.ts";
import { type Human, nobody } from "../core/human.ts";
import type { ContentPart } from "../core/message.ts";
import { showControlCharacters } from "../lib/text/visible-text.ts";
import { EventPrinter } from "../terminal/event-printer.ts";
import { type ChatArgs, chatOptions, joinNames, parseChatArgs, parseSkills, parseToolsets } from "./chat-options.ts";
import { type CliCommand, type CliContext, textOption } from "./command.ts";
import { sessionToResume } from "./resume.ts";

const MEDIA_TYPES: { readonly [extension: string]: string } = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

async function withImages(options: ChatArgs, text: string): Promise<string | ContentPart[]> {
  if (options.images.length === 0) return text;
  const parts: ContentPart[] = [{ type: "text", text }];
  for (const file of options.images) {
    const type = MEDIA_TYPES[extname(file).toLowerCase()];
    if (!type) throw new UserError(`${file}: images must be png, jpg, gif or webp`, { exitCode: 2 });
    parts.push({
      type: "image_url",
      image_url: { url: `data:${type};base64,${(await readFile(file)).toString("base64")}` },
    });
  }
  return parts;
}

async function conversationOptions(
  context: CliContext,
  app: App,
  human: Human,
  maxTurns: number | undefined,
): Promise<ConversationOptions> {
  const resume = textOption(context, "resume");
  const next = textOption(context, "continue");
  const session = await sessionToResume(app.store, {
    ...(resume ? { resume } : {}),
    ...(next === undefined ? {} : { continue: next }),
  });
  const model = textOption(context, "model");
  const provider = textOption(context, "provider");
  const toolsets = parseToolsets(context);
  return {
    human,
    source: textOption(context, "source") ?? context.home.env.HERMES_SESSION_SOURCE ?? "cli",
    skills: parseSkills(context),
    ...(session ? { resume: session } : {}),
    ...(model ? { model } : {}),
    ...(provider ? { provider } : {}),
    ...(toolsets ? { toolsets } : {}),
    ...(maxTurns === undefined ? {} : { maxTurns }),
    ignoreRules: Boolean(context.values["ignore-rules"]),
    passSessionId: Boolean(context.values["pass-session-id"]),
    checkpoints: Boolean(context.values.checkpoints),
  };
}

/** Ctrl-C, SIGTERM and SIGHUP interrupt the turn; it still stores what happened. */
function interruptOnSignals(): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const names = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const name of names) process.on(name, stop);
  const release = () => {
    for (const name of names) process.off(name, stop);
  };
  return { signal: controller.signal, release };
}

function exitCodeOf(ended: Extract<AgentEvent, { type: "ended" }> | undefined): number {
  if (ended?.end === "interrupted") return 130;
  return ended?.end === "failed" ? 1 : 0;
}

/** Whatever happens, the conversation is closed: memory and plugins hear of its end. */
async function askOnce(context: CliContext, app: App, opened: OpenedConversation, options: ChatArgs): Promise<number> {
  const { signal, release } = interruptOnSignals();
  try {
    return await ask(context, app, { opened, signal }, options);
  } finally {
    await opened.conversation.close();
    release();
  }
}

async function ask(
  context: CliContext,
  app: App,
  { opened, signal }: { opened: OpenedConversation; signal: AbortSignal },
  request: ChatArgs,
): Promise<number> {
  const { terminal } = context;
  const only = request.mode !== "query";
  const json = Boolean(context.values.json);
  if (request.mode === "query" && !json) {
    for (const notice of opened.notices) terminal.err(terminal.style("dim", terminal.forErr(notice)));
    terminal.err(terminal.style("bold", `> ${terminal.forErr(app.redact(request.text))}`));
  }
  if (only || json) for (const notice of opened.modelNotices) terminal.err(notice);
  const printer = new EventPrinter(terminal, {
    quiet: only,
    stream: !only && (app.config.display.streaming || terminal.interactive),
    reasoning: app.config.display.show_reasoning,
    toolProgress: context.values.verbose ? "verbose" : String(app.config.display.tool_progress),
  });
  let ended: Extract<AgentEvent, { type: "ended" }> | undefined;
  const input = await app.prepareInput(request.text, opened);
  if (request.mode !== "oneshot")
    for (const warning of input.warnings) terminal.err(`warning: ${terminal.forErr(warning)}`);
  const options = { signal, tainted: input.untrusted };
  for await (const event of opened.conversation.send(await withImages(request, input.text), options)) {
    if (json) terminal.out(terminal.forOut(JSON.stringify(event)));
    else printer.show(event);
    if (event.type === "ended") ended = event;
  }
  const folder = textOption(context, "trajectory");
  if (folder) {
    const file = await opened.conversation.saveTrajectory(resolve(context.home.cwd, folder), ended?.end === "done");
    if (request.mode === "query") terminal.err(terminal.style("dim", `trajectory: ${file}`));
  }
  await opened.conversation.close();
  if (request.mode === "quiet") terminal.err(`session_id: ${opened.conversation.sessionId}`);
  if (request.mode === "query" && !json)
    terminal.err(
      terminal.style(
        "dim",
        `session ${opened.conversation.sessionId} · go on with: hermes -r ${opened.conversation.sessionId}`,
      ),
    );
  return exitCodeOf(ended);
}

async function run(context: CliContext): Promise<number> {
  const options = parseChatArgs(context);
  const interactive = options.mode === "interactive";
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
    if (interactive) {
      const { interact } = await import("../terminal/interactive.ts");
      return await interact(context, app, (human) => conversationOptions(context, app, human, options.maxTurns));
    }
    const opened = await app.openConversation(await conversationOptions(context, app, nobody, options.maxTurns));
    return await askOnce(context, app, opened, options);
  } finally {
    await app.close();
  }
}

export const chatCommand: CliCommand = {
  name: "chat",
  summary: "Talk to Hermes (also what a bare `hermes` does)",
  args: "",
  maxPositionals: 0,
  options: chatOptions,
  rewrite: joinNames,
  examples: [
    "hermes",
    'hermes chat -q "what changed in this repository today?"',
    'hermes -z "summarise README.md" -m anthropic/claude-sonnet-4.6',
    "hermes -c",
  ],
  run,
};
