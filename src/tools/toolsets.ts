// Toolsets, named groups of tools, and the default bundle of each platform.

export interface Toolset {
  readonly description: string;
  readonly tools: readonly string[];
  readonly includes?: readonly string[] | undefined;
}

const FILE_TOOLS = ["read_file", "write_file", "patch", "search_files"];
const SKILL_TOOLS = ["skills_list", "skill_view", "skill_manage"];
const BROWSER_TOOLS = [
  "browser_navigate",
  "browser_snapshot",
  "browser_click",
  "browser_type",
  "browser_scroll",
  "browser_back",
  "browser_press",
  "browser_get_images",
  "browser_vision",
  "browser_console",
  "browser_cdp",
  "browser_dialog",
];
const HOME_ASSISTANT_TOOLS = ["ha_list_entities", "ha_get_state", "ha_list_services", "ha_call_service"];
const KANBAN_TOOLS = [
  "kanban_show",
  "kanban_list",
  "kanban_complete",
  "kanban_block",
  "kanban_heartbeat",
  "kanban_comment",
  "kanban_create",
  "kanban_link",
  "kanban_unblock",
];
const FEISHU_DRIVE_TOOLS = [
  "feishu_drive_list_comments",
  "feishu_drive_list_comment_replies",
  "feishu_drive_reply_comment",
  "feishu_drive_add_comment",
];
const YUANBAO_TOOLS = [
  "yb_query_group_info",
  "yb_query_group_members",
  "yb_send_dm",
  "yb_search_sticker",
  "yb_send_sticker",
];
const SPOTIFY_TOOLS = [
  "spotify_playback",
  "spotify_devices",
  "spotify_queue",
  "spotify_search",
  "spotify_playlists",
  "spotify_albums",
  "spotify_library",
];

/** The tools that the terminal, scheduled jobs and chat platforms have in common. */
export const CORE_TOOLS: readonly string[] = [
  "web_search",
  "web_extract",
  "terminal",
  "process",
  ...FILE_TOOLS,
  "vision_analyze",
  "image_generate",
  ...SKILL_TOOLS,
  ...BROWSER_TOOLS,
  "text_to_speech",
  "todo",
  "memory",
  "session_search",
  "clarify",
  "execute_code",
  "delegate_task",
  "cronjob",
  "send_message",
  ...HOME_ASSISTANT_TOOLS,
  ...KANBAN_TOOLS,
  "computer_use",
];

const ACP_TOOLS = CORE_TOOLS.filter(
  (name) =>
    !["clarify", "cronjob", "image_generate", "send_message", "text_to_speech", "computer_use"].includes(name) &&
    !HOME_ASSISTANT_TOOLS.includes(name) &&
    !KANBAN_TOOLS.includes(name),
);

const CORE_PLATFORMS = [
  "cli",
  "cron",
  "telegram",
  "whatsapp",
  "slack",
  "signal",
  "bluebubbles",
  "homeassistant",
  "email",
  "mattermost",
  "matrix",
  "dingtalk",
  "weixin",
  "qqbot",
  "wecom",
  "wecom-callback",
  "sms",
  "webhook",
];

function platformBundles(): { [name: string]: Toolset } {
  const bundles: { [name: string]: Toolset } = {};
  for (const platform of CORE_PLATFORMS) {
    bundles[`hermes-${platform}`] = {
      description: `The tools a ${platform} conversation starts with`,
      tools: CORE_TOOLS,
    };
  }
  return bundles;
}

const MESSAGING_BUNDLES = [
  ...CORE_PLATFORMS.filter((platform) => platform !== "cli" && platform !== "cron"),
  "discord",
  "feishu",
  "yuanbao",
].map((platform) => `hermes-${platform}`);

const toolset = (description: string, ...tools: string[]): Toolset => ({ description, tools });

export const TOOLSETS: { readonly [name: string]: Toolset } = {
  web: toolset("Search the web and read pages", "web_search", "web_extract"),
  search: toolset("Search the web", "web_search"),
  x_search: toolset("Search posts on X", "x_search"),
  vision: toolset("Look at images", "vision_analyze"),
  video: toolset("Watch videos", "video_analyze"),
  image_gen: toolset("Make images", "image_generate"),
  video_gen: toolset("Make videos", "video_generate"),
  computer_use: toolset("Use the desktop", "computer_use"),
  terminal: toolset("Run commands and control processes", "terminal", "process"),
  moa: toolset("Ask several models and merge their answers", "mixture_of_agents"),
  skills: toolset("Find, read and write skills", ...SKILL_TOOLS),
  browser: toolset("Drive a browser", ...BROWSER_TOOLS, "web_search"),
  cronjob: toolset("Schedule jobs", "cronjob"),
  messaging: toolset("Send messages to chats", "send_message"),
  file: toolset("Read, write, patch and search files", ...FILE_TOOLS),
  tts: toolset("Speak", "text_to_speech"),
  todo: toolset("Keep a task list", "todo"),
  memory: toolset("Remember facts", "memory"),
  session_search: toolset("Search past conversations", "session_search"),
  clarify: toolset("Ask the user", "clarify"),
  code_execution: toolset("Run a script that calls tools", "execute_code"),
  delegation: toolset("Delegate tasks to subagents", "delegate_task"),
  homeassistant: toolset("Control Home Assistant", ...HOME_ASSISTANT_TOOLS),
  kanban: toolset("Work on boards", ...KANBAN_TOOLS),
  discord: toolset("Discord: read and search", "discord"),
  discord_admin: toolset("Discord: administer", "discord_admin"),
  yuanbao: toolset("Yuanbao groups", ...YUANBAO_TOOLS),
  feishu_doc: toolset("Feishu documents", "feishu_doc_read"),
  feishu_drive: toolset("Feishu comments", ...FEISHU_DRIVE_TOOLS),
  spotify: toolset("Control Spotify", ...SPOTIFY_TOOLS),
  debugging: { description: "Find and fix problems", tools: ["terminal", "process"], includes: ["web", "file"] },
  safe: {
    description: "Only tools without access to this machine",
    tools: [],
    includes: ["moa", "web", "vision", "image_gen"],
  },
  ...platformBundles(),
  "hermes-discord": toolset("The tools a Discord conversation starts with", ...CORE_TOOLS, "discord", "discord_admin"),
  "hermes-feishu": toolset(
    "The tools a Feishu conversation starts with",
    ...CORE_TOOLS,
    "feishu_doc_read",
    ...FEISHU_DRIVE_TOOLS,
  ),
  "hermes-yuanbao": toolset("The tools a Yuanbao conversation starts with", ...CORE_TOOLS, ...YUANBAO_TOOLS),
  "hermes-gateway": { description: "Everything any chat platform has", tools: [], includes: MESSAGING_BUNDLES },
  "hermes-acp": toolset("The tools an editor session starts with", ...ACP_TOOLS),
  "hermes-api-server": toolset(
    "The tools an API client starts with",
    ...ACP_TOOLS,
    "cronjob",
    "image_generate",
    ...HOME_ASSISTANT_TOOLS,
  ),
};

/** Old names that may occur in configurations. */
const LEGACY: { readonly [name: string]: readonly string[] } = {
  web_tools: ["web"],
  terminal_tools: ["terminal"],
  vision_tools: ["vision"],
  moa_tools: ["moa"],
  image_tools: ["image_gen"],
  skills_tools: ["skills"],
  browser_tools: ["browser"],
  cronjob_tools: ["cronjob"],
  file_tools: ["file"],
  tts_tools: ["tts"],
};

/** Toolsets that are off until the user switches them on. */
export const OFF_BY_DEFAULT: readonly string[] = [
  "moa",
  "homeassistant",
  "spotify",
  "discord",
  "discord_admin",
  "video",
  "video_gen",
  "x_search",
];

/** Toolsets that plugins and servers add at run time, by name. */
export type ExtraToolsets = ReadonlyMap<string, readonly string[]>;

export function isToolset(name: string, extra: ExtraToolsets = new Map()): boolean {
  return (
    Object.hasOwn(TOOLSETS, name) || Object.hasOwn(LEGACY, name) || extra.has(name) || name === "all" || name === "*"
  );
}

/** Tool names of the toolsets, without duplicates, in order of first occurrence. Unknown names are ignored; cycles are allowed. */
export function resolveToolsets(names: readonly string[], extra: ExtraToolsets = new Map()): string[] {
  const tools = new Set<string>();
  const seen = new Set<string>();
  const visit = (name: string): void => {
    if (seen.has(name)) return;
    seen.add(name);
    if (name === "all" || name === "*") for (const known of [...Object.keys(TOOLSETS), ...extra.keys()]) visit(known);
    for (const included of [...(LEGACY[name] ?? []), ...(TOOLSETS[name]?.includes ?? [])]) visit(included);
    for (const tool of [...(TOOLSETS[name]?.tools ?? []), ...(extra.get(name) ?? [])]) tools.add(tool);
  };
  for (const name of names) visit(name);
  return [...tools];
}
