// What `register(ctx)` is handed, and the collection of everything it registers.
import { appendFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { UserError } from "../core/failure.ts";
import type { Gate } from "../core/gate.ts";
import type { Home } from "../core/home.ts";
import type { JsonObject } from "../core/message.ts";
import type { NamedProvider, PluginContext, PluginDatabase, PluginLog, Seam } from "../core/plugin.ts";
import type { Redactor } from "../core/redactor.ts";
import { gateContext } from "../core/tool.ts";
import type { Models } from "../providers/connect.ts";
import type { FoundPlugin } from "./discovery.ts";
import { openPluginDatabase } from "./plugin-database.ts";
import { pluginLlm } from "./plugin-llm.ts";
import { registering } from "./registration-api.ts";
import type { Collected } from "./registrations.ts";

/** What the program lends to its plugins. */
export interface PluginParts {
  models(): Promise<Models>;
  readonly gate?: Gate | undefined;
  readonly redactor?: Redactor | undefined;
  notice(text: string): void;
}

function pluginLog(home: Home, name: string, parts: () => PluginParts): PluginLog {
  const file = join(home.path, "logs", "plugins.log");
  const debug = /^(1|true|yes|on)$/i.test(home.env.HERMES_PLUGINS_DEBUG ?? "");
  const write = (level: string, given: string) => {
    const text = parts().redactor?.redact(given) ?? given;
    if (debug) parts().notice(`${name}: ${text}`);
    const line = `${new Date().toISOString()} ${level} ${name}: ${text.replaceAll("\n", "\\n")}\n`;
    // A log that cannot be written must not stop a plugin.
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
      if (!debug) parts().notice(`${name}: ${shown}`);
    },
  };
}

/** The variables that the manifest names: a plugin is not handed the keys of others. */
function environment(plugin: FoundPlugin, home: Home): { [name: string]: string | undefined } {
  const { requiresEnv, optionalEnv } = plugin.manifest;
  return Object.fromEntries([...requiresEnv, ...optionalEnv].map(({ name }) => [name, home.env[name]]));
}

/** `register_tool` and the like, for authors who know the Python API. Positional where that API is. */
function aliases(context: PluginContext): object {
  const snake = Object.fromEntries(
    Object.entries(context)
      .filter(([name, value]) => typeof value === "function" && /[A-Z]/.test(name))
      .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (email) => `_${email.toLowerCase()}`), value]),
  );
  const seam = (name: Seam) => (provider: NamedProvider) => context.registerProvider(name, provider);
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
        ...(details.description ? { summary: details.description } : {}),
        ...(details.args_hint ? { args: details.args_hint } : {}),
      });
    },
    register_browser_provider: seam("browser"),
    register_image_gen_provider: seam("image"),
    register_video_gen_provider: seam("video"),
    logger: context.log,
    hermes_home: context.home,
  };
}

export interface ContextOptions {
  readonly plugin: FoundPlugin;
  readonly home: Home;
  /** `plugins.entries.<name>`. */
  readonly config: JsonObject;
  /** As they are now: some are opened after the plugin was loaded. */
  parts(): PluginParts;
}

export function pluginContext(options: ContextOptions, into: Collected): PluginContext {
  const { plugin, home, config } = options;
  const { name } = plugin.manifest;
  const trust = config.llm;
  const context: PluginContext = {
    name,
    dir: plugin.dir,
    home: home.path,
    config,
    env: environment(plugin, home),
    log: pluginLog(home, name, options.parts),
    llm: pluginLlm({
      plugin: name,
      trust: trust !== null && typeof trust === "object" && !Array.isArray(trust) ? (trust as JsonObject) : {},
      models: () => options.parts().models(),
    }),
    ...registering({ name, dir: plugin.dir }, into),
    check: (intent, tool) => {
      const { gate } = options.parts();
      if (!gate) throw new UserError("the gate is not open here");
      return gate.check(intent, gateContext(name, tool));
    },
    openDatabase: (path): PluginDatabase => {
      const database = openPluginDatabase(home.path, path);
      into.closers.push(() => database.close());
      return database;
    },
    onClose: (work) => void into.closers.push(work),
  };
  return Object.assign(context, aliases(context));
}
