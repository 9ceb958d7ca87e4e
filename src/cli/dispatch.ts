// Opens the home, finds and runs the command, and prints errors with their hints.

import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { displayPreferences, openHome } from "../home/api.ts";
import { nearest } from "../lib/nearest.ts";
import { Terminal } from "../lib/terminal/terminal.ts";
import { shellQuote } from "../lib/text/shell-quote.ts";
import { runCommand, type Surfaces } from "./command.ts";
import { commands } from "./table.ts";

const DEFAULT_COMMAND = "chat";

async function report(terminal: Terminal, error: unknown, home: string): Promise<number> {
  const explained =
    error instanceof UserError ? error : (await import("./system-error.ts")).explainSystemError(error, home);
  if (explained) {
    terminal.err(
      `${terminal.style("red", "error:")} ${explained.message}${explained.hint ? `\n${explained.hint}` : ""}`,
    );
    return explained.exitCode;
  }
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  terminal.err(`${terminal.style("red", "unexpected error:")} ${text}`);
  return 70;
}

/** Runs a command that a plugin registered; undefined when there is none of this name. */
async function runPluginsCommand(home: Home, terminal: Terminal, argv: readonly string[]): Promise<number | undefined> {
  const { runPluginCommand } = await import("../app/plugin-actions.ts");
  const [word = "", ...rest] = argv;
  return runPluginCommand(home, word, {
    argv: rest,
    out: (text) => terminal.out(text),
    err: (text) => terminal.err(text),
  });
}

interface Invocation {
  readonly home: Home;
  readonly terminal: Terminal;
  readonly surfaces: Surfaces;
}

async function runArguments(invocation: Invocation, rest: readonly string[]): Promise<number> {
  const word = rest[0];
  const named = word !== undefined && !word.startsWith("-") ? word : undefined;
  const entry = commands[named ?? DEFAULT_COMMAND];
  if (!entry) {
    const code = named
      ? await runPluginsCommand(invocation.home, invocation.terminal, [named, ...rest.slice(1)])
      : undefined;
    if (code !== undefined) return code;
    const guess = nearest(named ?? "", Object.keys(commands));
    throw new UserError(`unknown command "${named ?? DEFAULT_COMMAND}"${guess ? `; did you mean "${guess}"?` : ""}`, {
      hint: `To ask a question: hermes -q ${shellQuote(rest.join(" "))}. The commands: hermes help`,
      exitCode: 2,
    });
  }
  const again = (argv: readonly string[]) => runArguments(invocation, argv);
  return runCommand(await entry.load(), named ? rest.slice(1) : rest, { ...invocation, commands, again });
}

/** Runs one command line and returns its exit code. */
export async function dispatch(argv: readonly string[], surfaces: Surfaces): Promise<number> {
  const terminal = new Terminal(
    {
      // Node opens each stream at first use; commands that read nothing do not open standard input.
      get stdin() {
        return process.stdin;
      },
      stdout: process.stdout,
      get stderr() {
        return process.stderr;
      },
    },
    displayPreferences(),
  );
  let homePath = "the home";
  try {
    const { home, rest, warnings } = openHome(argv);
    homePath = home.path;
    for (const warning of warnings) terminal.err(`warning: ${warning}`);
    return await runArguments({ home, terminal, surfaces }, rest);
  } catch (error) {
    return report(terminal, error, homePath);
  }
}
