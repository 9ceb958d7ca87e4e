// What `register(ctx)` is handed, and the collection of everything it registers.
import { appendFile, mkdir } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { UserError } from "../core/failure.ts";
import type { Gate } from "../core/gate.ts";
import { HOOK_NAMES } from "../core/hook.ts";
import type { JsonObject } from "../core/message.ts";
import {
  type EngineWish,
  type NamedProvider,
  type PluginContext,
  type PluginContextEngine,
  type PluginDatabase,
  type PluginLog,
  SEAMS,
  type Seam,
} from "../core/plugin.ts";
import type { Redactor } from "../core/redactor.ts";
import { nearest } from "../lib/nearest.ts";
import type { Models } from "../providers/connect.ts";
import type { Home } from "./home.ts";
import { adaptCommand, adaptTool } from "./plugin-adapt.ts";
import type { Collected } from "./plugin-collected.ts";
import { openPluginDatabase } from "./plugin-database.ts";
import type { FoundPlugin } from "./plugin-discovery.ts";
import { pluginLlm } from "./plugin-llm.ts";

/** What the program lends to its plugins. */
export interface PluginParts {
  models(): Promise<Models>;
  readonly gate?: Gate;
  readonly redactor?: Redactor;
  notice(text: string): void;
}

function pluginLog(home: Home, name: string, parts: PluginParts): PluginLog {
  const file = join(home.path, "logs", "plugins.log");
  const debug = /^(1|true|yes|on)$/i.test(home.env.HERMES_PLUGINS_DEBUG ?? "");
  const write = (level: string, given: string) => {
    const text = parts.redactor?.redact(given) ?? given;
    if (debug) parts.notice(`${name}: ${text}`);
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
      if (!debug) parts.notice(`${name}: ${shown}`);
    },
  };
}

/** The variables that the manifest names: a plugin is not handed the keys of others. */
function environment(plugin: FoundPlugin, home: Home): { [name: string]: string | undefined } {
  const { requiresEnv, optionalEnv } = plugin.manifest;
  return Object.fromEntries([...requiresEnv, ...optionalEnv].map(({ name }) => [name, home.env[name]]));
}

type Registering = Omit<
  PluginContext,
  "name" | "dir" | "home" | "config" | "env" | "log" | "llm" | "check" | "openDatabase" | "onClose"
>;

function registerEngine(into: Collected, name: string, make: (wish: EngineWish) => PluginContextEngine): void {
  const [first] = into.contextEngines.keys();
  if (first === undefined) into.contextEngines.set(name, make);
  else into.problems.push(`context engine "${name}" is refused: "${first}" is registered, and only one can be`);
}

function registering(plugin: FoundPlugin, into: Collected): Registering {
  const { name } = plugin.manifest;
  const inside = (path: string) => (isAbsolute(path) ? path : resolve(plugin.dir, path));
  return {
    registerTool: (tool, options) =>
      void into.tools.push({ tool: adaptTool(tool, name), override: options?.override === true }),
    registerHook: (hook, callback, options) => {
      if (typeof callback !== "function") throw new Error(`registerHook("${hook}") needs a function`);
      if (!HOOK_NAMES.includes(hook)) {
        const guess = nearest(hook, HOOK_NAMES);
        into.problems.push(`there is no hook "${hook}"${guess ? `; did you mean "${guess}"?` : ""}`);
        return;
      }
      const timeoutMs = options?.timeoutMs;
      into.hooks.push({ name: hook, callback, ...(timeoutMs ? { timeoutMs } : {}) });
    },
    registerCommand: (command) => void into.commands.push(adaptCommand(command, name)),
    registerCliCommand: (command) => {
      if (!/^[a-z][\w-]*$/.test(command.name) || typeof command.run !== "function")
        throw new Error("a command needs a lower-case name and a run function");
      into.cliCommands.push(command);
    },
    registerContextEngine: (engine, called) => {
      if (typeof engine === "function") registerEngine(into, called ?? name, engine);
      else registerEngine(into, called ?? engine.name, () => engine);
    },
    registerMemoryProvider: (provider, called) => {
      if (typeof provider === "function") into.memoryProviders.set(called ?? name, provider);
      else into.memoryProviders.set(called ?? provider.name, () => provider);
    },
    registerModelProvider: (row) => void into.modelProviders.push(row),
    registerWebSearchProvider: (provider) => void into.webProviders.push(provider),
    registerSkill: (skill, path, description = "") => {
      if (!/^[A-Za-z0-9_-]+$/.test(skill)) throw new Error(`"${skill}" is no name for a skill`);
      into.skills.push({ name: `${name}:${skill}`, path: inside(path), description });
    },
    registerSkillRoot: (path) => void into.skillRoots.push(inside(path)),
    registerProvider: (seam, provider) => {
      if (!SEAMS.includes(seam)) throw new Error(`there is no kind of provider "${seam}"; use ${SEAMS.join(", ")}`);
      into.providers.push({ seam, provider });
    },
  };
}

/** `register_tool` and the like, for authors who know the Python API. Positional where that API is. */
function aliases(context: PluginContext): object {
  const snake = Object.fromEntries(
    Object.entries(context)
      .filter(([name, value]) => typeof value === "function" && /[A-Z]/.test(name))
      .map(([name, value]) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );
  const seam = (name: Seam) => (provider: NamedProvider) => context.registerProvider(name, provider);
  return {
    ...snake,
    register_command: (
      given: string | Parameters<PluginContext["registerCommand"]>[0],
      handler?: (args: string) => string | null | Promise<string | null>,
      details: { description?: string; args_hint?: string } = {},
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
    register_platform: seam("platform"),
    logger: context.log,
    hermes_home: context.home,
  };
}

export interface ContextOptions {
  readonly plugin: FoundPlugin;
  readonly home: Home;
  /** `plugins.entries.<name>`. */
  readonly config: JsonObject;
  readonly parts: PluginParts;
}

export function pluginContext(options: ContextOptions, into: Collected): PluginContext {
  const { plugin, home, config, parts } = options;
  const { name } = plugin.manifest;
  const trust = config.llm;
  const context: PluginContext = {
    name,
    dir: plugin.dir,
    home: home.path,
    config,
    env: environment(plugin, home),
    log: pluginLog(home, name, parts),
    llm: pluginLlm({
      plugin: name,
      trust: trust !== null && typeof trust === "object" && !Array.isArray(trust) ? (trust as JsonObject) : {},
      models: () => parts.models(),
    }),
    ...registering(plugin, into),
    check: (intent, tool) => {
      if (!parts.gate) throw new UserError("the gate is not open here");
      const { sessionId, human, tainted, signal } = tool;
      return parts.gate.check(intent, { sessionId, human, tainted, signal, toolName: name });
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
