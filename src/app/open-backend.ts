// The backend that the configuration chooses for commands.

import { isSecretEnvName, knownEnvNames } from "../config/env-names.ts";
import type { Config } from "../config/schema/config.ts";
import { UserError } from "../core/failure.ts";
import { terminalEnv } from "../security/child-env.ts";
import type { Backend } from "../tools/terminal/backend.ts";
import type { Home } from "./home.ts";

/** The environment of commands: everything but secrets, plus what the person lets through by name. */
function commandEnvironment(home: Home, config: Config): { [name: string]: string } {
  return terminalEnv(home.env, {
    blocked: new Set([...knownEnvNames].filter(isSecretEnvName)),
    passthrough: config.terminal.env_passthrough as readonly string[],
    home: home.childHome,
  });
}

export async function openBackend(home: Home, config: Config, cwd: string): Promise<Backend> {
  const { terminal } = config;
  if (terminal.backend !== "local") {
    throw new UserError(`terminal.backend "${terminal.backend}" is not available yet`, {
      cure: "Use local: hermes config set terminal.backend local",
    });
  }
  const { LocalBackend } = await import("../tools/terminal/local.ts");
  return new LocalBackend({
    cwd,
    env: commandEnvironment(home, config),
    initFiles: terminal.shell_init_files as readonly string[],
    useBashrc: terminal.auto_source_bashrc,
  });
}
