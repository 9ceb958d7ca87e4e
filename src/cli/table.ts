// Every command by name; its code is imported when it is called.
import type { CommandTable } from "./command.ts";

export const commands: CommandTable = {
  chat: {
    summary: "Talk to Hermes (the default command)",
    load: async () => (await import("./chat.ts")).chatCommand,
  },
  setup: {
    summary: "Choose and test a model, then set up tools, chats and the terminal",
    load: async () => (await import("./setup/setup.ts")).setupCommand,
  },
  config: {
    summary: "Show, change and check the configuration",
    load: async () => (await import("./config.ts")).configCommand,
  },
  sessions: {
    summary: "List, search, export and prune past conversations",
    load: async () => (await import("./sessions/sessions.ts")).sessionsCommand,
  },
  auth: {
    summary: "Add, list and remove the keys of model providers",
    load: async () => (await import("./auth.ts")).authCommand,
  },
  model: {
    summary: "List, choose and test models",
    load: async () => (await import("./model.ts")).modelCommand,
  },
  fallback: {
    summary: "Models to use when the main one fails",
    load: async () => (await import("./fallback.ts")).fallbackCommand,
  },
  usage: {
    summary: "Tokens and cost of model calls",
    load: async () => (await import("./usage.ts")).usageCommand,
  },
  security: {
    summary: "Check settings, permissions and file modes for risks",
    load: async () => (await import("./security.ts")).securityCommand,
  },
  review: {
    summary: "Decide about lasting changes that untrusted text may have caused",
    load: async () => (await import("./review.ts")).reviewCommand,
  },
  permissions: {
    summary: "What commands may use beyond their container, by project",
    load: async () => (await import("./permissions.ts")).permissionsCommand,
  },
  tools: {
    summary: "List tools, and switch toolsets on and off",
    load: async () => (await import("./tools.ts")).toolsCommand,
  },
  checkpoints: {
    summary: "Snapshots of projects before the agent changed them",
    load: async () => (await import("./checkpoints.ts")).checkpointsCommand,
  },
  api: {
    summary: "Serve the agent to OpenAI clients",
    load: async () => (await import("./api.ts")).apiCommand,
  },
  mcp: {
    summary: "Servers that give the model further tools",
    load: async () => (await import("./mcp.ts")).mcpCommand,
  },
  plugins: {
    summary: "List, install and switch plugins",
    load: async () => (await import("./plugins.ts")).pluginsCommand,
  },
  skills: {
    summary: "Find, install, check and switch skills",
    load: async () => (await import("./skills/skills.ts")).skillsCommand,
  },
  hooks: {
    summary: "Programs that run at events: list, test, approve, check",
    load: async () => (await import("./hooks.ts")).hooksCommand,
  },
  memory: {
    summary: "The built-in notes and the external memory provider",
    load: async () => (await import("./memory.ts")).memoryCommand,
  },
  webhook: {
    summary: "Routes through which other programs call the agent",
    load: async () => (await import("./webhook.ts")).webhookCommand,
  },
  cron: {
    summary: "Schedule jobs and see their results",
    load: async () => (await import("./cron.ts")).cronCommand,
  },
  gateway: {
    summary: "Serve the agent in chats: run, start, stop, status, install",
    load: async () => (await import("./gateway.ts")).gatewayCommand,
  },
  pairing: {
    summary: "Approve users who wrote to the gateway",
    load: async () => (await import("./pairing.ts")).pairingCommand,
  },
  doctor: {
    summary: "Check everything, name what is wrong and how to correct it",
    load: async () => (await import("./care/doctor.ts")).doctorCommand,
  },
  profile: {
    summary: "Separate homes with their own settings, keys, sessions and memory",
    load: async () => (await import("./care/profile.ts")).profileCommand,
  },
  backup: {
    summary: "Copy the home into one verified file, also while Hermes runs",
    load: async () => (await import("./care/backup.ts")).backupCommand,
  },
  import: {
    summary: "Restore a backup; it is verified first, and nothing is half restored",
    load: async () => (await import("./care/backup.ts")).importCommand,
  },
  logs: {
    summary: "Show the log files, and follow them",
    load: async () => (await import("./care/logs.ts")).logsCommand,
  },
  status: {
    summary: "Show model, keys, sessions, gateway, chats and jobs at a glance",
    load: async () => (await import("./care/status.ts")).statusCommand,
  },
  insights: {
    summary: "Sessions, messages, models and cost of the last days",
    load: async () => (await import("./care/insights.ts")).insightsCommand,
  },
  dump: {
    summary: "Print a short report for support, without secrets",
    load: async () => (await import("./care/report.ts")).dumpCommand,
  },
  debug: {
    summary: "Write a report with logs for support, without secrets",
    load: async () => (await import("./care/report.ts")).debugCommand,
  },
  update: {
    summary: "Install the newest version; it is tried before it replaces this one",
    load: async () => (await import("./care/update.ts")).updateCommand,
  },
  uninstall: {
    summary: "Remove the service and commands; with --full also all data",
    load: async () => (await import("./care/update.ts")).uninstallCommand,
  },
  version: {
    summary: "Print the version, and where the program and its home are",
    load: async () => (await import("./care/version.ts")).versionCommand,
  },
  completion: {
    summary: "Print the completion script of a shell",
    load: async () => (await import("./care/completion.ts")).completionCommand,
  },
  help: {
    summary: "Print the help of the program or of a command",
    load: async () => (await import("./care/help.ts")).helpCommand,
  },
};
