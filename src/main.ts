// argv → one lazily imported surface. --version and --help answer before anything else is loaded.
import { commands } from "./cli/table.ts";

declare const __HERMES_VERSION__: string;

function topLevelHelp(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const rows = Object.entries(commands).map(([name, entry]) => `  ${name.padEnd(width)}  ${entry.summary}\n`);
  return `Hermes: a personal AI agent for your terminal and your chats.

Usage: hermes [options] [command]

Commands:
${rows.join("")}
Options:
  -p, --profile NAME  Use this profile (works at any position)
  -V, --version       Print the version
  -h, --help          Print this help; \`hermes COMMAND --help\` tells more

Documentation: docs/ in the package, or README.md
`;
}

async function main(argv: readonly string[]): Promise<number> {
  const first = argv[0];
  if (first === "--version" || first === "-V") {
    process.stdout.write(`hermes ${__HERMES_VERSION__}\n`);
    return 0;
  }
  if (first === "--help" || first === "-h") {
    process.stdout.write(topLevelHelp());
    return 0;
  }
  const { dispatch } = await import("./cli/dispatch.ts");
  return dispatch(argv, {
    terminal: {
      interact: async (session) => (await import("./terminal/interactive.ts")).interact(session),
      ask: async (...args) => (await import("./terminal/ask-once.ts")).askOnce(...args),
    },
    gateway: async (home, options) => (await import("./gateway/control/run.ts")).runGateway(home, options),
  });
}

const LEFTOVERS_MS = 1_000;

// Packages that we use still call what newer Nodes name outdated. The person at the terminal can do nothing about it;
// whoever looks for it asks with --trace-deprecation.
process.noDeprecation = !process.traceDeprecation;
// Ending before `main` has is a fault; the chunks of a build cannot wait at their top level.
process.exitCode = 13;
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
  // Everything of ours is closed. The timer keeps nobody waiting; it fires only while a plugin's leftovers run on.
  setTimeout(() => process.exit(), LEFTOVERS_MS).unref();
});
