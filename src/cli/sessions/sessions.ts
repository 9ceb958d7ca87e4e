// `hermes sessions`: the table of its subcommands.
import { type CliCommand, type CliOption, JSON_OPTION } from "../command.ts";
import {
  deleteSession,
  exportSessions,
  importSessions,
  optimizeSessions,
  pruneSessions,
  renameSession,
  repairSessions,
} from "./sessions-change.ts";
import { browseSessions, listSessions, searchSessions, sessionStats, showSession } from "./sessions-read.ts";

const source: CliOption = { type: "string", value: "NAME", help: "Only sessions from here (cli, telegram, …)" };
const limit = (what: string): CliOption => ({ type: "string", value: "N", help: what });
const yes: CliOption = { type: "boolean", short: "y", help: "Do not ask" };

export const sessionsCommand: CliCommand = {
  name: "sessions",
  summary: "List, search, export and prune past conversations",
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      summary: "List the latest sessions",
      maxPositionals: 0,
      options: { source, limit: limit("How many (20)"), ...JSON_OPTION },
      run: listSessions,
    },
    {
      name: "browse",
      summary: "Pick a session and resume it",
      maxPositionals: 0,
      options: { source, limit: limit("How many (500)") },
      run: browseSessions,
    },
    {
      name: "search",
      args: "WORDS…",
      summary: "Find messages",
      options: {
        source: { ...source, help: "Only from these sources, comma separated" },
        role: { type: "string", value: "ROLES", help: "Only these roles, comma separated (user, assistant, tool)" },
        limit: limit("How many (20)"),
        offset: limit("Skip this many"),
        ...JSON_OPTION,
      },
      examples: [
        "hermes sessions search docker-compose",
        "hermes sessions search '\"exact phrase\"'",
        "hermes sessions search 'python NOT java'",
        "hermes sessions search 'deploy*'",
      ],
      run: searchSessions,
    },
    {
      name: "show",
      args: "SESSION",
      summary: "Print a conversation",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: showSession,
    },
    {
      name: "export",
      args: "FILE|-",
      summary: "Write sessions as JSON Lines",
      maxPositionals: 1,
      options: { source, "session-id": { type: "string", value: "ID", help: "Only this session" }, ...JSON_OPTION },
      run: exportSessions,
    },
    {
      name: "import",
      args: "FILE|-",
      summary: "Read sessions from an export or another state.db",
      maxPositionals: 1,
      options: JSON_OPTION,
      run: importSessions,
    },
    {
      name: "rename",
      args: "SESSION [TITLE…]",
      summary: "Set the title of a session; without one, remove it",
      options: JSON_OPTION,
      run: renameSession,
    },
    {
      name: "delete",
      args: "SESSION",
      summary: "Delete a session permanently",
      maxPositionals: 1,
      options: { yes, ...JSON_OPTION },
      run: deleteSession,
    },
    {
      name: "prune",
      summary: "Delete old, ended sessions",
      maxPositionals: 0,
      options: {
        "older-than": { type: "string", value: "DAYS", help: "Age by start (90)" },
        source,
        yes,
        ...JSON_OPTION,
      },
      run: pruneSessions,
    },
    {
      name: "stats",
      summary: "Show counts, sizes and tokens",
      maxPositionals: 0,
      options: JSON_OPTION,
      run: sessionStats,
    },
    {
      name: "optimize",
      summary: "Rebuild the search index in a compact form, about a third of the size",
      maxPositionals: 0,
      options: {
        inline: { type: "boolean", help: "Use the default form of version 11 files" },
        "no-vacuum": { type: "boolean", help: "Do not shrink the file afterwards" },
        ...JSON_OPTION,
      },
      run: optimizeSessions,
    },
    {
      name: "repair",
      summary: "Check the database and rebuild damaged indexes",
      maxPositionals: 0,
      options: JSON_OPTION,
      run: repairSessions,
    },
  ],
};
