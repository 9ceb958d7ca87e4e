// Settings of tools: terminal, files, web, browser, code, language servers, media generation.
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

const IMAGE = "nikolaik/python-nodejs:python3.11-nodejs20";
/** Backends of v0.14 that a file may name and that do not run here yet. */
export const UNAVAILABLE_BACKENDS: readonly string[] = ["modal", "daytona", "vercel_sandbox", "singularity"];
const BACKENDS = ["local", "docker", "ssh", "modal", "daytona", "vercel_sandbox", "singularity"] as const;

const guardrailCounts = (exact: number, same: number, noProgress: number) =>
  ({
    exact_failure: whole(exact, "The same call failed this often", { min: 1 }),
    same_tool_failure: whole(same, "The same tool failed this often", { min: 1 }),
    idempotent_no_progress: whole(noProgress, "The same read gave the same answer this often", { min: 1 }),
  }) as const;

const terminal = section("Where commands run", {
  backend: choice(BACKENDS, "local", "Where commands run"),
  env_type: unset(choice(BACKENDS, "local", "Same as backend, from older files")),
  modal_mode: accepted(choice(["auto", "direct", "managed"], "auto", "Modal account: your own or managed")),
  cwd: text(".", "Start folder in gateway and cron; the terminal uses the folder it was started in"),
  timeout: whole(180, "Seconds for one command", { min: 1 }),
  lifetime_seconds: whole(300, "Seconds before an idle sandbox is removed"),
  env_passthrough: list([], "Environment variables passed to sandboxes"),
  shell_init_files: list([], "Additional files to read the shell's environment from"),
  auto_source_bashrc: flag(true, "Read profile, bash_profile and bashrc for the environment"),
  docker_image: text(IMAGE, "Docker image"),
  singularity_image: accepted(text(`docker://${IMAGE}`, "Singularity image")),
  modal_image: accepted(text(IMAGE, "Modal image")),
  daytona_image: accepted(text(IMAGE, "Daytona image")),
  vercel_runtime: accepted(choice(["node24", "node22", "python3.13"], "node24", "Vercel sandbox runtime")),
  docker_forward_env: list([], "Environment variables of the host passed to the container"),
  docker_env: freeMap("Environment variables set in the container"),
  docker_volumes: list([], "Mounts: host:container[:options]"),
  docker_mount_cwd_to_workspace: flag(false, "Mount the start folder at /workspace"),
  docker_extra_args: list([], "More arguments of docker run"),
  docker_run_as_host_user: flag(false, "Run as your user id in the container"),
  container_cpu: decimal(1, "Processor cores of a sandbox", { min: 0 }),
  container_memory: whole(5120, "Memory of a sandbox in MB", { min: 1 }),
  container_disk: whole(51200, "Disk of a sandbox in MB", { min: 1 }),
  container_persistent: flag(true, "Keep the sandbox's files between sessions"),
  persistent_shell: accepted(flag(true, "Keep one shell alive on backends other than local")),
  ssh_host: unset(text("", "SSH host")),
  ssh_user: unset(text("", "SSH user")),
  ssh_port: unset(whole(22, "SSH port", { min: 1, max: 65535 })),
  ssh_key: unset(text("", "SSH key file")),
  container: choice(
    ["auto", "required", "host"],
    "auto",
    "Local commands run in a container: where possible, always (or not at all), or never because this machine is the boundary",
  ),
  sandbox: accepted(choice(["none", "bubblewrap"], "none", "Older name of container; has no effect")),
  sandbox_network: accepted(flag(false, "Older setting of the sandbox; has no effect")),
  sandbox_writable: list([], "Folders besides the workspace that local commands may change"),
  sandbox_dir: unset(text("", "Folder for the files of sandboxes")),
  sudo_password: accepted(unset(secret("Password for sudo; SUDO_PASSWORD in .env is the better place"))),
  credential_files: unset(
    anyOf<readonly Json[]>(["list"], [], "Files with credentials that are mounted into sandboxes"),
  ),
});

const browser = section("Web browser", {
  inactivity_timeout: whole(120, "Idle seconds before the browser closes"),
  command_timeout: whole(30, "Seconds for one action", { min: 1 }),
  record_sessions: flag(false, "Save videos of sessions"),
  allow_private_urls: flag(false, "Allow addresses of the local network"),
  engine: choice(["auto", "chrome", "lightpanda"], "auto", "Browser engine"),
  cloud_provider: unset(text("", "Cloud browser: browserbase, browser-use, firecrawl, or local")),
  use_gateway: flag(false, "Reach the cloud browser through the tool gateway"),
  auto_local_for_private_urls: flag(true, "Use the local browser for addresses of the local network"),
  cdp_url: text("", "Attach to a running Chrome at this address"),
  dialog_policy: choice(
    ["must_respond", "auto_dismiss", "auto_accept"],
    "must_respond",
    "What happens to page dialogs",
  ),
  dialog_timeout_s: whole(300, "Seconds before a dialog is dismissed"),
  camofox: section("Camofox", {
    managed_persistence: flag(false, "Keep one user id per profile"),
    user_id: text("", "User id managed elsewhere"),
    session_key: text("", "Session key managed elsewhere"),
    adopt_existing_tab: flag(false, "Use an open tab first"),
  }),
});

const search = section("Search and reading of web pages", {
  backend: text("", "Backend for both; empty picks the first that is set up"),
  search_backend: text("", "Backend for search"),
  extract_backend: text("", "Backend for reading pages"),
  use_gateway: accepted(flag(false, "Use the tool gateway")),
});

export const executionKeys = {
  terminal,
  workspace: section("The folder of a conversation", {
    roots: list([], "Further folders that commands and file tools may change, as absolute paths"),
  }),
  worktree: accepted(flag(false, "Always work in a separate git worktree, as with -w")),
  web: search,
  browser: accepted(browser),
  checkpoints: section("Snapshots before risky changes of files", {
    enabled: flag(false, "Take snapshots"),
    max_snapshots: whole(20, "Kept per project", { min: 1 }),
    max_total_size_mb: whole(500, "Maximum MB in total; 0 no limit"),
    max_file_size_mb: whole(10, "Larger files are left out; 0 no limit"),
    auto_prune: flag(true, "Remove old ones at start"),
    retention_days: whole(7, "Days they are kept"),
    delete_orphans: flag(true, "Remove those of projects that no longer exist"),
    min_interval_hours: whole(24, "Hours between two clean-ups"),
  }),
  file_read_max_chars: whole(100000, "Maximum characters that read_file returns", { min: 1 }),
  tool_output: section("Size of tool results", {
    max_bytes: whole(50000, "Maximum characters of terminal output", { min: 1 }),
    max_lines: whole(2000, "Maximum lines of read_file", { min: 1 }),
    max_line_length: whole(2000, "Maximum characters of one line", { min: 1 }),
    keep_days: whole(14, "Days that large results are kept as files", { min: 1 }),
    keep_mb: whole(1000, "Maximum megabytes of such files; the oldest are removed first", { min: 1 }),
  }),
  tool_loop_guardrails: section("Stopping tool loops", {
    warnings_enabled: flag(true, "Warn the model"),
    hard_stop_enabled: flag(false, "Stop the turn"),
    warn_after: section("When to warn", guardrailCounts(2, 3, 2)),
    hard_stop_after: section("When to stop", guardrailCounts(5, 8, 5)),
  }),
  code_execution: section("Running code written by the model", {
    mode: choice(["project", "strict"], "project", "Run in the project folder, or in a separate one"),
    timeout: whole(300, "Seconds for one run", { min: 1 }),
    max_tool_calls: whole(50, "Maximum tool calls of one run"),
  }),
  lsp: accepted(
    section("Language servers", {
      enabled: flag(true, "Check files after the agent changed them"),
      wait_mode: choice(["document", "full"], "document", "Wait for the file or for the whole project"),
      wait_timeout: decimal(5, "Seconds to wait"),
      install_strategy: choice(["auto", "manual", "off"], "auto", "Whether servers are installed when missing"),
      servers: named(
        "Language servers, by id",
        section("A language server", {
          disabled: flag(false, "Do not use it"),
          command: unset(anyOf<string | readonly string[]>(["text", "list"], "", "Program and arguments")),
          env: freeMap("Its environment"),
          initialization_options: freeMap("Sent when it starts"),
        }),
        { open: true },
      ),
    }),
  ),
  image_gen: accepted(
    section("Making pictures", {
      provider: unset(text("", "Backend")),
      model: unset(text("", "Model")),
      use_gateway: flag(false, "Use the tool gateway"),
    }),
  ),
  video_gen: accepted(freeMap("Video generation: provider, model and their options")),
  x_search: section("Searching X", {
    model: text("grok-4.20-reasoning", "Model that searches"),
    timeout_seconds: accepted(whole(180, "Deadline in seconds", { min: 30 })),
    retries: accepted(whole(2, "Retries")),
  }),
} as const;
