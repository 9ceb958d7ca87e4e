// `hermes help [COMMAND…]`: the help of the program or of one command.
import type { CliCommand } from "../command.ts";
import { programHelp } from "../program-help.ts";

export const helpCommand: CliCommand = {
  name: "help",
  summary: "Print the help of the program or of a command",
  args: "[COMMAND…]",
  examples: ["hermes help", "hermes help sessions export"],
  run: async ({ positionals, terminal, again, commands }) => {
    if (positionals.length > 0) return again([...positionals, "--help"]);
    terminal.out(programHelp(commands, terminal.columns));
    return 0;
  },
};
