// Settings of the agent itself: turns, context, memory, skills, subagents, goals.
import {
  accepted,
  anyOf,
  choice,
  decimal,
  flag,
  freeMap,
  type Json,
  list,
  named,
  secret,
  section,
  text,
  unset,
  whole,
} from "./fields.ts";

const FRACTION = { min: 0, max: 1, exclusive: true };
const EFFORTS = ["", "none", "minimal", "low", "medium", "high", "xhigh"] as const;

const persona = anyOf<string | { readonly [key: string]: Json }>(
  ["text", "map"],
  "",
  "A prompt, or a map with description, system_prompt, tone and style",
);

export const agentKeys = {
  toolsets: list(["hermes-cli"], "Toolsets of the terminal; platform_toolsets.cli is the newer way and wins"),
  platform_toolsets: named("Toolsets by platform; the word no_mcp leaves MCP servers out", list([], "Toolsets")),
  known_plugin_toolsets: accepted(
    anyOf<Json>(["list", "map"], [], "Plugin toolsets already offered; kept by the program"),
  ),
  agent: section("Turns of the agent", {
    max_turns: whole(90, "Maximum tool rounds in one turn", { min: 1 }),
    gateway_timeout: whole(1800, "Seconds without activity before the gateway ends a turn; 0 for never"),
    gateway_timeout_warning: whole(900, "Seconds without activity before one warning; 0 for never"),
    gateway_notify_interval: whole(180, "Seconds between notices that a turn is still running; 0 for none"),
    gateway_auto_continue_freshness: accepted(
      whole(3600, "Oldest interrupted turn to continue, in seconds; 0 for any age"),
    ),
    restart_drain_timeout: whole(180, "Seconds that running turns get when the gateway stops; 0 none"),
    clarify_timeout: whole(600, "Seconds the gateway waits for an answer to a question"),
    api_max_retries: whole(3, "Retries of one model call"),
    service_tier: choice(["", "fast", "priority", "on", "normal", "off"], "", "Priority processing where offered"),
    tool_use_enforcement: anyOf<string | boolean | readonly string[]>(
      ["text", "true/false", "list"],
      "auto",
      "Remind the model to use tools: auto, true, false, or parts of model names",
    ),
    image_input_mode: choice(["auto", "native", "text"], "auto", "Send images as they are or described as text"),
    disabled_toolsets: list([], "Toolsets removed on every platform"),
    system_prompt: text("", "Added to the system prompt at every model call; /personality writes it"),
    reasoning_effort: choice(EFFORTS, "", "How long the model thinks"),
    verbose: accepted(flag(false, "Log more")),
    personalities: named("Your own personas for /personality", persona),
    prefill_messages_file: unset(text("", "Same as the top-level prefill_messages_file, which wins")),
  }),
  personalities: named("Your own personas, older key", persona),
  prefill_messages_file: text(
    "",
    "JSON file with example messages put before each conversation; never stored. Relative paths start at the home",
  ),
  clarify: section("Questions of the agent in the terminal", {
    timeout: whole(120, "Seconds to wait for an answer"),
  }),
  compression: section("Compacting long conversations", {
    enabled: flag(true, "Compact when the context fills up"),
    threshold: decimal(0.5, "Share of the context window at which compaction starts", FRACTION),
    target_ratio: decimal(0.2, "Share of the threshold that the recent tail may keep", FRACTION),
    protect_last_n: whole(20, "Recent messages that are never compacted"),
    protect_first_n: whole(3, "First messages that are never compacted"),
    hygiene_hard_message_limit: whole(400, "Messages at which the gateway compacts in any case", { min: 1 }),
  }),
  context: section("Context engine", {
    engine: text("compressor", "compressor, lossless, or the name of a context engine plugin"),
  }),
  memory: section("Long-term memory", {
    memory_enabled: flag(true, "Keep notes in MEMORY.md"),
    user_profile_enabled: flag(true, "Keep facts about you in USER.md"),
    memory_char_limit: whole(2200, "Maximum characters of MEMORY.md"),
    user_char_limit: whole(1375, "Maximum characters of USER.md"),
    provider: text("", "External memory provider; empty for the built-in notes only"),
    nudge_interval: accepted(whole(10, "User turns between reminders to save notes; 0 none")),
    flush_min_turns: accepted(unset(whole(0, "Accepted from older files; has no effect"))),
  }),
  skills: section("Skills", {
    external_dirs: list([], "More folders with skills"),
    template_vars: flag(true, "Fill in the placeholders HERMES_SKILL_DIR and HERMES_SESSION_ID in skills"),
    inline_shell: flag(false, "Run !`command` snippets when a skill is loaded"),
    inline_shell_timeout: whole(10, "Seconds for one snippet", { min: 1 }),
    guard_agent_created: flag(false, "Quarantine doubtful changes of skills by the agent too, not only dangerous ones"),
    config: freeMap("Settings of skills, by skill"),
    disabled: list([], "Skills switched off"),
    platform_disabled: named("Skills switched off by platform", list([], "Skills")),
    creation_nudge_interval: accepted(whole(10, "Tool rounds between reminders to write a skill; 0 none")),
  }),
  curator: accepted(
    section("Reviewing skills", {
      enabled: flag(true, "Review skills in the background"),
      interval_hours: whole(168, "Hours between two reviews", { min: 1 }),
      min_idle_hours: decimal(2, "Idle hours before a review may start"),
      stale_after_days: whole(30, "Days without use before a skill counts as stale"),
      archive_after_days: whole(90, "Days without use before a skill is archived"),
      backup: section("Copies made before a review", {
        enabled: flag(true, "Make copies"),
        keep: whole(5, "How many are kept", { min: 1 }),
      }),
    }),
  ),
  delegation: section("Subagents; empty values are taken from the parent", {
    model: text("", "Model id"),
    provider: text("", "Provider id"),
    base_url: accepted(text("", "Base URL")),
    api_key: accepted(secret("Key for base_url")),
    api_mode: accepted(choice(["", "chat_completions", "codex_responses", "anthropic_messages"], "", "Wire dialect")),
    inherit_mcp_toolsets: accepted(flag(true, "Keep the parent's MCP servers when toolsets are narrowed")),
    max_iterations: whole(50, "Maximum tool rounds of a subagent", { min: 1 }),
    child_timeout_seconds: whole(600, "Deadline of a subagent in seconds", { min: 30 }),
    reasoning_effort: accepted(choice(EFFORTS, "", "How long subagents think")),
    max_concurrent_children: whole(3, "Subagents at the same time", { min: 1 }),
    max_spawn_depth: whole(1, "How deep subagents may start subagents", { min: 1, max: 3 }),
    orchestrator_enabled: flag(true, "Allow subagents that only coordinate others"),
    subagent_auto_approve: accepted(flag(false, "Approve dangerous commands of subagents instead of denying them")),
  }),
  goals: section("Goals that span turns", {
    max_turns: whole(20, "Maximum number of turns that the agent continues by itself", { min: 1 }),
  }),
  plugins: section("Plugins", {
    enabled: list([], "Plugins that are loaded"),
    disabled: list([], "Plugins that are never loaded"),
    hook_timeout: whole(5, "Seconds for one hook of a plugin", { min: 1, max: 300 }),
    entries: freeMap("Settings of plugins, by plugin"),
    "hermes-memory-store": freeMap("Settings of the memory provider holographic, where v0.14 keeps them"),
  }),
  tool_search: section("Tools that stay out of the prompt until the model looks for them", {
    enabled: flag(true, "Use it"),
    schema_budget: whole(
      4000,
      "Tokens of schemas of MCP tools that stay in the prompt; with more, all of them are searched for",
    ),
  }),
  mcp_servers: named("MCP servers, by name", mcpServer(), { open: true }),
} as const;

function mcpServer() {
  return section("An MCP server", {
    command: unset(text("", "Program to start")),
    args: unset(list([], "Its arguments")),
    env: freeMap("Its environment"),
    cwd: unset(text("", "Folder it starts in")),
    contained: flag(false, "Run it in the container that commands run in"),
    url: unset(text("", "Address of a remote server")),
    transport: unset(choice(["stdio", "http", "sse", "streamable-http"], "stdio", "Transport of a remote server")),
    headers: freeMap("Headers sent to a remote server"),
    ssl_verify: anyOf<boolean | string>(
      ["true/false", "text"],
      true,
      "Check certificates; a path names a file with authorities",
    ),
    auth: unset(choice(["oauth"], "oauth", "How to sign in to a remote server")),
    oauth: section("Sign-in", {
      client_id: unset(text("", "A client that is registered already")),
      client_secret: unset(secret("Its secret")),
      scope: unset(text("", "Scope to ask for")),
      redirect_port: whole(0, "Port for the browser's answer; 0 is any free one"),
      client_name: text("Hermes Agent", "Name shown by the sign-in page"),
      timeout: whole(600, "Seconds to wait for the browser"),
    }),
    timeout: unset(decimal(0, "Seconds for one call")),
    connect_timeout: unset(decimal(0, "Seconds for connecting")),
    supports_parallel_tool_calls: flag(false, "Several calls at once"),
    tools: section("What of it is used", {
      include: list([], "Only these tools"),
      exclude: list([], "All tools but these"),
      resources: flag(true, "Tools that read its resources"),
      prompts: flag(true, "Its prompts as slash commands"),
    }),
    sampling: section("Calls of a model by the server", {
      enabled: flag(true, "Allow them"),
      max_tokens_cap: whole(4096, "Output tokens of one call"),
      timeout: whole(30, "Seconds for one call"),
      max_rpm: whole(10, "Calls per minute"),
    }),
    enabled: flag(true, "Use it"),
  });
}
