// The environments of child processes: what commands, hooks and programs of this home may know.

import type { Config } from "../core/config/config.ts";
import { knownEnvNames } from "../core/config/env-names.ts";
import type { Home } from "../core/home.ts";
import { type ChildEnvOptions, configuredEnv, containerEnv, terminalEnv } from "../security/child-env.ts";
import type { BackendEnvironments } from "../tools/terminal/open-backend.ts";

/** Names that Hermes knows and that other programs use as well. */
const SHARED_NAMES = new Set(["HERMES_HOME", "HERMES_PROFILE", "AWS_PROFILE", "AWS_REGION"]);

/** The environment of programs that the user configured: hooks, quick commands, transcription. */
export function configuredEnvironment(home: Home, config: Config): { [name: string]: string } {
  return configuredEnv(home.env, environmentOptions(home, config));
}

function environmentOptions(home: Home, config: Config): ChildEnvOptions {
  return {
    // Hermes' own settings are not for other programs: a base URL would change what they talk to.
    blocked: new Set([...knownEnvNames].filter((name) => !SHARED_NAMES.has(name))),
    passthrough: config.terminal.env_passthrough as readonly string[],
    home: home.childHome,
  };
}

/** The environment of commands that the model chooses: ordinary variables and what `terminal.env_passthrough` names. */
export function commandEnvironment(home: Home, config: Config): { [name: string]: string } {
  return terminalEnv(home.env, environmentOptions(home, config));
}

export function backendEnvironments(home: Home, config: Config): BackendEnvironments {
  return {
    commands: () => commandEnvironment(home, config),
    explicit: (variables) => containerEnv(home.env, variables),
  };
}
