// Settings of approvals, security, privacy, storage, jobs and maintenance.
import {
  accepted,
  anyOf,
  choice,
  flag,
  freeMap,
  type Json,
  list,
  named,
  orEmpty,
  section,
  text,
  whole,
} from "./fields.ts";

export const safetyKeys = {
  approvals: section("Asking before dangerous commands", {
    mode: choice(["manual", "smart", "off"], "manual", "Ask you, let a model judge first, or never ask"),
    timeout: whole(60, "Seconds to wait for an answer; then the command is denied", { min: 1 }),
    gateway_timeout: whole(300, "The same in chats", { min: 1 }),
    cron_mode: choice(["deny", "approve"], "deny", "What happens in scheduled jobs"),
    policies: anyOf<readonly Json[]>(
      ["list"],
      [],
      "Rules with action (allow, ask, deny) and tool, toolset, class, path, host, platform or command; the strictest wins",
    ),
    program: text(
      "",
      "Shell command that answers approvals instead of you: JSON on standard input, once, session or deny on standard output",
    ),
    program_timeout: whole(30, "Seconds to wait for it; no answer means no", { min: 1 }),
    mcp_reload_confirm: flag(true, "Ask in the terminal before /reload-mcp"),
    destructive_slash_confirm: flag(true, "Ask in the terminal before /new, /clear and /undo"),
  }),
  command_allowlist: list([], "Command patterns that are always approved"),
  quick_commands: named(
    "Your own slash commands, by name",
    section("A quick command", {
      type: choice(["exec", "alias"], "exec", "Run a shell command, or an alias of another slash command"),
      command: text("", "Shell command of exec"),
      target: text("", "Slash command of alias"),
    }),
    { open: true },
  ),
  hooks: named(
    "Programs run at events, by event",
    anyOf<readonly Json[]>(["list"], [], "List of maps with matcher, command and timeout"),
  ),
  hooks_auto_accept: flag(false, "Run new hooks without asking first"),
  security: section("Security", {
    allow_private_urls: flag(false, "Let tools reach addresses of the local network"),
    redact_secrets: flag(true, "Hide secrets in logs and tool results"),
    tirith_enabled: accepted(flag(true, "Scan commands with tirith when it is installed")),
    tirith_path: accepted(text("tirith", "Path of tirith")),
    tirith_timeout: accepted(whole(5, "Seconds for one scan", { min: 1 })),
    tirith_fail_open: accepted(flag(true, "Continue when the scan itself fails")),
    trusted_remotes: list(
      [],
      "Hosts or owners of repositories whose files count as your own: github.com/acme. Projects you have pushed to count anyway",
    ),
    website_blocklist: section("Websites that tools may not open", {
      enabled: flag(false, "Use the list"),
      domains: list([], "Domains"),
      shared_files: list([], "Files with more domains"),
    }),
    acked_advisories: accepted(list([], "Security notices you have read; kept by the program")),
    allow_lazy_installs: accepted(flag(true, "Install optional parts when they are first needed")),
  }),
  privacy: accepted(
    section("Privacy", { redact_pii: flag(false, "Hash ids and hide phone numbers sent to models from chats") }),
  ),
  cron: section("Scheduled jobs", {
    wrap_response: flag(true, "Add the job's name to its results"),
    max_parallel_jobs: orEmpty(whole(0, "Jobs at the same time; empty or 0 for no limit")),
    script_timeout_seconds: whole(120, "Seconds for the script run before a job", { min: 1 }),
    keep_documents: whole(500, "Documents kept of each job in cron/output, the newest; 0 for all"),
  }),
  kanban: accepted(
    section("Task boards", {
      dispatch_in_gateway: flag(true, "Let the gateway assign tasks"),
      dispatch_interval_seconds: whole(60, "Seconds between two rounds", { min: 1 }),
      failure_limit: whole(2, "Failures before a task is suspended", { min: 1 }),
    }),
  ),
  sessions: section("Stored sessions", {
    index: choice(
      ["inline", "compact"],
      "inline",
      "Layout of the full-text index: inline as in Hermes v0.14, or compact",
    ),
    auto_prune: flag(false, "Delete old sessions that have ended"),
    retention_days: whole(90, "Days that ended sessions are kept", { min: 1 }),
    vacuum_after_prune: flag(true, "Shrink the file to free disk space"),
    min_interval_hours: whole(24, "Hours between two clean-ups"),
  }),
  logging: section("Log files", {
    level: choice(
      ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"],
      "INFO",
      "Minimum level of entries that are logged",
    ),
    max_size_mb: whole(5, "Size at which a new file is started", { min: 1 }),
    backup_count: whole(3, "Older files kept"),
  }),
  network: accepted(section("Network", { force_ipv4: flag(false, "Use IPv4 only") })),
  updates: section("Updates", {
    pre_update_backup: flag(false, "Copy the home before an update"),
    backup_keep: whole(5, "Copies kept", { min: 1 }),
  }),
  _config_version: whole(23, "Version of this file's layout; raised by `hermes config migrate`"),
} as const;

/** Keys of older files, converted by config/legacy.ts; listed so that they are not reported as unknown. */
export const legacyKeys = {
  max_turns: anyOf<number | undefined>(["whole number"], undefined, "Older name of agent.max_turns"),
  provider: anyOf<string | undefined>(["text"], undefined, "Older name of model.provider"),
  base_url: anyOf<string | undefined>(["text"], undefined, "Older name of model.base_url"),
  context_length: anyOf<number | undefined>(["whole number"], undefined, "Older name of model.context_length"),
  smart_model_routing: accepted(freeMap("Accepted from older files; has no effect")),
} as const;
