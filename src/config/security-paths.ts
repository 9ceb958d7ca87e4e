// Settings that decide about security and the choice of the model. A mistake in one of them prevents a start.
import type { ConfigWarning } from "../core/settings.ts";

/** Each path includes everything below it. */
const SECURITY_PATHS: readonly string[] = [
  "approvals",
  "security",
  "privacy",
  "budget",
  "command_allowlist",
  "hooks_auto_accept",
  "unauthorized_dm_behavior",
  "gateway.owners",
  "gateway.members",
  "users",
  "terminal.backend",
  "workspace.roots",
  "terminal.env_type",
  "terminal.container",
  "terminal.sandbox",
  "terminal.sandbox_network",
  "terminal.sandbox_writable",
  "terminal.env_passthrough",
  "terminal.docker_env",
  "terminal.docker_forward_env",
  "terminal.docker_volumes",
  "terminal.docker_extra_args",
  "terminal.docker_run_as_host_user",
  "code_execution.mode",
  "delegation.subagent_auto_approve",
  "skills.inline_shell",
  "browser.allow_private_urls",
];

/** Settings that choose the model: a typing error must not switch to another model. */
const MODEL_PATHS: readonly string[] = [
  "model.default",
  "model.model",
  "model.provider",
  "model.base_url",
  "model.api_key",
  "model.key_env",
  "fallback_providers",
  "fallback_model",
  "providers",
  "custom_providers",
];

/** Access settings in the section of any platform. */
const ACCESS_KEYS = new Set([
  "dm_policy",
  "group_policy",
  "allow_from",
  "group_allow_from",
  "allow_admin_from",
  "group_allow_admin_from",
  "user_allowed_commands",
  "group_user_allowed_commands",
  "unauthorized_dm_behavior",
]);

/** True for a security setting and everything below it. */
function isSecurityPath(path: readonly string[]): boolean {
  const dotted = path.join(".");
  if (SECURITY_PATHS.some((known) => dotted === known || dotted.startsWith(`${known}.`))) return true;
  return path.some((key) => ACCESS_KEYS.has(key));
}

/** True for a section that holds a security setting. */
function holdsSecurity(path: readonly string[]): boolean {
  const prefix = `${path.join(".")}.`;
  return SECURITY_PATHS.some((known) => known.startsWith(prefix));
}

/** True when two values for this key could loosen security. */
export function mustBeUnique(path: readonly string[]): boolean {
  return isSecurityPath(path) || holdsSecurity(path);
}

function choosesModel(path: readonly string[]): boolean {
  const dotted = path.join(".");
  return MODEL_PATHS.some((known) => dotted === known || known.startsWith(`${dotted}.`));
}

/**
 * True when the mistake concerns security or the choice of the model: a wrong value there, or an unknown key whose
 * likely correction (`meant`) is such a setting. Keys of newer versions inside a security section are only reported.
 */
export function isBlockingMistake({ kind, path }: ConfigWarning, meant: string | undefined): boolean {
  const keys = path.split(".");
  if (kind === "wrong_value") return mustBeUnique(keys) || choosesModel(keys);
  if (kind !== "unknown_key" || meant === undefined) return false;
  const guess = meant.split(".");
  return guess.length === keys.length && (mustBeUnique(guess) || choosesModel(guess));
}
