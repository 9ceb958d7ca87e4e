// The `register…` calls of a plugin's context, checked and collected.
import { isAbsolute, resolve } from "node:path";
import { HOOK_NAMES } from "../core/hook.ts";
import {
  type EngineOptions,
  type PluginContext,
  type PluginContextEngine,
  type PluginPlatform,
  SEAMS,
} from "../core/plugin.ts";
import { nearest } from "../lib/nearest.ts";
import { completePlatform } from "./plugin-platform.ts";
import { createRegistrar, type RegistrarOwner } from "./registrar.ts";
import type { Collected } from "./registrations.ts";

/** The part of a plugin's context that registers. */
export type Registering = Pick<PluginContext, Extract<keyof PluginContext, `register${string}`>>;

function registerEngine(into: Collected, name: string, make: (options: EngineOptions) => PluginContextEngine): void {
  const [first] = into.contextEngines.keys();
  if (first === undefined) into.contextEngines.set(name, make);
  else into.problems.push(`context engine "${name}" is refused: "${first}" is registered, and only one can be`);
}

/** Relative paths are inside `dir`. */
export function registering(who: RegistrarOwner & { readonly dir: string }, into: Collected): Registering {
  const { name } = who;
  const registerPlatform = (given: PluginPlatform) => void into.platforms.push(completePlatform(given, name));
  const inside = (path: string) => (isAbsolute(path) ? path : resolve(who.dir, path));
  return {
    ...createRegistrar(who, into),
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
    registerPlatform,
    registerProvider: (seam, provider) => {
      if (seam === "platform") return registerPlatform(provider as unknown as PluginPlatform);
      if (!SEAMS.includes(seam)) throw new Error(`there is no kind of provider "${seam}"; use ${SEAMS.join(", ")}`);
      into.providers.push({ seam, provider });
    },
  };
}
