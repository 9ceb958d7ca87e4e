// The `register…` methods of a plugin's context: they check and collect what a plugin registers.
import { isAbsolute, resolve } from "node:path";
import { HOOK_NAMES } from "../core/hook.ts";
import {
  type EngineOptions,
  type PluginContext,
  type PluginContextEngine,
  type PluginPlatform,
  PROVIDER_KINDS,
} from "../core/plugin.ts";
import { nearest } from "../lib/nearest.ts";
import { completePlatform } from "./plugin-platform.ts";
import { createRegistrar, type RegistrarOwner } from "./registrar.ts";
import type { Collected } from "./registrations.ts";

/** The `register…` methods of a plugin's context. */
export type RegistrationApi = Pick<PluginContext, Extract<keyof PluginContext, `register${string}`>>;

function registerEngine(into: Collected, name: string, make: (options: EngineOptions) => PluginContextEngine): void {
  const [first] = into.contextEngines.keys();
  if (first === undefined) into.contextEngines.set(name, make);
  else
    into.problems.push(
      `context engine "${name}" was not registered: a plugin can have one, and "${first}" is registered`,
    );
}

export interface RegistrationOwner extends RegistrarOwner {
  /** Relative paths start here. */
  readonly dir: string;
  /** Platform names that are not available. */
  readonly takenPlatforms: readonly string[];
}

export function registrationApi(owner: RegistrationOwner, into: Collected): RegistrationApi {
  const { name, takenPlatforms } = owner;
  const registerPlatform = (platform: PluginPlatform) =>
    void into.platforms.push(completePlatform(platform, name, { taken: takenPlatforms }));
  const absolute = (path: string) => (isAbsolute(path) ? path : resolve(owner.dir, path));
  return {
    ...createRegistrar(owner, into),
    registerHook: (hook, callback, options) => {
      if (typeof callback !== "function") throw new Error(`registerHook("${hook}") needs a function`);
      if (!HOOK_NAMES.includes(hook)) {
        const guess = nearest(hook, HOOK_NAMES);
        into.problems.push(`there is no hook "${hook}"${guess ? `; did you mean "${guess}"?` : ""}`);
        return;
      }
      into.hooks.push({ name: hook, callback, timeoutMs: options?.timeoutMs || undefined });
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
      if (!/^[A-Za-z0-9_-]+$/.test(skill)) throw new Error(`"${skill}" is not a valid skill name`);
      into.skills.push({ name: `${name}:${skill}`, path: absolute(path), description });
    },
    registerSkillRoot: (path) => void into.skillRoots.push(absolute(path)),
    registerPlatform,
    registerProvider: (kind, provider) => {
      if (kind === "platform") return registerPlatform(provider as unknown as PluginPlatform);
      if (!PROVIDER_KINDS.includes(kind))
        throw new Error(`there is no kind of provider "${kind}"; use ${PROVIDER_KINDS.join(", ")}`);
      into.providers.push({ kind, provider });
    },
  };
}
