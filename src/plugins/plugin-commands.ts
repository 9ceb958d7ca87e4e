// `hermes <word>` for words that no built-in command has: a plugin's own command, when one is enabled that brings it.

import { withModelProviders } from "../app/open-plugins.ts";
import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import type { Models } from "../providers/connect.ts";
import { wantsNoPlugins } from "./plugin-status.ts";

export interface PluginCommandRun {
  readonly argv: readonly string[];
  out(text: string): void;
  err(text: string): void;
}

/** The command's exit code; undefined when no plugin brings it. */
export async function runPluginCommand(home: Home, word: string, run: PluginCommandRun): Promise<number | undefined> {
  const { config } = await openSettings(home).load();
  if (wantsNoPlugins(config)) return undefined;
  const { PluginHost } = await import("./plugin-host.ts");
  const closers: (() => void)[] = [];
  const models = async (): Promise<Models> => {
    const [{ openLedger }, { openModels }] = await Promise.all([
      import("../app/ledger.ts"),
      import("../providers/open-models.ts"),
    ]);
    const { ledger, close } = await openLedger(home);
    closers.push(close);
    return openModels(home, await withModelProviders(config, host), ledger);
  };
  let opened: Promise<Models> | undefined;
  const lend = () => {
    opened ??= models();
    return opened;
  };
  const notice = (text: string) => run.err(`notice: ${text}`);
  const host = await PluginHost.open({ home, config, parts: { models: lend, notice } });
  try {
    await host.settle();
    const command = await host.cliCommand(word);
    if (!command) return undefined;
    if (run.argv.includes("--help") || run.argv.includes("-h")) {
      run.out(command.help ?? command.summary);
      return 0;
    }
    return (await command.run({ ...run, home: home.path })) ?? 0;
  } finally {
    await host.close();
    await (await opened)?.close();
    for (const close of closers) close();
  }
}
