// The flags of `hermes chat`, and their parsing where the argument parser is not enough.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../core/failure.ts";
import { type CliContext, type CliOption, integerOption, textOption } from "./command.ts";

export const chatOptions: { readonly [name: string]: CliOption } = {
  query: { type: "string", short: "q", value: "TEXT", help: "Ask one question and exit" },
  quiet: { type: "boolean", short: "Q", help: "With -q: only the answer on standard output" },
  oneshot: {
    type: "string",
    short: "z",
    value: "TEXT",
    help: "For scripts: print only the final answer",
  },
  model: { type: "string", short: "m", value: "MODEL", help: "Use this model" },
  provider: { type: "string", value: "NAME", help: "Use this provider" },
  toolsets: { type: "string", short: "t", value: "LIST", help: "Use these toolsets, comma separated" },
  resume: { type: "string", short: "r", value: "SESSION", help: "Resume a session, by id or title" },
  continue: { type: "string", short: "c", value: "[NAME]", help: "Resume the latest session, or the named one" },
  skills: { type: "string", short: "s", value: "NAME", multiple: true, help: "Load a skill first (repeatable)" },
  image: { type: "string", value: "FILE", multiple: true, help: "With -q: attach an image" },
  "max-turns": { type: "string", value: "N", help: "Maximum number of model calls for one answer (90)" },
  source: { type: "string", value: "TAG", help: "Label of the session's origin; `tool` hides it from lists" },
  yolo: { type: "boolean", help: "Run dangerous commands without asking" },
  "ignore-rules": { type: "boolean", help: "Without project files, memory and skills" },
  "ignore-user-config": { type: "boolean", help: "Use the defaults instead of config.yaml" },
  "pass-session-id": { type: "boolean", help: "Tell the model the session id" },
  "accept-hooks": { type: "boolean", help: "Run new shell hooks without asking" },
  checkpoints: { type: "boolean", help: "Take snapshots before files are changed" },
  trajectory: {
    type: "string",
    value: "DIR",
    help: "With -q: append the conversation to a ShareGPT file in this folder",
  },
  verbose: { type: "boolean", short: "v", help: "Show what tools report while they run" },
  plain: { type: "boolean", help: "Linear output for screen readers and simple terminals: labels and numbered menus" },
  json: { type: "boolean", help: "With -q: print events as JSON lines" },
};

const JOINING = new Set(["-c", "--continue", "-r", "--resume"]);

/** Unquoted names after -c and -r are joined until the next flag; a bare -c means the latest session. */
export function joinNames(argv: readonly string[]): string[] {
  const joined: string[] = [];
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index] ?? "";
    if (word === "--") return [...joined, ...argv.slice(index)];
    if (!JOINING.has(word)) {
      joined.push(word);
      continue;
    }
    const words: string[] = [];
    while (index + 1 < argv.length && !(argv[index + 1] ?? "").startsWith("-")) words.push(argv[++index] ?? "");
    joined.push(`${word.startsWith("--") ? word : word === "-c" ? "--continue" : "--resume"}=${words.join(" ")}`);
  }
  return joined;
}

export interface ChatArgs {
  readonly mode: "interactive" | "query" | "quiet" | "oneshot";
  readonly text: string;
  readonly images: readonly string[];
  readonly maxTurns?: number | undefined;
}

function listOption(context: CliContext, name: string): string[] {
  const value = context.values[name];
  const texts = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return texts
    .flatMap((text) => String(text).split(","))
    .map((word) => word.trim())
    .filter(Boolean);
}

export function parseSkills(context: CliContext): string[] {
  return listOption(context, "skills");
}

export function parseToolsets(context: CliContext): string[] | undefined {
  const names = listOption(context, "toolsets");
  return names.length > 0 ? names : undefined;
}

export function parseChatArgs(context: CliContext): ChatArgs {
  const oneshot = textOption(context, "oneshot");
  const query = textOption(context, "query");
  const images = listOption(context, "image").map((file) => resolve(context.home.cwd, file));
  for (const image of images) if (!existsSync(image)) throw new UserError(`no such image: ${image}`, { exitCode: 2 });
  if (context.values.quiet && query === undefined) throw new UserError("-Q needs -q TEXT", { exitCode: 2 });
  const text = (oneshot ?? query ?? "").trim();
  if ((oneshot !== undefined || query !== undefined) && text === "")
    throw new UserError("the message is empty", { exitCode: 2 });
  const mode =
    oneshot !== undefined ? "oneshot" : query === undefined ? "interactive" : context.values.quiet ? "quiet" : "query";
  const turns =
    context.values["max-turns"] === undefined
      ? undefined
      : integerOption(context, "max-turns", { default: 90, min: 1 });
  return { mode, text, images, maxTurns: turns };
}
