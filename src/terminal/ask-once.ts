// `hermes chat -q` and `-z`: one question, its answer, and the exit code.
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { App } from "../app/app.ts";
import type { OpenedConversation } from "../core/conversation.ts";
import type { AgentEvent } from "../core/event.ts";
import { UserError } from "../core/failure.ts";
import type { ContentPart } from "../core/message.ts";
import { endReason } from "../core/store/end-reason.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import { EventPrinter } from "./event-printer.ts";
import { loadPlainView } from "./view/plain-view.ts";

export interface Question {
  readonly text: string;
  /** Text that follows the question as it is: `@` in it is not a reference. */
  readonly attached?: string | undefined;
  /** Paths of images to attach. */
  readonly images: readonly string[];
  /** `query` prints progress, `quiet` the answer and the session id, `oneshot` the answer only. */
  readonly mode: "query" | "quiet" | "oneshot";
  /** Print events as JSON lines instead of the answer. */
  readonly json: boolean;
  readonly verbose: boolean;
  /** Folder to which the conversation is appended as a trajectory. */
  readonly trajectoryFolder?: string | undefined;
}

interface Asking {
  readonly terminal: Terminal;
  readonly app: App;
  readonly opened: OpenedConversation;
  readonly signal: AbortSignal;
}

const MEDIA_TYPES: { readonly [extension: string]: string } = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};

async function withImages(images: readonly string[], text: string): Promise<string | ContentPart[]> {
  if (images.length === 0) return text;
  const parts: ContentPart[] = [{ type: "text", text }];
  for (const file of images) {
    const type = MEDIA_TYPES[extname(file).toLowerCase()];
    if (!type) throw new UserError(`${file}: images must be png, jpg, gif or webp`, { exitCode: 2 });
    const data = (await readFile(file)).toString("base64");
    parts.push({ type: "image_url", image_url: { url: `data:${type};base64,${data}` } });
  }
  return parts;
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

type Ended = Extract<AgentEvent, { type: "ended" }>;

function exitCode(ended: Ended | undefined): number {
  if (ended?.end === "interrupted") return 130;
  return ended?.end === "failed" ? 1 : 0;
}

function announce({ terminal, app, opened }: Asking, question: Question): void {
  if (question.mode === "query" && !question.json) {
    for (const notice of opened.notices) terminal.err(terminal.style("dim", terminal.forErr(notice)));
    terminal.err(terminal.style("bold", `> ${terminal.forErr(app.redact(question.text))}`));
  } else for (const notice of opened.modelNotices) terminal.err(notice);
}

async function runTurn({ terminal, app, opened, signal }: Asking, question: Question): Promise<Ended | undefined> {
  const answerOnly = question.mode !== "query";
  const { display } = app.config;
  const view = await loadPlainView({
    display,
    home: app.home.path,
    env: app.home.env,
    terminal: !answerOnly && Number.isFinite(terminal.columns),
  });
  const printer = new EventPrinter(terminal, {
    view,
    quiet: answerOnly,
    stream: !answerOnly && (display.streaming || terminal.interactive),
    reasoning: display.show_reasoning,
    toolProgress: question.verbose ? "verbose" : String(display.tool_progress),
  });
  const input = await app.prepareInput(question.text, opened);
  if (question.mode !== "oneshot")
    for (const warning of input.warnings) terminal.err(`warning: ${terminal.forErr(warning)}`);
  const text = question.attached ? `${input.text}\n\n${question.attached}` : input.text;
  const content = await withImages(question.images, text);
  let ended: Ended | undefined;
  const foreign = question.attached ? "the text from standard input" : question.images.length > 0 ? "a picture" : "";
  const options = {
    signal,
    tainted: input.untrusted || foreign !== "",
    taintOrigin: foreign || undefined,
    typed: question.text,
  };
  for await (const event of opened.conversation.send(content, options)) {
    if (question.json) terminal.out(terminal.forOut(JSON.stringify(event)));
    else printer.show(event);
    if (event.type === "ended") ended = event;
  }
  return ended;
}

async function ask(asking: Asking, question: Question): Promise<number> {
  const { terminal, opened } = asking;
  announce(asking, question);
  const ended = await runTurn(asking, question);
  if (question.trajectoryFolder !== undefined) {
    const file = await opened.conversation.saveTrajectory(question.trajectoryFolder, ended?.end === "done");
    if (question.mode === "query") terminal.err(terminal.style("dim", `trajectory: ${file}`));
  }
  await opened.conversation.close({ reason: endReason("cli_close", ended?.end) });
  const id = opened.conversation.sessionId;
  if (question.mode === "quiet") terminal.err(`session_id: ${id}`);
  if (question.mode === "query" && !question.json)
    terminal.err(terminal.style("dim", `session ${id} · resume with: hermes -r ${id}`));
  return exitCode(ended);
}

/** Closes the conversation in every case, so that memory and plugins are notified of its end. */
export async function askOnce(
  terminal: Terminal,
  app: App,
  opened: OpenedConversation,
  question: Question,
): Promise<number> {
  const { signal, release } = interruptOnSignals();
  try {
    return await ask({ terminal, app, opened, signal }, question);
  } finally {
    await opened.conversation.close({ reason: endReason("cli_close") });
    release();
  }
}
