// Composes what `hermes plugins`, `hermes hooks`, `hermes memory` and the commands of plugins need.
import { openSettings } from "../config/api.ts";
import type { Home } from "../core/home.ts";
import type { ModelConnector } from "../core/model/provider.ts";
import type { CliRun } from "../core/plugin.ts";
import { BUILTINS } from "../core/tool/tool-registry.ts";
import { lazy } from "../lib/async/lazy.ts";
import { createMemoryActions, type MemoryActions } from "../memory/api.ts";
import { createPluginActions, type PluginActions, type PluginRow } from "../plugins/api.ts";
import { createHookActions, type HookActions } from "../plugins/hooks/api.ts";
import { wantsNoPlugins } from "../plugins/plugin-status.ts";
import { configuredEnvironment } from "./command-environment.ts";
import { openPluginHost, withModelProviders } from "./open-plugins.ts";

declare const __HERMES_VERSION__: string | undefined;

/** The built-in tools, commands and providers as the row of a plugin. */
async function builtinRow(home: Home): Promise<PluginRow> {
  const [
    { openApp },
    { listSlashCommands },
    { platformEntries },
    { CATALOG },
    { describeRegistrations },
    { emptyCollection },
  ] = await Promise.all([
    import("./compose.ts"),
    import("./commands/list-slash.ts"),
    import("./platforms.ts"),
    import("../providers/catalog.ts"),
    import("../plugins/lazy-plugin.ts"),
    import("../plugins/registrations.ts"),
  ]);
  const app = await openApp(home);
  try {
    const collected = emptyCollection();
    for (const { tool, owner } of await app.tools())
      if (owner === BUILTINS) collected.tools.push({ tool, override: false });
    collected.commands.push(...listSlashCommands("terminal"));
    for (const { name } of platformEntries) collected.providers.push({ kind: "platform", provider: { name } });
    for (const { id, label, baseUrl } of CATALOG) collected.modelProviders.push({ name: id, label, baseUrl });
    return {
      key: BUILTINS,
      name: BUILTINS,
      version: typeof __HERMES_VERSION__ === "string" ? __HERMES_VERSION__ : "development",
      description: "What the program provides itself",
      author: "",
      kind: "backend",
      source: "built in",
      dir: import.meta.dirname,
      status: "built in",
      remarks: [],
      missingEnv: [],
      registrations: describeRegistrations(collected),
      provides: {},
    };
  } finally {
    await app.close();
  }
}

export function openPluginActions(home: Home): PluginActions {
  return createPluginActions({
    home,
    settings: openSettings(home),
    openHost: (config, notice) => openPluginHost(home, config, { notice }),
    commandEnvironment: (config) => configuredEnvironment(home, config),
    builtins: () => builtinRow(home),
  });
}

export function openHookActions(home: Home): HookActions {
  return createHookActions({
    home,
    settings: openSettings(home),
    commandEnvironment: (config) => configuredEnvironment(home, config),
    plugins: () => openPluginActions(home).list(),
  });
}

export function openMemoryActions(home: Home): MemoryActions {
  return createMemoryActions({
    home,
    settings: openSettings(home),
    openHost: (config) => openPluginHost(home, config, { notice: () => undefined }),
  });
}

/** Runs `hermes <name>` when an enabled plugin provides that command. Its exit code; undefined when none does. */
export async function runPluginCommand(
  home: Home,
  name: string,
  run: Omit<CliRun, "home">,
): Promise<number | undefined> {
  const { config } = await openSettings(home).load();
  if (wantsNoPlugins(config)) return undefined;
  const closers: (() => Promise<void> | void)[] = [];
  const models = lazy(async (): Promise<ModelConnector> => {
    const [{ openLedger }, { openModels }] = await Promise.all([
      import("./open-store.ts"),
      import("../providers/open-models.ts"),
    ]);
    const { ledger, close } = await openLedger(home);
    closers.push(close);
    const opened = openModels(home, await withModelProviders(config, host), ledger);
    closers.push(() => opened.close());
    return opened;
  });
  const host = await openPluginHost(home, config, { models, notice: (text) => run.err(`notice: ${text}`) });
  try {
    await host.settle();
    const command = await host.cliCommand(name);
    if (!command) return undefined;
    if (run.argv.includes("--help") || run.argv.includes("-h")) {
      run.out(command.help ?? command.summary);
      return 0;
    }
    return (await command.run({ ...run, home: home.path })) ?? 0;
  } finally {
    await host.close();
    for (const close of closers.toReversed()) await close();
  }
}
