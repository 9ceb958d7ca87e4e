// /model: shows the model, offers those that can be used now with windows and prices, and tests a choice before it is used.
import type { Choice, CommandAnswer, CommandContext } from "../core/chat/command.ts";
import { answerErrors, type BuiltinCommand, isTerminal, text, words } from "./builtin-command.ts";
import type { CommandDeps, ListedModel, ModelChoice, ModelPrice } from "./command-deps.ts";
import { shortCount } from "./format.ts";

const TEST_MS = 15_000;
/** Models that chats list: they have no filter. */
const MOST_IN_CHAT = 20;

interface ModelArguments extends ModelChoice {
  readonly save: boolean;
}

/** `NAME [--provider P] [--global]`, in any order. */
function parse(args: string): ModelArguments {
  const given = words(args);
  const at = given.indexOf("--provider");
  const provider = at < 0 ? undefined : given[at + 1];
  const rest = given.filter((word, index) => word !== "--global" && !(at >= 0 && (index === at || index === at + 1)));
  return { model: rest.join(" "), provider, save: given.includes("--global") };
}

export function priceText(price: ModelPrice | undefined): string {
  if (!price) return "price not known";
  if (price.input === 0 && price.output === 0) return "free";
  return `$${price.input} in, $${price.output} out per million`;
}

function choice(listed: ListedModel, { opened }: CommandContext): Choice {
  const window = listed.contextLength ? `${shortCount(listed.contextLength)} window, ` : "";
  const { model, provider } = opened.identity;
  return {
    label: listed.model,
    value: `${listed.model} --provider ${listed.provider}`,
    description: `${listed.label}, ${window}${priceText(listed.price)}`,
    current: listed.model === model && listed.provider === provider,
  };
}

async function offer(deps: CommandDeps, context: CommandContext): Promise<CommandAnswer> {
  const { models, notes } = await deps.models.list();
  const { model, provider } = context.opened.identity;
  if (models.length === 0)
    return text(
      `${model} (${provider}). No other model can be used yet: add a key with hermes auth add, or start a local server.`,
    );
  const choices = models
    .map((each) => choice(each, context))
    .sort((a, b) => Number(b.current ?? false) - Number(a.current ?? false));
  return {
    type: "choose",
    title: [`Model (now ${model})`, ...notes].join("; "),
    choices: isTerminal(context) ? choices : choices.slice(0, MOST_IN_CHAT),
    actions: [{ key: "g", label: "use in every new session", args: (value) => `${value} --global` }],
  };
}

/** The reason when the model cannot be used, with similar names; else a remark about the test. A list is not a proof: some servers offer more than they list. */
async function test(deps: CommandDeps, wanted: ModelChoice): Promise<{ refused?: string; remark?: string }> {
  const refused = await deps.models.refuse(wanted);
  if (refused) return { refused };
  const limit = AbortSignal.timeout(TEST_MS);
  const { failure, ms } = await deps.models.test(wanted, limit);
  if (limit.aborted) return { remark: `not tested: no answer within ${TEST_MS / 1000} seconds` };
  if (failure) {
    const similar = await deps.models.similar(wanted);
    return { refused: similar.length > 0 ? `${failure.replace(/\.?$/, ".")} Similar: ${similar.join(", ")}` : failure };
  }
  return { remark: `answered in ${(ms / 1000).toFixed(1)} s` };
}

async function model(deps: CommandDeps, args: string, context: CommandContext): Promise<CommandAnswer> {
  const { model: name, provider, save } = parse(args);
  const wanted = { model: name || context.opened.identity.model, provider };
  if (name === "" && provider === undefined && !save) return offer(deps, context);
  const { refused, remark } = await test(deps, wanted);
  if (refused) return text(`${refused.replace(/\.?$/, ".")} The model is unchanged.`);
  const warning = save ? await deps.models.setDefault(wanted) : null;
  const notes = [remark ?? "", save ? "saved for new sessions" : "", warning ?? ""].filter((note) => note !== "");
  return { type: "model", ...wanted, note: notes.join("; ") };
}

export function modelCommands(deps: CommandDeps): readonly BuiltinCommand[] {
  return [
    {
      name: "model",
      aliases: ["provider"],
      group: "Model",
      args: "[name] [--provider name] [--global]",
      summary: "Choose the model",
      // A guest may not choose what the owner pays for, nor change the configuration.
      ownerOnly: /./,
      run: (args, context) => answerErrors(() => model(deps, args, context)),
      complete: async (_, context) => (await deps.models.list()).models.map((each) => choice(each, context)),
    },
  ];
}
