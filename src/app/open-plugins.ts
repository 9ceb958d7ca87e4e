// Plugins and hooks of a program. Without any, this is a few comparisons and nothing is imported.
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { type Hooks, noHooks } from "../core/hook.ts";
import type { Platform } from "../core/platform.ts";
import { readPlatformSettings } from "../core/platform-settings.ts";
import type { Registry } from "../core/tool-registry.ts";
import type { ShellHookOptions } from "../plugins/hooks/open-hooks.ts";
import type { PluginHost } from "../plugins/plugin-host.ts";
import { wantsNoPlugins } from "../plugins/plugin-status.ts";
import type { Models } from "../providers/connect.ts";
import type { Services } from "./services.ts";

export interface Extensions {
  readonly hooks: Hooks;
  /** Null when the configuration asks for no plugin. */
  readonly plugins: PluginHost | null;
}

export interface ExtensionOptions extends ShellHookOptions {
  /** Undefined until the models are open. */
  models(): Models | undefined;
}

export async function openExtensions(home: Home, config: Config, options: ExtensionOptions): Promise<Extensions> {
  const shell = Object.keys(config.hooks).length > 0;
  if (wantsNoPlugins(config) && !shell) return { hooks: noHooks, plugins: null };
  const { HookRunner } = await import("../plugins/hooks/hook-runner.ts");
  const { notice } = options;
  const models = async () => {
    const open = options.models();
    if (open) return open;
    throw new UserError("models can be called once the program is open, not while a plugin registers");
  };
  const runner = new HookRunner({ notice, timeoutMs: config.plugins.hook_timeout * 1000 });
  let plugins: PluginHost | null = null;
  if (!wantsNoPlugins(config)) {
    const host = await import("../plugins/plugin-host.ts");
    plugins = await host.PluginHost.open({ home, config, parts: { models, notice } });
    plugins.listen(runner);
  }
  if (shell) {
    const { openShellHooks } = await import("../plugins/hooks/open-hooks.ts");
    for (const source of await openShellHooks(home, config, options)) runner.add(source);
  }
  return { hooks: runner, plugins };
}

/** The configuration with the model providers of plugins as named endpoints. */
export async function withModelProviders(config: Config, plugins: PluginHost | null): Promise<Config> {
  const rows = (await plugins?.modelProviders()) ?? [];
  if (rows.length === 0) return config;
  const { addModelProviders } = await import("../plugins/plugin-models.ts");
  return addModelProviders(config, rows, (text) => plugins?.notice(text));
}

/** Chat platforms of plugins; their secrets are known from now on, whatever their variables are called. */
export async function pluginPlatforms({ plugins, home, config, redactor }: Services): Promise<readonly Platform[]> {
  const platforms = (await plugins?.platforms()) ?? [];
  for (const { name, settings } of platforms) {
    const { setting } = readPlatformSettings({ home, config }, name, settings);
    for (const { env, secret } of settings) if (secret) redactor.learn(setting(env) ?? "");
  }
  return platforms;
}

/** Before tools are counted: what every plugin brings is known and in the registry. */
export async function readyPlugins(plugins: PluginHost | null, registry: Registry): Promise<void> {
  await plugins?.settle();
  plugins?.registerTools(registry);
}
