// Opens the plugins and hooks of a home. When none are configured, nothing is imported.

import type { Platform } from "../core/chat/platform.ts";
import { readPlatformSettings } from "../core/chat/platform-settings.ts";
import type { Config } from "../core/config/config.ts";
import { UserError } from "../core/failure.ts";
import type { Home } from "../core/home.ts";
import { type Hooks, noHooks } from "../core/hook.ts";
import type { Registry } from "../core/tool/tool-registry.ts";
import type { ShellHookOptions } from "../plugins/hooks/open-hooks.ts";
import type { PluginRuntime, PluginServices } from "../plugins/plugin-context.ts";
import type { PluginHost } from "../plugins/plugin-host.ts";
import { wantsNoPlugins } from "../plugins/plugin-status.ts";
import type { Services } from "./services.ts";

export interface Extensions {
  readonly hooks: Hooks;
  /** Null when the configuration enables no plugin. */
  readonly plugins: PluginHost | null;
}

async function pluginRuntime(): Promise<PluginRuntime> {
  const [{ openPluginDatabase }, { platformEntries }] = await Promise.all([
    import("../store/plugin-database.ts"),
    import("./platforms.ts"),
  ]);
  return { openDatabase: openPluginDatabase, platformNames: platformEntries.map(({ name }) => name) };
}

/** Without `models`, plugins cannot call one. */
export async function openPluginHost(
  home: Home,
  config: Config,
  services: Pick<PluginServices, "notice"> & Partial<PluginServices>,
): Promise<PluginHost> {
  const { PluginHost } = await import("../plugins/plugin-host.ts");
  const models = () => Promise.reject(new UserError("this command provides no models to plugins"));
  return PluginHost.open({ home, config, services: { models, runtime: pluginRuntime, ...services } });
}

export async function openExtensions(
  home: Home,
  config: Config,
  options: Omit<ShellHookOptions, "env">,
): Promise<Extensions> {
  const shell = Object.keys(config.hooks).length > 0;
  if (wantsNoPlugins(config) && !shell) return { hooks: noHooks, plugins: null };
  const { HookRunner } = await import("../plugins/hooks/hook-runner.ts");
  const { notice } = options;
  const notOpen = "models can be called once the program is open, not while a plugin registers";
  const models = () => Promise.reject(new UserError(notOpen));
  const runner = new HookRunner({ notice, timeoutMs: config.plugins.hook_timeout * 1000 });
  const plugins = wantsNoPlugins(config) ? null : await openPluginHost(home, config, { models, notice });
  plugins?.listen(runner);
  if (shell) {
    const [{ openShellHooks }, { configuredEnvironment }] = await Promise.all([
      import("../plugins/hooks/open-hooks.ts"),
      import("./command-environment.ts"),
    ]);
    const shellOptions = { ...options, env: configuredEnvironment(home, config) };
    for (const source of await openShellHooks(home, config, shellOptions)) runner.add(source);
  }
  return { hooks: runner, plugins };
}

/** The configuration with the model providers of plugins as named endpoints. */
export async function withModelProviders(config: Config, plugins: PluginHost | null): Promise<Config> {
  const rows = (await plugins?.modelProviders()) ?? [];
  if (!plugins || rows.length === 0) return config;
  const [{ addModelProviders }, { pluginProviderProblem }] = await Promise.all([
    import("../plugins/plugin-models.ts"),
    import("../providers/check-plugin-provider.ts"),
  ]);
  return addModelProviders(config, rows, {
    problem: pluginProviderProblem,
    notice: (text) => plugins.notice(text),
  });
}

/** The same for a command that has no plugins open. */
export async function withPluginModels(
  home: Home,
  config: Config,
  notice: (text: string) => void = () => undefined,
): Promise<Config> {
  if (wantsNoPlugins(config)) return config;
  const host = await openPluginHost(home, config, { notice });
  try {
    return await withModelProviders(config, host);
  } finally {
    await host.close();
  }
}

/** Chat platforms of plugins. Their secrets are added to the redactor. */
export async function pluginPlatforms({ plugins, home, config, redactor }: Services): Promise<readonly Platform[]> {
  const platforms = (await plugins?.platforms()) ?? [];
  for (const { name, settings } of platforms) {
    const { setting } = readPlatformSettings({ home, config }, name, settings);
    for (const { env, secret } of settings) if (secret) redactor.learn(setting(env) ?? "");
  }
  return platforms;
}

/** Registers the tools of plugins; called before a conversation chooses its tools. */
export async function registerPluginTools(plugins: PluginHost | null, registry: Registry): Promise<void> {
  await plugins?.settle();
  plugins?.registerTools(registry);
}
