// Weighs the findings of a skill together: one suspicious passage is a question, a proven one or several are a danger.
import type { Finding } from "./finding.ts";

/** Rules that describe harm without a harmless use: one finding is enough. */
const PROOF: ReadonlySet<string> = new Set([
  "reverse_shell",
  "socket_to_shell",
  "script_socket_shell",
  "decode_to_interpreter",
  "decode_and_eval",
  "runs_decoded_text",
  "download_and_eval",
  "download_from_snippet",
  "download_to_interpreter",
  "hidden_powershell",
  "hidden_tag_characters",
  "reordered_text",
  "reversed_command",
  "image_exfiltration",
  "dns_exfiltration",
  "pipes_private_output",
  "program_deletes_home",
  "format_or_wipe_disk",
  "destroys_user_files",
  "asks_password_and_sends",
  "asks_wallet_and_sends",
  "protected_archive_run",
  "remote_control",
  "tunnel_reported",
  "shadows_command",
  "persistent_network_code",
  "sends_credentials",
  "sudoers",
  "setuid",
  "container_escape",
  "unsafe_index",
  "deletes_widely",
  "delete_root_or_home",
  "overwrite_system_file",
  "disables_machine_protection",
  "runs_shell_download",
  "conditional_trap",
  "conceals_from_user_translated",
  "deceives_user",
  "follows_remote_text",
  "follows_fetched_text",
  "runs_command_from_page",
  "url_contains_data",
  "imitated_tag",
  "leak_prompt",
  "miner",
  "escaping_link",
  "escaping_path",
  "suid_bit",
  "binary_program",
  "allows_remote_login",
]);

/** Findings this many lines apart are about the same passage. */
const NEAR = 25;

function isProof(finding: Finding): boolean {
  return PROOF.has(finding.pattern_id) || finding.description.endsWith("(in encoded text)");
}

/** Two findings confirm each other when they are different facts about one passage. */
function confirms(one: Finding, other: Finding): boolean {
  if (one === other || one.file !== other.file || Math.abs(one.line - other.line) > NEAR) return false;
  if (one.pattern_id === other.pattern_id || other.category === "structure") return false;
  return one.line !== other.line || one.category !== other.category;
}

/** Lowers critical findings that nothing confirms to `high`. */
export function weighFindings(findings: readonly Finding[]): Finding[] {
  const serious = findings.filter(({ severity }) => severity === "critical" || severity === "high");
  return findings.map((finding) => {
    if (finding.severity !== "critical" || isProof(finding)) return finding;
    return serious.some((other) => confirms(finding, other))
      ? finding
      : { ...finding, severity: "high", unconfirmed: true };
  });
}
