// `hermes fallback`: the models that are used, in order, when the main one fails.
import { openModelsContext } from "../app/open-models.ts";
import { UserError } from "../core/failure.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import {
  addFallback,
  clearFallbacks,
  type FallbackRow,
  listFallbacks,
  removeFallback,
} from "../providers/api/fallbacks.ts";
import { type CliCommand, type CliContext, JSON_OPTION, textOption } from "./command.ts";

const ADD_HINT = "For example: hermes fallback add claude-haiku-5-5 --provider anthropic";

async function list(context: CliContext): Promise<number> {
  const rows = await listFallbacks(openModelsContext(context.home));
  if (context.values.json) {
    context.terminal.out(JSON.stringify(rows, null, 2));
    return 0;
  }
  if (rows.length === 0) {
    context.terminal.out(`No fallbacks: when the model fails, the turn fails.\n${ADD_HINT}`);
    return 0;
  }
  context.terminal.out(
    renderTable(
      context.terminal,
      [
        { title: "#", value: (row: FallbackRow) => String(row.place) },
        { title: "Provider", value: (row) => row.provider },
        { title: "Model", value: (row) => row.model },
        { title: "State", flexible: true, minWidth: 12, value: (row) => row.problem ?? "ready" },
      ],
      rows,
    ),
  );
  return 0;
}

function wantedPlace(context: CliContext): number | undefined {
  const text = textOption(context, "place");
  if (!text) return undefined;
  const place = Number(text);
  if (!Number.isInteger(place) || place < 1)
    throw new UserError(`--place ${text} is not a whole number from 1`, { exitCode: 2 });
  return place;
}

/** `MODEL --provider PROVIDER`, `PROVIDER MODEL`, or answers to two questions. */
async function wantedModel(context: CliContext): Promise<{ provider: string; model: string }> {
  const [first, second] = context.positionals;
  const provider = textOption(context, "provider") || (second === undefined ? "" : (first ?? ""));
  const model = second ?? first ?? "";
  if (provider !== "" && model !== "") return { provider, model };
  if (!context.terminal.interactive) throw new UserError("which provider and model?", { hint: ADD_HINT, exitCode: 2 });
  const { terminal } = context;
  const asked = {
    provider: (provider || (await terminal.ask("Provider (see `hermes model list`): ")) || "").trim(),
    model: (model || (await terminal.ask("Model: ")) || "").trim(),
  };
  if (asked.provider === "" || asked.model === "")
    throw new UserError("nothing was added: a fallback needs a provider and a model", { hint: ADD_HINT, exitCode: 2 });
  return asked;
}

async function add(context: CliContext): Promise<number> {
  const place = wantedPlace(context);
  const row = await addFallback(openModelsContext(context.home), {
    ...(await wantedModel(context)),
    baseUrl: textOption(context, "base-url") || undefined,
    keyVar: textOption(context, "key-env") || undefined,
    place,
  });
  context.terminal.out(`Fallback ${row.place} is now ${row.provider}/${row.model}.`);
  if (row.problem) context.terminal.err(`warning: it cannot be used yet: ${row.problem}`);
  return 0;
}

async function remove(context: CliContext): Promise<number> {
  const which = context.positionals[0];
  if (!which) throw new UserError("which fallback?", { hint: "A place, a model or PROVIDER/MODEL.", exitCode: 2 });
  const removed = await removeFallback(openModelsContext(context.home), which);
  context.terminal.out(`Removed the fallback ${String(removed.provider)}/${String(removed.model)}.`);
  return 0;
}

async function clear(context: CliContext): Promise<number> {
  const count = await clearFallbacks(openModelsContext(context.home));
  context.terminal.out(
    count === 0 ? "There were no fallbacks." : `Removed ${count} fallback${count === 1 ? "" : "s"}.`,
  );
  return 0;
}

export const fallbackCommand: CliCommand = {
  name: "fallback",
  summary: "Models to use when the main one fails",
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      aliases: ["ls"],
      summary: "List the fallbacks in their order",
      maxPositionals: 0,
      options: { ...JSON_OPTION },
      run: list,
    },
    {
      name: "add",
      args: "[PROVIDER] MODEL",
      summary: "Add a model at the end of the order, or at a place",
      maxPositionals: 2,
      options: {
        provider: { type: "string", value: "PROVIDER", help: "Provider id, or custom:NAME" },
        "base-url": { type: "string", value: "URL", help: "Address instead of the provider's own" },
        "key-env": { type: "string", value: "NAME", help: "Variable that holds the key" },
        place: { type: "string", value: "N", help: "Place in the order, from 1" },
      },
      examples: ["hermes fallback add claude-haiku-5-5 --provider anthropic", "hermes fallback add ollama qwen3:8b"],
      run: add,
    },
    {
      name: "remove",
      aliases: ["rm"],
      args: "WHICH",
      summary: "Remove a fallback by place, model or PROVIDER/MODEL",
      maxPositionals: 1,
      run: remove,
    },
    { name: "clear", summary: "Remove all fallbacks", maxPositionals: 0, run: clear },
  ],
};
