// The environments of child processes: what commands, hooks and programs of this home may know.

import type { Config } from "../core/config/config.ts";
import { isSecretEnvName, knownEnvNames } from "../core/config/env-names.ts";
import type { Home } from "../core/home.ts";
import { containerEnv, terminalEnv } from "../security/child-env.ts";
import type { BackendEnvironments } from "../tools/terminal/open-backend.ts";

/** The environment of commands: everything but secrets, plus the variables that `terminal.env_passthrough` names. */
export function commandEnvironment(home: Home, config: Config): { [name: string]: string } {
  return terminalEnv(home.env, {
    blocked: new Set([...knownEnvNames].filter(isSecretEnvName)),
    passthrough: config.terminal.env_passthrough as readonly string[],
    home: home.childHome,
  });
}

export function backendEnvironments(home: Home, config: Config): BackendEnvironments {
  return {
    commands: () => commandEnvironment(home, config),
    explicit: (variables) => containerEnv(home.env, variables),
  };
}
