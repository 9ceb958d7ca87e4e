// Generates docs/reference/cli.md from the help of the commands.
import { type CliCommand, helpText } from "../src/cli/command.ts";
import { commands } from "../src/cli/table.ts";

function sections(path: readonly CliCommand[]): string[] {
  const command = path.at(-1);
  if (!command) return [];
  const title = path.map(({ name }) => name).join(" ");
  const own = `${"#".repeat(Math.min(path.length + 1, 4))} hermes ${title}\n\n\`\`\`text\n${helpText(path).trimEnd()}\n\`\`\``;
  return [own, ...(command.subcommands ?? []).flatMap((sub) => sections([...path, sub]))];
}

export async function cliPage(): Promise<string> {
  const parts = [
    "# Command line reference\n\n<!-- Made by `npm run docs` from the commands' help. Changes made here are lost. -->",
  ];
  for (const entry of Object.values(commands)) parts.push(...sections([await entry.load()]));
  return `${parts.join("\n\n")}\n`;
}
