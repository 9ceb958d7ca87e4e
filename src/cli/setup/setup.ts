// `hermes setup`: from nothing to a tested model, then tools, chats and the terminal; every part can be skipped.
import { openSettings } from "../../config/api.ts";
import { UserError } from "../../core/failure.ts";
import { Terminal } from "../../lib/terminal/terminal.ts";
import { type CliCommand, type CliContext, textOption } from "../command.ts";
import { applyModel, chooseModel, reportTest, tryModel } from "./model-choice.ts";
import { askYes, InputEnded } from "./questions.ts";
import { SECTIONS } from "./sections.ts";

/** The key from an option or from a variable, so that it need not be in the history of the shell. */
function keyOption(context: CliContext): string | undefined {
  const variable = textOption(context, "api-key-env");
  if (variable === undefined) return textOption(context, "api-key");
  const key = context.home.env[variable];
  if (!key) throw new UserError(`${variable} is not set`, { hint: "Name a variable that holds the key.", exitCode: 2 });
  return key;
}

/** All answers by options: nothing is asked. */
async function fromOptions(context: CliContext): Promise<number> {
  const { home, terminal, values } = context;
  const model = textOption(context, "model");
  if (!model)
    throw new UserError("which model?", {
      hint: "For example: hermes setup --provider openrouter --model anthropic/claude-sonnet-4.6 --api-key-env KEY",
      exitCode: 2,
    });
  const provider = textOption(context, "provider");
  const baseUrl = textOption(context, "base-url");
  const apiKey = keyOption(context);
  const warning = await applyModel(home, { model, provider, baseUrl, apiKey, test: true });
  const backend = textOption(context, "backend");
  if (backend) await openSettings(home).set("terminal.backend", backend);
  if (warning) terminal.err(`warning: ${warning}`);
  if (values["no-test"]) return 0;
  const result = await tryModel(home);
  reportTest(terminal, result);
  return result.ok ? 0 : 1;
}

function finish({ terminal, home }: CliContext): number {
  terminal.err(`\nWritten to ${home.path}/config.yaml. Check everything with: hermes doctor`);
  terminal.err("Start talking: hermes");
  return 0;
}

async function everything(context: CliContext): Promise<number> {
  const { terminal, home } = context;
  terminal.err(terminal.style("bold", "Set up Hermes"));
  terminal.err("Every step can be skipped and repeated later, for example with: hermes setup tools\n");
  const done = await chooseModel(terminal, home);
  if (!done)
    terminal.err("No model was set. The offline model answers simple requests until you choose one: hermes model");
  if (context.values.quick) return finish(context);
  for (const section of SECTIONS) {
    if (!(await askYes(terminal, `\n${section.title}: set it up now?`))) continue;
    await section.run(context);
  }
  return finish(context);
}

/** Two clear ways on when no more answers come. */
function explain({ terminal }: CliContext): number {
  terminal.err("\nThe input ended; what was answered so far is stored.");
  terminal.err("Without questions: hermes setup --provider NAME --model MODEL --api-key-env VARIABLE");
  terminal.err("Providers: hermes model list");
  return 1;
}

async function run(context: CliContext): Promise<number> {
  const { values, positionals, terminal } = context;
  const [name] = positionals;
  const known = ["model", ...SECTIONS.map((section) => section.name)];
  if (name !== undefined && !known.includes(name))
    throw new UserError(`there is no section "${name}"`, { hint: `Use one of: ${known.join(", ")}`, exitCode: 2 });
  const given = ["provider", "model", "base-url", "api-key", "api-key-env"].some(
    (option) => values[option] !== undefined,
  );
  if (given) return fromOptions(context);
  if (values["non-interactive"]) return explain(context);
  const asking = values.plain
    ? { ...context, terminal: new Terminal(terminal.streams, { noColor: true, plain: true }) }
    : context;
  try {
    if (name === undefined) return await everything(asking);
    if (name === "model") return (await chooseModel(asking.terminal, asking.home)) ? 0 : 1;
    return await (SECTIONS.find((section) => section.name === name)?.run(asking) ?? 1);
  } catch (error) {
    if (error instanceof InputEnded) return explain(asking);
    throw error;
  }
}

export const setupCommand: CliCommand = {
  name: "setup",
  args: "[model|terminal|tools|agent|gateway]",
  summary: "Choose and test a model, then set up tools, chats and the terminal",
  maxPositionals: 1,
  options: {
    provider: { type: "string", value: "NAME", help: "Without questions: the provider" },
    model: { type: "string", short: "m", value: "MODEL", help: "Without questions: the model" },
    "base-url": { type: "string", value: "URL", help: "Without questions: an address that speaks the OpenAI protocol" },
    "api-key": { type: "string", value: "KEY", help: "Without questions: the key (better: --api-key-env)" },
    "api-key-env": { type: "string", value: "NAME", help: "Without questions: the variable that holds the key" },
    backend: { type: "string", value: "NAME", help: "Without questions: where commands run (local, docker, ssh)" },
    "no-test": { type: "boolean", help: "Do not call the model" },
    quick: { type: "boolean", help: "Only the model" },
    "non-interactive": { type: "boolean", help: "Ask nothing; print what can be given by options" },
    plain: { type: "boolean", help: "Numbered questions instead of menus" },
  },
  examples: [
    "hermes setup",
    "hermes setup model",
    "hermes setup --provider openrouter -m anthropic/claude-sonnet-4.6 --api-key-env OPENROUTER_KEY",
    "hermes setup --base-url http://127.0.0.1:8080/v1 -m qwen3",
  ],
  run,
};
