// `hermes memory`: the built-in notes and the external memory provider.

import { openMemoryActions } from "../app/plugin-actions.ts";
import { UserError } from "../core/failure.ts";
import type { ConfigField } from "../core/memory.ts";
import type { MemorySetup } from "../memory/api.ts";
import { type CliCommand, type CliContext, JSON_OPTION, textOption } from "./command.ts";

async function status(context: CliContext): Promise<number> {
  const { terminal } = context;
  const found = await openMemoryActions(context.home).status();
  const working = found.provider === "" || found.state === "ready";
  if (context.values.json) {
    terminal.out(JSON.stringify(found, null, 2));
    return working ? 0 : 1;
  }
  for (const note of found.notes) {
    const size = note.enabled ? `${note.chars} of ${note.limit} characters` : "off";
    terminal.out(`${note.file.padEnd(10)} ${size}`);
  }
  terminal.out(`Provider   ${found.provider === "" ? "none" : found.provider}: ${found.state}`);
  terminal.out("\nProviders:");
  for (const row of found.providers) {
    const missing = row.missingEnv.length > 0 ? ` (needs ${row.missingEnv.join(", ")})` : "";
    terminal.out(`  ${row.active ? "*" : " "} ${row.name}  ${row.description}${missing}`);
  }
  return working ? 0 : 1;
}

/** Values given as `--set key=value`. */
function parseSet(context: CliContext): { [key: string]: string } {
  const values = context.values.set;
  const list = Array.isArray(values) ? values : values === undefined ? [] : [values];
  return Object.fromEntries(
    list.map((entry) => {
      const text = String(entry);
      const at = text.indexOf("=");
      if (at < 1) throw new UserError(`--set takes key=value, not "${text}"`, { exitCode: 2 });
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

async function askField(context: CliContext, field: ConfigField): Promise<string> {
  const { terminal, home } = context;
  const known = field.envVar ? home.env[field.envVar] : undefined;
  const hints = [field.choices?.join("/"), field.url, known ? "empty keeps the one that is set" : field.default].filter(
    Boolean,
  );
  const prompt = `${field.description}${hints.length > 0 ? ` [${hints.join(", ")}]` : ""}: `;
  return (await (field.secret ? terminal.askHidden(prompt) : terminal.ask(prompt))) ?? "";
}

async function collectAnswers(context: CliContext, setup: MemorySetup): Promise<{ [key: string]: string }> {
  const answers = parseSet(context);
  const unknown = Object.keys(answers).find((key) => !setup.fields.some((field) => field.key === key));
  if (unknown) {
    const keys = setup.fields.map((field) => field.key).join(", ");
    throw new UserError(`${setup.name} has no setting "${unknown}"`, { hint: `Settings: ${keys}`, exitCode: 2 });
  }
  for (const field of setup.fields) {
    if (field.key in answers) continue;
    if (context.terminal.interactive) answers[field.key] = await askField(context, field);
    const known = answers[field.key] || (field.envVar && context.home.env[field.envVar]);
    if (field.required && !known)
      throw new UserError(`${setup.name} needs ${field.key}: ${field.description}`, {
        hint: `Give it with --set ${field.key}=VALUE${field.envVar ? `, or set ${field.envVar}` : ""}${field.url ? `. Get one at ${field.url}` : ""}`,
        exitCode: 2,
      });
  }
  return answers;
}

async function setup(context: CliContext): Promise<number> {
  const [name] = context.positionals;
  const actions = openMemoryActions(context.home);
  if (!name) {
    const { providers } = await actions.status();
    throw new UserError("which provider?", {
      hint: `Use one of: ${providers.map((row) => row.name).join(", ")}`,
      exitCode: 2,
    });
  }
  const chosen = await actions.setup(name);
  try {
    await chosen.finish(await collectAnswers(context, chosen));
  } finally {
    await chosen.close();
  }
  if (context.values.json) context.terminal.out(JSON.stringify({ provider: name }));
  else context.terminal.out(`${name} is the memory provider; it takes effect with the next conversation.`);
  return 0;
}

async function off(context: CliContext): Promise<number> {
  const changed = await openMemoryActions(context.home).off();
  if (context.values.json) context.terminal.out(JSON.stringify({ changed }));
  else
    context.terminal.out(
      changed ? "Only the built-in notes are used now; the provider's data stays." : "No provider was in use.",
    );
  return 0;
}

async function reset(context: CliContext): Promise<number> {
  const target = textOption(context, "target") ?? "all";
  if (target !== "all" && target !== "memory" && target !== "user")
    throw new UserError(`--target takes all, memory or user, not "${target}"`, { exitCode: 2 });
  const { terminal } = context;
  if (!context.values.yes) {
    if (!terminal.interactive) throw new UserError("this erases notes", { hint: "Confirm with --yes", exitCode: 2 });
    if (!(await terminal.confirm("Erase the built-in notes permanently?"))) return 1;
  }
  const files = await openMemoryActions(context.home).reset(target);
  if (context.values.json) terminal.out(JSON.stringify({ erased: files }));
  else terminal.out(files.length === 0 ? "There were no notes." : `Erased ${files.join(", ")}`);
  return 0;
}

export const memoryCommand: CliCommand = {
  name: "memory",
  summary: "The built-in notes and the external memory provider",
  defaultSubcommand: "status",
  subcommands: [
    {
      name: "status",
      summary: "Show what is used and whether it works",
      maxPositionals: 0,
      options: JSON_OPTION,
      run: status,
    },
    {
      name: "setup",
      args: "PROVIDER",
      summary: "Set up a provider and use it",
      maxPositionals: 1,
      options: {
        ...JSON_OPTION,
        set: { type: "string", multiple: true, value: "KEY=VALUE", help: "A setting of the provider" },
      },
      examples: ["hermes memory setup holographic", "hermes memory setup mem0"],
      run: setup,
    },
    { name: "off", summary: "Use only the built-in notes", maxPositionals: 0, options: JSON_OPTION, run: off },
    {
      name: "reset",
      summary: "Erase the built-in notes",
      maxPositionals: 0,
      options: {
        ...JSON_OPTION,
        target: { type: "string", value: "WHICH", help: "all, memory or user (all)" },
        yes: { type: "boolean", short: "y", help: "Do not ask" },
      },
      run: reset,
    },
  ],
};
