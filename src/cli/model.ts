// `hermes model`: lists, chooses and tests models.

import { openModelsContext } from "../app/open-models.ts";
import { formatError, UserError } from "../core/failure.ts";
import { renderTable } from "../lib/terminal/columns.ts";
import { listProviders, type ModelView, setModel, showModel, testModel } from "../providers/api/models.ts";
import { type CliCommand, type CliContext, type CliOption, JSON_OPTION, textOption } from "./command.ts";

const CHOICE: { readonly [name: string]: CliOption } = {
  model: { type: "string", short: "m", value: "MODEL", help: "Model id or alias" },
  provider: { type: "string", value: "PROVIDER", help: "Provider id, or custom:NAME" },
};

interface ModelArguments {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
  readonly baseUrl?: string | undefined;
}

function modelArguments(context: CliContext): ModelArguments {
  return {
    model: (context.positionals[0] ?? textOption(context, "model")) || undefined,
    provider: textOption(context, "provider") || undefined,
    baseUrl: textOption(context, "base-url") || undefined,
  };
}

async function list(context: CliContext): Promise<number> {
  const all = await listProviders(openModelsContext(context.home), (text) => context.terminal.err(`notice: ${text}`));
  const rows = context.values.ready ? all.filter((row) => row.state === "ready" || row.state === "local") : all;
  if (context.values.json) {
    context.terminal.out(JSON.stringify(rows, null, 2));
    return 0;
  }
  context.terminal.out(
    renderTable(
      context.terminal,
      [
        { title: "Provider", value: (row) => row.id },
        { title: "Name", value: (row) => row.label },
        { title: "State", value: (row) => row.state },
        { title: "Default model", value: (row) => row.defaultModel },
        { title: "Key or address", flexible: true, minWidth: 12, value: (row) => row.detail },
      ],
      rows,
    ),
  );
  return 0;
}

const WINDOW_SOURCES: { readonly [source: string]: string } = {
  config: "from config.yaml",
  provider: "reported by the server",
  catalog: "from the table of models",
};

function windowText({ contextLength, source }: ModelView["limits"]): string {
  const tokens = `${contextLength.toLocaleString("en-US")} tokens`;
  return source === "default" ? `not known; ${tokens} are assumed` : `${tokens} (${WINDOW_SOURCES[source] ?? source})`;
}

const PRICE_SOURCES: { readonly [source: string]: string } = {
  user_override: "from config.yaml",
  provider_models_api: "reported by the provider",
  official_docs_snapshot: "list price of the maker",
  third_party_snapshot: "price list of a third party",
};

function priceText(price: ModelView["price"]): string {
  if (price === null) return "not known; a high one is assumed for spending caps";
  if (price.source === "none") return "free";
  const source = PRICE_SOURCES[price.source] ?? price.source;
  return `$${price.input} in, $${price.output} out per million tokens (${source}${price.read ? `, ${price.read}` : ""})`;
}

function viewLines(view: ModelView): string[] {
  const { identity, limits } = view;
  return [
    `Model:      ${identity.model}`,
    `Provider:   ${identity.provider} (${view.label})`,
    `Address:    ${identity.baseUrl || "none"}`,
    `Dialect:    ${identity.transport}`,
    `Window:     ${windowText(limits)}`,
    `Price:      ${priceText(view.price)}`,
    `Caching:    ${view.caching.replace(/^prompt caching: /, "")}`,
    `Fallbacks:  ${view.fallbacks.map((entry) => `${entry.provider}/${entry.model}`).join(", ") || "none"}`,
    ...view.notes.map((note) => `Note:       ${note}`),
  ];
}

async function show(context: CliContext): Promise<number> {
  const view = await showModel(openModelsContext(context.home), modelArguments(context));
  context.terminal.out(context.values.json ? JSON.stringify(view, null, 2) : viewLines(view).join("\n"));
  return 0;
}

/** Menus on a terminal; in a pipe, or with arguments, the model in use. */
async function choose(context: CliContext): Promise<number> {
  const { terminal, home, positionals, values } = context;
  const asked = positionals.length > 0 || values.json || values.model !== undefined || values.provider !== undefined;
  if (asked || !terminal.interactive) return show(context);
  // A model that cannot be used is what this menu repairs.
  const lines = await showModel(openModelsContext(home)).then(viewLines, (error: unknown) => [formatError(error)]);
  for (const line of lines) terminal.err(terminal.style("dim", line));
  const { chooseModel } = await import("./setup/model-choice.ts");
  const { InputEnded } = await import("./setup/questions.ts");
  try {
    if (await chooseModel(terminal, home)) return 0;
  } catch (error) {
    if (!(error instanceof InputEnded)) throw error;
  }
  terminal.err("Nothing was changed.");
  return 1;
}

async function set(context: CliContext): Promise<number> {
  const wanted = modelArguments(context);
  if (!wanted.model)
    throw new UserError("which model?", {
      hint: "For example: hermes model set claude-sonnet-4-6 --provider anthropic",
      exitCode: 2,
    });
  const change = await setModel(openModelsContext(context.home), { ...wanted, model: wanted.model });
  context.terminal.out(`Model is now ${change.model} (${change.provider}).`);
  if (change.warning) context.terminal.err(`warning: ${change.warning}`);
  return 0;
}

async function test(context: CliContext): Promise<number> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  process.once("SIGINT", stop);
  try {
    const result = await testModel(openModelsContext(context.home), modelArguments(context), controller.signal);
    if (context.values.json) context.terminal.out(JSON.stringify(result, null, 2));
    else {
      const cost =
        result.cost?.usd === null || result.cost === null ? "price not known" : `$${result.cost.usd.toFixed(6)}`;
      const outcome = result.ok
        ? [
            `Answer:     ${result.text.trim().slice(0, 200)}`,
            `Latency:    ${result.firstTokenMs ?? result.totalMs} ms to the first token, ${result.totalMs} ms in all`,
            `Used:       ${result.usage?.input ?? 0} in, ${result.usage?.output ?? 0} out, ${result.usage?.cacheRead ?? 0} from cache; ${cost}`,
          ]
        : [`Failed:     ${result.failure}`, ...(result.hint ? [`Hint:       ${result.hint}`] : [])];
      context.terminal.out([...viewLines(result), ...outcome].join("\n"));
    }
    return result.ok ? 0 : 1;
  } finally {
    process.off("SIGINT", stop);
  }
}

export const modelCommand: CliCommand = {
  name: "model",
  summary: "List, choose and test models",
  defaultSubcommand: "choose",
  subcommands: [
    {
      name: "choose",
      summary: "Choose a provider and a model from menus and test it (the default in a terminal)",
      maxPositionals: 1,
      options: { ...CHOICE, ...JSON_OPTION },
      run: choose,
    },
    {
      name: "show",
      summary: "Show the model in use, its window and its fallbacks",
      maxPositionals: 1,
      options: { ...CHOICE, ...JSON_OPTION },
      run: show,
    },
    {
      name: "list",
      aliases: ["ls"],
      summary: "List every provider, and which ones have a key",
      maxPositionals: 0,
      options: { ready: { type: "boolean", help: "Only those that can be used now" }, ...JSON_OPTION },
      run: list,
    },
    {
      name: "set",
      args: "MODEL",
      summary: "Write the model to config.yaml",
      maxPositionals: 1,
      options: {
        ...CHOICE,
        "base-url": { type: "string", value: "URL", help: "Address instead of the provider's own" },
      },
      examples: [
        "hermes model set claude-sonnet-4-6 --provider anthropic",
        "hermes model set llama3 --provider ollama",
      ],
      run: set,
    },
    {
      name: "test",
      args: "[MODEL]",
      summary: "Make one short call and report the result",
      maxPositionals: 1,
      options: { ...CHOICE, ...JSON_OPTION },
      run: test,
    },
  ],
};
