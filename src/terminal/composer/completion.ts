// Completion in the composer: slash commands and their arguments, and @ references.
import type { Choice, SlashCommand } from "../../core/chat/command.ts";
import { fuzzyFilter } from "../../lib/text/fuzzy.ts";
import type { ListedPaths } from "./file-index.ts";

export interface CompletionItem {
  readonly label: string;
  /** What replaces the text between `from` and `to`. */
  readonly insert: string;
  readonly description?: string | undefined;
}

export interface Completion {
  readonly kind: "command" | "argument" | "reference";
  readonly from: number;
  readonly to: number;
  readonly items: readonly CompletionItem[];
}

export interface CompletionSources {
  commands(): readonly SlashCommand[];
  skillCommands(): Promise<readonly SlashCommand[]>;
  /** Values for the argument of a command, from the command itself. */
  argumentsOf(command: SlashCommand, args: string): Promise<readonly Choice[]>;
  paths(): Promise<ListedPaths>;
  sessions(): Promise<readonly Choice[]>;
}

const LIMIT = 30;

/** `[on|off|status]` names the values of an argument. */
export function argumentWords(args: string | undefined): string[] {
  const group = /[[(]?([\w-]+(?:\|[\w-]+)+)/.exec(args ?? "")?.[1];
  return group?.split("|") ?? [];
}

async function completeCommand(typed: string, to: number, sources: CompletionSources): Promise<Completion | null> {
  const all = [...sources.commands(), ...(await sources.skillCommands())];
  const entries = all.flatMap((command) =>
    [command.name, ...(command.aliases ?? [])].map((name) => ({ name, command, alias: name !== command.name })),
  );
  const query = typed.slice(1);
  const found = fuzzyFilter(query, query === "" ? entries.filter(({ alias }) => !alias) : entries, {
    limit: LIMIT,
    key: ({ name }) => name,
  });
  const seen = new Set<SlashCommand>();
  const items: CompletionItem[] = [];
  for (const { name, command } of found) {
    if (seen.has(command)) continue;
    seen.add(command);
    const label = `/${name}${command.args ? ` ${command.args}` : ""}`;
    items.push({ label, insert: `/${name}${command.args ? " " : ""}`, description: command.summary });
  }
  return items.length === 0 ? null : { kind: "command", from: 0, to, items };
}

async function completeArgument(before: string, to: number, sources: CompletionSources): Promise<Completion | null> {
  const [, name = "", args = ""] = /^\/(\S+)\s+([\s\S]*)$/.exec(before) ?? [];
  const command = sources.commands().find((known) => known.name === name || known.aliases?.includes(name));
  if (!command) return null;
  const from = to - (/\S*$/.exec(args)?.[0].length ?? 0);
  const word = before.slice(from);
  const offered = command.complete ? await sources.argumentsOf(command, args) : [];
  const isFirst = args.trim() === word;
  const plain = isFirst ? argumentWords(command.args).map((value) => ({ label: value, value })) : [];
  const choices: readonly Choice[] = offered.length > 0 ? offered : plain;
  const found = fuzzyFilter(word, choices, { limit: LIMIT, key: ({ label, value }) => `${value} ${label}` });
  if (found.length === 0 || (found.length === 1 && found[0]?.value === word)) return null;
  const items = found.map(({ label, value, description }) => ({ label, insert: value, description }));
  return { kind: "argument", from, to, items };
}

const KEYWORDS: readonly CompletionItem[] = [
  { label: "@diff", insert: "@diff ", description: "changes that are not committed" },
  { label: "@staged", insert: "@staged ", description: "changes that are staged" },
  { label: "@git:", insert: "@git:", description: "the last commits: @git:3" },
  { label: "@url:", insert: "@url:", description: "a web page" },
  { label: "@file:", insert: "@file:", description: "a file" },
  { label: "@folder:", insert: "@folder:", description: "the entries of a folder" },
  { label: "@session:", insert: "@session:", description: "an earlier session" },
  { label: "@skill:", insert: "@skill:", description: "the instructions of a skill" },
];

function reference(kind: string, value: string): string {
  return /\s/.test(value) ? `@${kind}:"${value}" ` : `@${kind}:${value} `;
}

function pathItems(query: string, paths: ListedPaths, only: "file" | "folder" | undefined): CompletionItem[] {
  const wanted = query.replace(/^"/, "");
  const files = only === "folder" ? [] : fuzzyFilter(wanted, paths.files, { limit: LIMIT, key: (path) => path });
  const folders = only === "file" ? [] : fuzzyFilter(wanted, paths.folders, { limit: LIMIT, key: (path) => path });
  return [
    ...files.slice(0, only ? LIMIT : 20).map((path) => ({ label: path, insert: reference("file", path) })),
    ...folders.slice(0, only ? LIMIT : 8).map((path) => ({ label: path, insert: reference("folder", path) })),
  ];
}

async function referenceItems(typed: string, sources: CompletionSources): Promise<readonly CompletionItem[]> {
  const [, kind, rest = ""] = /^@(file|folder|session|skill):(.*)$/s.exec(typed) ?? [];
  if (kind === "file" || kind === "folder") return pathItems(rest, await sources.paths(), kind);
  if (kind === "session" || kind === "skill") {
    const choices: readonly Choice[] =
      kind === "session"
        ? await sources.sessions()
        : (await sources.skillCommands()).map(({ name, summary }) => ({
            label: name,
            value: name,
            description: summary,
          }));
    const found = fuzzyFilter(rest, choices, { limit: LIMIT, key: ({ label, value }) => `${value} ${label}` });
    return found.map(({ label, value, description }) => ({ label, insert: reference(kind, value), description }));
  }
  const query = typed.slice(1);
  const words = KEYWORDS.filter(({ label }) => label.slice(1).startsWith(query.toLowerCase()));
  if (query === "") return words;
  return [...words, ...pathItems(query, await sources.paths(), undefined)].slice(0, LIMIT);
}

/** What could stand at the cursor; null when there is nothing to offer. */
export async function complete(text: string, cursor: number, sources: CompletionSources): Promise<Completion | null> {
  const before = text.slice(0, cursor);
  if (/^\/[\w-]*$/.test(before)) return completeCommand(before, cursor, sources);
  if (/^\/\S+\s/.test(before) && !before.includes("\n")) {
    const argument = await completeArgument(before, cursor, sources);
    if (argument) return argument;
  }
  const [, typed] = /(?:^|\s)(@(?:(?:file|folder):"[^"\n]*|\S*))$/.exec(before) ?? [];
  if (typed === undefined) return null;
  const items = await referenceItems(typed, sources);
  return items.length === 0 ? null : { kind: "reference", from: cursor - typed.length, to: cursor, items };
}
