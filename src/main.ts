// The program: prints the version or the help, or runs the command line with the surfaces it may start.

declare const __HERMES_VERSION__: string;

async function main(argv: readonly string[]): Promise<number> {
  const first = argv[0];
  if (first === "--version" || first === "-V") {
    process.stdout.write(`hermes ${__HERMES_VERSION__}\n`);
    return 0;
  }
  if (first === "--help" || first === "-h") {
    const [{ programHelp }, { commands }] = await Promise.all([
      import("./cli/program-help.ts"),
      import("./cli/table.ts"),
    ]);
    process.stdout.write(programHelp(commands, process.stdout.isTTY ? process.stdout.columns : undefined));
    return 0;
  }
  const { dispatch } = await import("./cli/dispatch.ts");
  return dispatch(argv, {
    terminal: {
      interact: async (session) => (await import("./terminal/interactive.ts")).interact(session),
      ask: async (...args) => (await import("./terminal/ask-once.ts")).askOnce(...args),
    },
    doctor: async (...args) => (await import("./care/doctor/doctor.ts")).runDoctor(...args),
    gateway: async (home, options) => (await import("./gateway/control/run.ts")).runGateway(home, options),
  });
}

/** How long handles that plugins left open may keep the process alive. */
const EXIT_DELAY_MS = 1_000;

// Dependencies call deprecated Node functions; users cannot act on the warnings. --trace-deprecation shows them.
process.noDeprecation = !process.traceDeprecation;
// The exit code when the event loop empties before `main` has finished. (Top-level await is not available in the build.)
process.exitCode = 13;
void main(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
  setTimeout(() => process.exit(), EXIT_DELAY_MS).unref();
});
