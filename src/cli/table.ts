// Every command by name: one line each, its code imported only when it is called.
import type { CliCommand } from "./command.ts";

export interface CommandEntry {
  readonly summary: string;
  load(): Promise<CliCommand>;
}

export const commands: { readonly [name: string]: CommandEntry } = {
  config: {
    summary: "Show, change and check the configuration",
    load: async () => (await import("./config.ts")).configCommand,
  },
  sessions: {
    summary: "List, search, export and tidy past conversations",
    load: async () => (await import("./sessions.ts")).sessionsCommand,
  },
};
