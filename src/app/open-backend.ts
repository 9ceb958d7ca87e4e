// The backend that the configuration chooses for commands.
import type { Config } from "../config/schema/config.ts";
import { UserError } from "../core/failure.ts";
import { isSecretName } from "../security/secret-names.ts";
import type { Backend } from "../tools/terminal/backend.ts";
import type { Home } from "./home.ts";

/** The environment of child processes: everything but secrets, plus what the person lets through by name. */
function childEnvironment(home: Home, config: Config): { [name: string]: string } {
  const allowed = new Set(config.terminal.env_passthrough as readonly string[]);
  const env: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(home.env)) {
    if (value !== undefined && (allowed.has(name) || !isSecretName(name))) env[name] = value;
  }
  if (home.childHome) env.HOME = home.childHome;
  return env;
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
    env: childEnvironment(home, config),
    initFiles: terminal.shell_init_files as readonly string[],
    useBashrc: terminal.auto_source_bashrc,
  });
}
