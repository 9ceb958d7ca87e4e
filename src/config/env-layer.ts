// Environment variables that set configuration keys.

import { findNode, schema } from "../core/config/config.ts";
import type { ConfigWarning } from "../core/settings.ts";
import { isRecord } from "../lib/json/is-record.ts";
import { getAt } from "../lib/json/tree-path.ts";
import { fieldProblem } from "./check.ts";
import { coerceForField } from "./coerce.ts";
import type { Env } from "./expand.ts";

interface Binding {
  readonly name: string;
  readonly path: string;
  /** `environment`: overrides config.yaml. `file`: used only when config.yaml does not set the key. */
  readonly wins: "environment" | "file";
}

const overrides: readonly (readonly [string, string])[] = [
  ["HERMES_INFERENCE_MODEL", "model.default"],
  ["HERMES_EPHEMERAL_SYSTEM_PROMPT", "agent.system_prompt"],
  ["HERMES_PREFILL_MESSAGES_FILE", "prefill_messages_file"],
  ["HERMES_LANGUAGE", "display.language"],
  ["HERMES_REDACT_SECRETS", "security.redact_secrets"],
  ["HERMES_ALLOW_PRIVATE_URLS", "security.allow_private_urls"],
  ["HERMES_FILE_MUTATION_VERIFIER", "display.file_mutation_verifier"],
  ["HERMES_CRON_MAX_PARALLEL", "cron.max_parallel_jobs"],
  ["HERMES_CRON_SCRIPT_TIMEOUT", "cron.script_timeout_seconds"],
];

const gaps: readonly (readonly [string, string])[] = [
  ["HERMES_INFERENCE_PROVIDER", "model.provider"],
  ["HERMES_MAX_ITERATIONS", "agent.max_turns"],
  ["HERMES_TIMEZONE", "timezone"],
  ["HERMES_AGENT_TIMEOUT", "agent.gateway_timeout"],
  ["HERMES_AGENT_TIMEOUT_WARNING", "agent.gateway_timeout_warning"],
  ["HERMES_AGENT_NOTIFY_INTERVAL", "agent.gateway_notify_interval"],
  ["HERMES_RESTART_DRAIN_TIMEOUT", "agent.restart_drain_timeout"],
  ["HERMES_AUTO_CONTINUE_FRESHNESS", "agent.gateway_auto_continue_freshness"],
  ["HERMES_GATEWAY_BUSY_INPUT_MODE", "display.busy_input_mode"],
  ["HERMES_GATEWAY_BUSY_ACK_ENABLED", "display.busy_ack_enabled"],
  ["HERMES_BACKGROUND_NOTIFICATIONS", "display.background_process_notifications"],
  ["SESSION_IDLE_MINUTES", "session_reset.idle_minutes"],
  ["SESSION_RESET_HOUR", "session_reset.at_hour"],
  ["BROWSER_CDP_URL", "browser.cdp_url"],
  ["TERMINAL_CWD", "terminal.cwd"],
  ["TERMINAL_DOCKER_FORWARD_ENV", "terminal.docker_forward_env"],
  ["TERMINAL_DOCKER_VOLUMES", "terminal.docker_volumes"],
  ["TERMINAL_SSH_HOST", "terminal.ssh_host"],
  ["TERMINAL_SSH_USER", "terminal.ssh_user"],
  ["TERMINAL_SSH_PORT", "terminal.ssh_port"],
  ["TERMINAL_SSH_KEY", "terminal.ssh_key"],
];

/** terminal.* keys that are also written to `.env`, where Hermes Agent v0.14 reads them. */
const mirrored: readonly (readonly [string, string])[] = [
  ["TERMINAL_ENV", "terminal.backend"],
  ...[
    "modal_mode",
    "docker_image",
    "singularity_image",
    "modal_image",
    "daytona_image",
    "vercel_runtime",
    "docker_mount_cwd_to_workspace",
    "docker_run_as_host_user",
    "timeout",
    "lifetime_seconds",
    "sandbox_dir",
    "persistent_shell",
    "container",
    "container_cpu",
    "container_memory",
    "container_disk",
    "container_persistent",
  ].map((key) => [`TERMINAL_${key.toUpperCase()}`, `terminal.${key}`] as const),
];

const auxiliary = Object.keys(schema.keys.auxiliary.keys).flatMap((task) =>
  ["provider", "model", "base_url", "api_key"].map(
    (key) => [`AUXILIARY_${task.toUpperCase()}_${key.toUpperCase()}`, `auxiliary.${task}.${key}`] as const,
  ),
);

export const envBindings: readonly Binding[] = [
  ...[...overrides, ...auxiliary].map(([name, path]) => ({ name, path, wins: "environment" }) as const),
  ...[...gaps, ...mirrored].map(([name, path]) => ({ name, path, wins: "file" }) as const),
];

/** The variable of `.env` that repeats this key; undefined for most. */
export function mirrorName(path: string): string | undefined {
  return mirrored.find(([, key]) => key === path)?.[0];
}

export interface EnvLayer {
  readonly values: readonly { readonly path: readonly string[]; readonly value: unknown; readonly name: string }[];
  readonly warnings: readonly ConfigWarning[];
}

function flagWord(text: string): string {
  return text === "1" ? "true" : text === "0" ? "false" : text;
}

/** True when the file has a value, such as a text, where the section of the key should be. */
function hasValueInstead(file: unknown, keys: readonly string[]): boolean {
  return keys.some((_, depth) => {
    const section = depth === 0 ? undefined : getAt(file, keys.slice(0, depth));
    return section !== undefined && section !== null && !isRecord(section);
  });
}

/** The keys that the environment sets, given the contents of the file. */
export function envLayer(env: Env, file: unknown): EnvLayer {
  const values: { path: readonly string[]; value: unknown; name: string }[] = [];
  const warnings: ConfigWarning[] = [];
  for (const { name, path, wins } of envBindings) {
    const text = env[name];
    const keys = path.split(".");
    if (text === undefined || text === "") continue;
    // An empty text counts as unset: v0.14 writes its defaults into the file.
    const said = isRecord(file) ? (getAt(file, keys) ?? "") : "";
    if (wins === "file" && said !== "") continue;
    // Setting a key below a section that is not a map would hide that mistake.
    if (hasValueInstead(file, keys)) continue;
    const { node } = findNode(keys);
    if (node?.kind !== "field") continue;
    const value = coerceForField(node, node.types.includes("true/false") ? flagWord(text) : text);
    const problem = fieldProblem(node, value, name);
    if (problem === undefined) values.push({ path: keys, value, name });
    else warnings.push({ kind: "wrong_value", path, message: `${name} (for ${path}): ${problem}; ignored` });
  }
  return { values, warnings };
}
