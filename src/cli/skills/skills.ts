// `hermes skills`: the list of its subcommands.
import { type CliCommand, type CliOption, JSON_OPTION } from "../command.ts";
import * as hub from "./skills-hub.ts";
import * as own from "./skills-own.ts";
import { withPlainErrors } from "./skills-print.ts";

type Options = { readonly [name: string]: CliOption };

const YES: Options = { yes: { type: "boolean", short: "y", help: "Do not ask" } };
const OVERWRITE: Options = { overwrite: { type: "boolean", help: "Replace your edits; a copy is kept" } };
const PLATFORM: Options = {
  platform: { type: "string", value: "NAME", help: "Only on this platform: cli, telegram, …" },
};
const FORCE: Options = {
  force: { type: "boolean", short: "f", help: "Override blocks, except for a dangerous verdict" },
  accept: { type: "string", value: "HASH", help: "Install despite the findings of exactly this content" },
};
const SOURCE: Options = {
  source: { type: "string", value: "SOURCE", help: "official, github, skills-sh, or the address of a site" },
};

const finding: readonly CliCommand[] = [
  {
    name: "browse",
    summary: "List skills that can be installed",
    maxPositionals: 0,
    options: {
      ...JSON_OPTION,
      ...SOURCE,
      page: { type: "string", value: "N", help: "Page (1)" },
      size: { type: "string", value: "N", help: "Skills on a page (20)" },
    },
    examples: ["hermes skills browse --source official", "hermes skills browse --source https://example.com"],
    run: hub.browse,
  },
  {
    name: "search",
    args: "WORDS",
    summary: "Look for skills by name and purpose",
    options: { ...JSON_OPTION, ...SOURCE, limit: { type: "string", value: "N", help: "At most (10)" } },
    run: hub.search,
  },
  {
    name: "inspect",
    args: "SKILL",
    summary: "Fetch, scan and show a skill without installing it",
    maxPositionals: 1,
    options: { ...JSON_OPTION, all: { type: "boolean", help: "The whole text" } },
    run: hub.inspect,
  },
  {
    name: "install",
    args: "SKILL",
    summary: "Fetch and scan a skill, ask, and install it",
    maxPositionals: 1,
    options: {
      ...JSON_OPTION,
      ...YES,
      ...FORCE,
      ...OVERWRITE,
      name: { type: "string", value: "NAME", help: "Install it under this name" },
      category: { type: "string", value: "NAME", help: "The folder to put it in" },
    },
    examples: [
      "hermes skills install official/data/json-shape",
      "hermes skills install anthropics/skills/pdf",
      "hermes skills install skills-sh/vercel-labs/json-render/json-render-react",
      "hermes skills install https://example.com/.well-known/skills/index.json#notes",
      "hermes skills install https://example.com/skill.zip",
    ],
    run: hub.install,
  },
];

const keeping: readonly CliCommand[] = [
  {
    name: "list",
    aliases: ["ls"],
    summary: "List skills, problems and changes that need your approval",
    maxPositionals: 0,
    options: {
      ...JSON_OPTION,
      ...PLATFORM,
      source: { type: "string", value: "SOURCE", help: "hub, builtin, local, external or plugin" },
      "enabled-only": { type: "boolean", help: "Only enabled skills" },
    },
    run: own.list,
  },
  {
    name: "check",
    args: "[SKILL]",
    summary: "Check for updates at the sources and for edits here",
    maxPositionals: 1,
    options: JSON_OPTION,
    run: hub.check,
  },
  {
    name: "update",
    args: "[SKILL]",
    summary: "Show the changes at the source, scan them, and update",
    maxPositionals: 1,
    options: {
      ...JSON_OPTION,
      ...YES,
      ...FORCE,
      ...OVERWRITE,
      diff: { type: "boolean", help: "Show the changed lines" },
    },
    run: hub.update,
  },
  {
    name: "audit",
    args: "[SKILL]",
    summary: "Scan installed skills again; exit code 1 when one is refused",
    maxPositionals: 1,
    options: JSON_OPTION,
    run: hub.audit,
  },
  {
    name: "uninstall",
    aliases: ["remove", "rm"],
    args: "SKILL",
    summary: "Remove a skill that came from a hub",
    maxPositionals: 1,
    options: {
      ...JSON_OPTION,
      ...YES,
      overwrite: { type: "boolean", help: "Delete your edits too" },
      forget: { type: "boolean", help: "Only remove it from the list; its files stay" },
    },
    run: hub.uninstall,
  },
  {
    name: "reset",
    args: "SKILL",
    summary: "Let Hermes update a bundled skill again",
    maxPositionals: 1,
    options: { ...JSON_OPTION, ...YES, restore: { type: "boolean", help: "Replace your copy by the shipped one" } },
    run: own.reset,
  },
  {
    name: "config",
    args: "[SKILL]",
    summary: "Change settings of skills; switch skills on and off",
    maxPositionals: 1,
    options: {
      ...JSON_OPTION,
      ...PLATFORM,
      set: { type: "string", multiple: true, value: "KEY=VALUE", help: "Set one without asking" },
      enable: { type: "string", value: "SKILL", help: "Switch a skill on" },
      disable: { type: "string", value: "SKILL", help: "Switch a skill off" },
    },
    run: own.config,
  },
];

const waiting: readonly CliCommand[] = [
  {
    name: "review",
    args: "ID",
    summary: "Show a change by the agent that the guard quarantined",
    maxPositionals: 1,
    options: JSON_OPTION,
    run: own.review,
  },
  {
    name: "approve",
    args: "ID",
    summary: "Approve a quarantined change",
    maxPositionals: 1,
    options: { ...JSON_OPTION, ...YES },
    run: own.approve,
  },
  {
    name: "reject",
    args: "ID",
    summary: "Reject a quarantined change",
    maxPositionals: 1,
    options: JSON_OPTION,
    run: own.reject,
  },
];

const sharing: readonly CliCommand[] = [
  {
    name: "publish",
    args: "FOLDER",
    summary: "Check one of your skills and publish it",
    maxPositionals: 1,
    options: {
      ...JSON_OPTION,
      to: { type: "string", value: "WHERE", help: "folder (a repository), site (.well-known) or github" },
      dir: { type: "string", value: "DIR", help: "The folder, for folder and site" },
      repo: { type: "string", value: "OWNER/REPO", help: "For github: opens a pull request; needs GITHUB_TOKEN" },
      force: { type: "boolean", short: "f", help: "Publish despite a caution verdict" },
    },
    run: hub.publish,
  },
  {
    name: "snapshot",
    summary: "Export and import the list of installed skills",
    subcommands: [
      {
        name: "export",
        args: "FILE",
        summary: "Write identifiers and hashes; - for standard output",
        maxPositionals: 1,
        run: hub.snapshotExport,
      },
      {
        name: "import",
        args: "FILE",
        summary: "Install the listed skills that are unchanged",
        maxPositionals: 1,
        options: { ...JSON_OPTION, ...YES, ...FORCE, ...OVERWRITE },
        run: hub.snapshotImport,
      },
    ],
  },
  {
    name: "tap",
    summary: "Manage repositories whose skills are searched",
    defaultSubcommand: "list",
    subcommands: [
      { name: "list", summary: "List the taps", maxPositionals: 0, options: JSON_OPTION, run: hub.tapList },
      {
        name: "add",
        args: "OWNER/REPO",
        summary: "Search this repository too",
        maxPositionals: 1,
        options: { ...JSON_OPTION, path: { type: "string", value: "FOLDER", help: "Where its skills are (skills/)" } },
        run: hub.tapAdd,
      },
      {
        name: "remove",
        args: "OWNER/REPO",
        summary: "Stop searching this repository",
        maxPositionals: 1,
        options: JSON_OPTION,
        run: hub.tapRemove,
      },
    ],
  },
];

export const skillsCommand: CliCommand = {
  name: "skills",
  summary: "Find, install, check and switch skills",
  defaultSubcommand: "list",
  subcommands: [...finding, ...keeping, ...waiting, ...sharing].map(withPlainErrors),
};
