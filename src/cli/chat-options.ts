// The flags of `hermes chat`, and the words that the argument parser cannot tell apart by itself.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../core/failure.ts";
import { type CliContext, type CliOption, integerOption, textOption } from "./command.ts";

export const chatOptions: { readonly [name: string]: CliOption } = {
  query: { type: "string", short: "q", value: "TEXT", help: "Ask once and leave" },
  quiet: { type: "boolean", short: "Q", help: "With -q: only the answer on standard output" },
  oneshot: {
    type: "string",
    short: "z",
    value: "TEXT",
    help: "For scripts: only the final text, nothing on the error stream",
  },
  model: { type: "string", short: "m", value: "MODEL", help: "Use this model" },
  provider: { type: "string", value: "NAME", help: "Use this provider" },
  toolsets: { type: "string", short: "t", value: "LIST", help: "Toolsets, comma separated" },
  resume: { type: "string", short: "r", value: "SESSION", help: "Go on with a session, by id or title" },
  continue: { type: "string", short: "c", value: "[NAME]", help: "Go on with the latest session, or with this one" },
  skills: { type: "string", short: "s", value: "NAME", multiple: true, help: "Load a skill first; may be repeated" },
  image: { type: "string", value: "FILE", multiple: true, help: "With -q: attach an image" },
  "max-turns": { type: "string", value: "N", help: "Model calls in one turn (90)" },
  source: { type: "string", value: "TAG", help: "Where this comes from; `tool` hides it from lists" },
  yolo: { type: "boolean", help: "Run dangerous commands without asking" },
  "ignore-rules": { type: "boolean", help: "No project files, no memory, no skills" },
  "ignore-user-config": { type: "boolean", help: "Defaults instead of config.yaml" },
  "pass-session-id": { type: "boolean", help: "Tell the model the session id" },
  "accept-hooks": { type: "boolean", help: "Run shell hooks without asking the first time" },
  checkpoints: { type: "boolean", help: "Keep snapshots before files are changed" },
  trajectory: {
    type: "string",
    value: "DIR",
    help: "With -q: append the conversation to a ShareGPT file in this folder",
  },
  verbose: { type: "boolean", short: "v", help: "Show what tools report while they work" },
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

function listOf(context: CliContext, name: string): string[] {
  const value = context.values[name];
  const texts = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return texts
    .flatMap((text) => String(text).split(","))
    .map((word) => word.trim())
    .filter(Boolean);
}

export function parseSkills(context: CliContext): string[] {
  return listOf(context, "skills");
}

export function parseToolsets(context: CliContext): string[] | undefined {
  const names = listOf(context, "toolsets");
  return names.length > 0 ? names : undefined;
}

export function parseChatArgs(context: CliContext): ChatArgs {
  const oneshot = textOption(context, "oneshot");
  const query = textOption(context, "query");
  const images = listOf(context, "image").map((file) => resolve(context.home.cwd, file));
  for (const image of images) if (!existsSync(image)) throw new UserError(`no such image: ${image}`, { exitCode: 2 });
  if (context.values.quiet && query === undefined) throw new UserError("-Q goes with -q TEXT", { exitCode: 2 });
  const text = (oneshot ?? query ?? "").trim();
  if ((oneshot !== undefined || query !== undefined) && text === "")
    throw new UserError("the message is empty", { exitCode: 2 });
  const mode =
    oneshot !== undefined ? "oneshot" : query === undefined ? "interactive" : context.values.quiet ? "quiet" : "query";
  const turns =
    context.values["max-turns"] === undefined
      ? undefined
      : integerOption(context, "max-turns", { default: 90, min: 1 });
  return { mode, text, images, ...(turns === undefined ? {} : { maxTurns: turns }) };
}
