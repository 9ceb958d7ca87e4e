// A command as one value: name, help, options, action. Arguments are parsed and help is printed from it.
import { parseArgs } from "node:util";
import type { App } from "../app/app.ts";
import type { ConversationOptions, OpenedConversation } from "../core/conversation.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import type { Human } from "../core/human.ts";
import { errorMessage } from "../lib/error-message.ts";
import { nearest } from "../lib/nearest.ts";
import type { Terminal } from "../lib/terminal/terminal.ts";
import { wrapWords } from "../lib/text/wrap-words.ts";

export interface CliOption {
  readonly type: "string" | "boolean";
  readonly short?: string | undefined;
  readonly multiple?: boolean | undefined;
  /** Placeholder in help text, for example `DAYS`. */
  readonly value?: string | undefined;
  readonly help: string;
}

/** One question of `hermes chat -q` or `-z`. */
export interface Question {
  readonly text: string;
  /** Text that follows the question as it is: `@` in it is not a reference. */
  readonly attached?: string | undefined;
  /** Paths of images to attach. */
  readonly images: readonly string[];
  readonly mode: "query" | "quiet" | "oneshot";
  readonly json: boolean;
  readonly verbose: boolean;
  readonly trajectoryFolder?: string | undefined;
}

export type CliValues = { readonly [name: string]: string | boolean | readonly (string | boolean)[] | undefined };

/** The report of the health checks. */
export interface DoctorReport {
  readonly ok: boolean;
  readonly errors: number;
  readonly warnings: number;
  readonly fixed: number;
  readonly results: readonly {
    readonly area: string;
    readonly status: "ok" | "warning" | "error" | "skipped";
    readonly what: string;
    readonly remedy: string | null;
    readonly fixed: string | null;
    readonly fixable: boolean;
  }[];
}

/** Other surfaces that a command may start; `main.ts` provides them. */
export interface Surfaces {
  readonly terminal: {
    /** Runs the interactive conversation and returns the exit code. `options` builds the options of a conversation for its user. */
    interact(session: {
      readonly home: Home;
      readonly terminal: Terminal;
      readonly app: App;
      readonly verbose: boolean;
      /** Linear output without cursor movement. */
      readonly plain: boolean;
      options(human: Human): Promise<ConversationOptions>;
    }): Promise<number>;
    /** Asks one question, prints the answer and returns the exit code. Closes the conversation. */
    ask(terminal: Terminal, app: App, opened: OpenedConversation, question: Question): Promise<number>;
  };
  doctor(
    home: Home,
    options: { readonly fix: boolean; onProgress(done: number, total: number): void },
  ): Promise<DoctorReport>;
  gateway(
    home: Home,
    options: {
      out(text: string): void;
      readonly verbose?: boolean | undefined;
      readonly acceptHooks?: boolean | undefined;
    },
  ): Promise<number>;
}

/** Every command by name; its code is loaded when it is called. */
export interface CommandTable {
  readonly [name: string]: { readonly summary: string; load(): Promise<CliCommand> };
}

/** What every command receives. */
export interface CliBase {
  readonly commands: CommandTable;
  readonly surfaces: Surfaces;
  readonly home: Home;
  readonly terminal: Terminal;
  /** Runs another command line in this process, for example the chat after a session was picked. */
  again(argv: readonly string[]): Promise<number>;
}

export interface CliContext extends CliBase {
  readonly positionals: readonly string[];
  readonly values: CliValues;
}

export interface CliCommand {
  readonly name: string;
  readonly aliases?: readonly string[] | undefined;
  readonly summary: string;
  /** What follows the name in usage lines, for example `ID [TITLE…]`. */
  readonly args?: string | undefined;
  readonly options?: { readonly [name: string]: CliOption };
  readonly subcommands?: readonly CliCommand[] | undefined;
  /** The subcommand that runs when none is named. */
  readonly defaultSubcommand?: string | undefined;
  /** How many positionals are allowed; more is an error. Unlimited when absent. */
  readonly maxPositionals?: number | undefined;
  /** The hint of the error about more positionals than allowed; by default it names the help. */
  extraHint?(positionals: readonly string[]): string;
  readonly examples?: readonly string[] | undefined;
  /** Rewrites the arguments before they are parsed, for options with an optional value. */
  rewrite?(argv: readonly string[]): string[];
  /** Returns the exit code. Throws UserError for errors that the user can resolve. */
  run?(context: CliContext): Promise<number>;
}

const COMMON: { readonly [name: string]: CliOption } = {
  help: { type: "boolean", short: "h", help: "Show this help" },
};

export const JSON_OPTION: { readonly json: CliOption } = { json: { type: "boolean", help: "Print JSON for scripts" } };

function findSubcommand(command: CliCommand, word: string | undefined): CliCommand | undefined {
  return command.subcommands?.find((sub) => sub.name === word || sub.aliases?.includes(word ?? ""));
}

/** Finds the command that the arguments name: `sessions rename x` → [sessions, rename] and the remaining arguments. */
function descend(command: CliCommand, argv: readonly string[]): { path: CliCommand[]; rest: readonly string[] } {
  const path = [command];
  let current = command;
  let rest = argv;
  while (current.subcommands) {
    const word = rest[0];
    const next = findSubcommand(current, word);
    if (next) rest = rest.slice(1);
    else if (word !== undefined && !word.startsWith("-") && !current.run) throw unknownSubcommand(path, word);
    const chosen =
      next ?? (word === "--help" || word === "-h" ? undefined : findSubcommand(current, current.defaultSubcommand));
    if (!chosen) break;
    path.push(chosen);
    current = chosen;
  }
  return { path, rest };
}

function unknownSubcommand(path: readonly CliCommand[], word: string): UserError {
  const command = path[path.length - 1];
  const names = (command?.subcommands ?? []).map((sub) => sub.name);
  const guess = nearest(word, names);
  const called = path.map((step) => step.name).join(" ");
  return new UserError(`hermes ${called}: unknown command "${word}"${guess ? `; did you mean "${guess}"?` : ""}`, {
    hint: `Use one of: ${names.join(", ")}. See: hermes ${called} --help`,
    exitCode: 2,
  });
}

function parse(
  command: CliCommand,
  called: string,
  argv: readonly string[],
): { positionals: string[]; values: CliValues } {
  const options = { ...command.options, ...COMMON };
  const config: Record<string, { type: "string" | "boolean"; short?: string | undefined; multiple?: boolean }> = {};
  for (const [name, option] of Object.entries(options)) {
    config[name] = {
      type: option.type,
      // parseArgs rejects properties that are undefined.
      ...(option.short ? { short: option.short } : {}),
      ...(option.multiple ? { multiple: true } : {}),
    };
  }
  try {
    const parsed = parseArgs({ args: [...argv], options: config, allowPositionals: true, strict: true });
    return { positionals: parsed.positionals, values: parsed.values };
  } catch (error) {
    const flag =
      argv
        .find((word) => word.startsWith("--"))
        ?.slice(2)
        .split("=")[0] ?? "";
    const guess = flag in options ? undefined : nearest(flag, Object.keys(options));
    const text = errorMessage(error).split(". ")[0];
    throw new UserError(`hermes ${called}: ${text}${guess ? `; did you mean "--${guess}"?` : ""}`, {
      hint: `See: hermes ${called} --help`,
      exitCode: 2,
    });
  }
}

/** Parses the arguments and runs the command, or prints its help. */
export async function runCommand(command: CliCommand, argv: readonly string[], base: CliBase): Promise<number> {
  const { path, rest } = descend(command, argv);
  const target = path[path.length - 1] ?? command;
  const called = path.map((step) => step.name).join(" ");
  if (!target.run) {
    base.terminal.out(helpText(path, base.terminal.columns));
    return rest.includes("--help") || rest.includes("-h") ? 0 : 2;
  }
  const { positionals, values } = parse(target, called, target.rewrite?.(rest) ?? rest);
  if (values.help) {
    base.terminal.out(helpText(path, base.terminal.columns));
    return 0;
  }
  if (target.maxPositionals !== undefined && positionals.length > target.maxPositionals) {
    throw new UserError(`hermes ${called}: unexpected "${positionals[target.maxPositionals]}"`, {
      hint: target.extraHint?.(positionals) ?? `See: hermes ${called} --help`,
      exitCode: 2,
    });
  }
  return target.run({ ...base, positionals, values });
}

function optionLabel(name: string, option: CliOption): string {
  const long = `--${name}${option.type === "string" ? ` ${option.value ?? "VALUE"}` : ""}`;
  return option.short ? `-${option.short}, ${long}` : `    ${long}`;
}

/** Labels and help texts of options, for `rowsText`. */
export function optionRows(options: readonly (readonly [string, CliOption])[]): (readonly [string, string])[] {
  return options.map(([name, option]) => [optionLabel(name, option), option.help] as const);
}

/** Two columns for help texts; the right one is wrapped. */
export function rowsText(rows: readonly (readonly [string, string])[], columns: number): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  const hang = " ".repeat(width + 4 > columns / 2 ? 6 : width + 4);
  return rows.map(([left, right]) => wrapWords(`  ${left.padEnd(width)}  ${right}\n`, columns, hang)).join("");
}

/** Help for the last command of the path, wrapped to the width of the terminal. */
export function helpText(path: readonly CliCommand[], columns = Number.POSITIVE_INFINITY): string {
  const command = path[path.length - 1];
  if (!command) return "";
  const called = path.map((step) => step.name).join(" ");
  const args = command.args ? ` ${command.args}` : command.subcommands ? " COMMAND" : "";
  let text = `${command.summary}\n\nUsage: hermes ${called}${args}${command.options ? " [options]" : ""}\n`;
  if (command.subcommands) {
    const rows = command.subcommands.map(
      (sub) => [sub.args ? `${sub.name} ${sub.args}` : sub.name, sub.summary] as const,
    );
    text += `\nCommands:\n${rowsText(rows, columns)}`;
  }
  const options = optionRows(Object.entries({ ...command.options, ...COMMON }));
  text += `\nOptions:\n${rowsText(options, columns)}`;
  if (command.examples) text += `\nExamples:\n${command.examples.map((example) => `  ${example}\n`).join("")}`;
  return text;
}

/** A whole number from an option, checked against its range. */
export function integerOption(
  context: CliContext,
  name: string,
  range: { default: number; min?: number | undefined; max?: number },
): number {
  const value = context.values[name];
  if (value === undefined) return range.default;
  const number = Number(value);
  const min = range.min ?? 0;
  const max = range.max ?? Number.MAX_SAFE_INTEGER;
  if (!Number.isInteger(number) || number < min || number > max) {
    const upper = max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`;
    throw new UserError(`--${name} takes a whole number from ${min}${upper}, not "${String(value)}"`, { exitCode: 2 });
  }
  return number;
}

/** A text option, or undefined when it was not given. */
export function textOption(context: CliContext, name: string): string | undefined {
  const value = context.values[name];
  return typeof value === "string" ? value : undefined;
}
