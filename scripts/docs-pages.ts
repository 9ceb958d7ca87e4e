// The generated pages of docs/: one entry each.
import { cliPage } from "./cli-page.ts";
import { configurationPage } from "./configuration-page.ts";
import { exampleConfig } from "./example-config.ts";
import { slashCommandsPage } from "./slash-commands-page.ts";

export const pages: readonly { readonly path: string; make(): string | Promise<string> }[] = [
  { path: "docs/reference/configuration.md", make: configurationPage },
  { path: "docs/reference/cli.md", make: cliPage },
  { path: "cli-config.yaml.example", make: exampleConfig },
  { path: "docs/reference/slash-commands.md", make: slashCommandsPage },
];
