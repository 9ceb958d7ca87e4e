// `hermes auth`: the keys of model providers. Secrets are read without echo or from a pipe, and never printed.

import { openModelsContext } from "../app/open-models.ts";
import { UserError } from "../core/failure.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import { type KeyList, openAuth } from "../providers/api/auth.ts";
import { type CliCommand, type CliContext, JSON_OPTION, textOption } from "./command.ts";

function requirePositional(context: CliContext, index: number, what: string): string {
  const value = context.positionals[index];
  if (value) return value;
  throw new UserError(`which ${what}?`, { hint: "See: hermes auth --help, hermes model list", exitCode: 2 });
}

async function readSecret(context: CliContext, label: string): Promise<string> {
  const given = textOption(context, "api-key");
  if (given !== undefined) {
    context.terminal.err("warning: a key on the command line can be seen by other programs; pipe it in instead");
    return given;
  }
  const { terminal } = context;
  const secret = await terminal.askHidden(terminal.streams.stdin.isTTY ? `${label} API key (not shown): ` : "");
  if (!secret) throw new UserError("no key was given; nothing was changed");
  return secret;
}

async function add(context: CliContext): Promise<number> {
  const auth = await openAuth(openModelsContext(context.home));
  const { label } = await auth.check(requirePositional(context, 0, "provider"));
  if (textOption(context, "type") === "oauth")
    throw new UserError("signing in with a browser is not available yet", { hint: "Add an API key instead." });
  const value = await readSecret(context, label);
  const added = await auth.add(requirePositional(context, 0, "provider"), {
    value,
    label: textOption(context, "label") || undefined,
    baseUrl: textOption(context, "base-url") || undefined,
  });
  context.terminal.out(
    `Added key "${added.label}" for ${label}. Try it: hermes model test --provider ${added.provider}`,
  );
  return 0;
}

function keyState(restsUntil: number, lastError: string | null): string {
  if (restsUntil === 0) return "ok";
  const minutes = Math.max(1, Math.round((restsUntil - Date.now()) / 60_000));
  return `paused ${minutes} min${lastError ? `: ${lastError}` : ""}`;
}

function printLists(context: CliContext, lists: readonly KeyList[]): void {
  const { terminal } = context;
  const rows = lists.flatMap((list) => list.entries.map((entry, index) => ({ list, entry, index })));
  terminal.out(
    renderTable(
      terminal,
      [
        { title: "Provider", value: (row) => row.list.provider },
        { title: "#", align: "right", value: (row) => String(row.index + 1) },
        { title: "Label", value: (row) => row.entry.label },
        { title: "Key", value: (row) => row.entry.hint },
        { title: "Source", value: (row) => row.entry.source },
        { title: "ID", value: (row) => row.entry.id },
        { title: "Uses", align: "right", value: (row) => String(row.entry.requestCount) },
        {
          title: "State",
          flexible: true,
          minWidth: 8,
          value: (row) => keyState(row.entry.restsUntil, row.entry.lastError),
        },
      ],
      rows,
    ),
  );
}

async function list(context: CliContext): Promise<number> {
  const lists = await (await openAuth(openModelsContext(context.home))).list(context.positionals[0]);
  if (context.values.json) context.terminal.out(JSON.stringify(lists, null, 2));
  else if (lists.every((entry) => entry.entries.length === 0))
    context.terminal.out("No keys. Add one with: hermes auth add PROVIDER");
  else printLists(context, lists);
  return 0;
}

async function remove(context: CliContext): Promise<number> {
  const auth = await openAuth(openModelsContext(context.home));
  const removed = await auth.remove(requirePositional(context, 0, "provider"), requirePositional(context, 1, "key"));
  const variable = removed.source.startsWith("env:")
    ? ` It will be ignored while ${removed.source.slice(4)} stays set.`
    : "";
  context.terminal.out(`Removed key "${removed.label}".${variable}`);
  return 0;
}

async function reset(context: CliContext): Promise<number> {
  const count = await (await openAuth(openModelsContext(context.home))).reset(
    requirePositional(context, 0, "provider"),
  );
  context.terminal.out(
    count === 0 ? "No key was paused." : `${count} ${count === 1 ? "key is" : "keys are"} in use again.`,
  );
  return 0;
}

async function status(context: CliContext): Promise<number> {
  const lists = await (await openAuth(openModelsContext(context.home))).list(context.positionals[0]);
  if (context.values.json) {
    context.terminal.out(JSON.stringify(lists, null, 2));
    return lists.some((entry) => entry.entries.length > 0) ? 0 : 1;
  }
  for (const entry of lists) {
    const ready = entry.entries.filter((key) => key.restsUntil === 0).length;
    const keys = entry.entries.length;
    const text = keys === 0 ? "no key" : `${ready} of ${keys} ${keys === 1 ? "key" : "keys"} ready (${entry.strategy})`;
    context.terminal.out(`${entry.provider}: ${text}`);
  }
  if (lists.length === 0) context.terminal.out("No keys. Add one with: hermes auth add PROVIDER");
  return lists.some((entry) => entry.entries.length > 0) ? 0 : 1;
}

export const authCommand: CliCommand = {
  name: "auth",
  summary: "Add, list and remove the keys of model providers",
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "add",
      args: "PROVIDER",
      summary: "Store a key; it is asked for without echo, or read from a pipe",
      maxPositionals: 1,
      options: {
        label: { type: "string", value: "NAME", help: "A name for the key" },
        "base-url": { type: "string", value: "URL", help: "The only address that this key may be sent to" },
        type: { type: "string", value: "KIND", help: "api-key (oauth is not available yet)" },
        "api-key": {
          type: "string",
          value: "KEY",
          help: "The key itself; other programs can see it, so prefer a pipe",
        },
      },
      examples: ["hermes auth add openrouter", "pass show anthropic | hermes auth add anthropic --label work"],
      run: add,
    },
    {
      name: "list",
      aliases: ["ls"],
      args: "[PROVIDER]",
      summary: "List keys and their state",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: list,
    },
    {
      name: "remove",
      aliases: ["rm"],
      args: "PROVIDER KEY",
      summary: "Remove a key by number, id or label",
      maxPositionals: 2,
      run: remove,
    },
    { name: "reset", args: "PROVIDER", summary: "Use paused keys again", maxPositionals: 1, run: reset },
    {
      name: "status",
      args: "[PROVIDER]",
      summary: "Show which keys are ready; exit code 1 when there is none",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: status,
    },
  ],
};
