// The context that `register(ctx)` of a plugin receives; it collects everything the plugin registers.
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../core/failure.ts";
import type { Gate } from "../core/gate.ts";
import type { Home } from "../core/home.ts";
import type { JsonObject } from "../core/message.ts";
import type { ModelConnector } from "../core/model/provider.ts";
import type { NamedProvider, PluginContext, PluginDatabase, PluginLog, ProviderKind } from "../core/plugin.ts";
import type { Redactor } from "../core/redactor.ts";
import { gateContext } from "../core/tool/tool.ts";
import { isRecord } from "../lib/json/is-record.ts";
import type { FoundPlugin } from "./discovery.ts";
import { pluginDatabasePath } from "./plugin-database.ts";
import { pluginLlm } from "./plugin-llm.ts";
import { registrationApi } from "./registration-api.ts";
import type { Collected } from "./registrations.ts";

/** Services that only the code of a plugin uses. */
export interface PluginRuntime {
  /** Opens a SQLite file by its absolute path. */
  openDatabase(path: string): PluginDatabase;
  /** Names of the built-in platforms: a plugin cannot use them for its own. */
  readonly platformNames: readonly string[];
}

/** What the program provides to its plugins. */
export interface PluginServices {
  models(): Promise<ModelConnector>;
  /** Called when the code of the first plugin is imported, not at start-up. */
  runtime(): Promise<PluginRuntime>;
  readonly gate?: Gate | undefined;
  readonly redactor?: Redactor | undefined;
  notice(text: string): void;
}

function pluginLog(home: Home, name: string, services: () => PluginServices): PluginLog {
  const file = join(home.path, "logs", "plugins.log");
  const debug = /^(1|true|yes|on)$/i.test(home.env.HERMES_PLUGINS_DEBUG ?? "");
  const write = (level: string, message: string) => {
    const text = services().redactor?.redact(message) ?? message;
    if (debug) services().notice(`${name}: ${text}`);
    const line = `${new Date().toISOString()} ${level} ${name}: ${text.replaceAll("\n", "\\n")}\n`;
    // A plugin continues when its log cannot be written.
    void mkdir(join(home.path, "logs"), { recursive: true, mode: 0o700 })
      .then(() => appendFile(file, line, { mode: 0o600 }))
      .catch(() => undefined);
    return text;
  };
  return {
    debug: (text) => void (debug && write("debug", text)),
    info: (text) => void write("info", text),
    warn: (text) => void write("warn", text),
    error: (text) => {
      const shown = write("error", text);
      if (!debug) services().notice(`${name}: ${shown}`);
    },
  };
}

/** Only the variables that the manifest names: a plugin does not see the keys of other services. */
function environment(plugin: FoundPlugin, home: Home): { [name: string]: string | undefined } {
  const { requiresEnv, optionalEnv } = plugin.manifest;
  return Object.fromEntries([...requiresEnv, ...optionalEnv].map(({ name }) => [name, home.env[name]]));
}

/** The names of the Python API (`register_tool` …), with positional arguments where that API has them. */
function aliases(context: PluginContext): object {
  const snake = Object.fromEntries(
    Object.entries(context)
      .filter(([name, value]) => typeof value === "function" && /[A-Z]/.test(name))
      .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );
  const registerKind = (name: ProviderKind) => (provider: NamedProvider) => context.registerProvider(name, provider);
  return {
    ...snake,
    register_command: (
      given: string | Parameters<PluginContext["registerCommand"]>[0],
      handler?: (args: string) => string | null | Promise<string | null>,
      details: { description?: string | undefined; args_hint?: string } = {},
    ) => {
      if (typeof given !== "string") return context.registerCommand(given);
      context.registerCommand({
        name: given,
        run: (args) => handler?.(args) ?? null,
        summary: details.description || undefined,
        args: details.args_hint || undefined,
      });
    },
    register_browser_provider: registerKind("browser"),
    register_image_gen_provider: registerKind("image"),
    register_video_gen_provider: registerKind("video"),
    logger: context.log,
    hermes_home: context.home,
  };
}

export interface ContextOptions {
  readonly plugin: FoundPlugin;
  readonly home: Home;
  /** `plugins.entries.<name>`. */
  readonly config: JsonObject;
  /** The current services: some are opened after the plugin was loaded. */
  services(): PluginServices;
  readonly runtime: PluginRuntime;
}

export function createPluginContext(options: ContextOptions, into: Collected): PluginContext {
  const { plugin, home, config, runtime } = options;
  const { name } = plugin.manifest;
  const context: PluginContext = {
    name,
    dir: plugin.dir,
    home: home.path,
    config,
    env: environment(plugin, home),
    log: pluginLog(home, name, options.services),
    llm: pluginLlm({
      plugin: name,
      trust: isRecord(config.llm) ? (config.llm as JsonObject) : {},
      models: () => options.services().models(),
    }),
    ...registrationApi({ name, dir: plugin.dir, takenPlatforms: runtime.platformNames }, into),
    check: (intent, tool) => {
      const { gate } = options.services();
      if (!gate) throw new UserError("the gate is not open here");
      return gate.check(intent, gateContext(name, tool));
    },
    openDatabase: (path): PluginDatabase => {
      const database = runtime.openDatabase(pluginDatabasePath(home.path, path));
      into.closers.push(() => database.close());
      return database;
    },
    onClose: (work) => void into.closers.push(work),
  };
  return Object.assign(context, aliases(context));
}
